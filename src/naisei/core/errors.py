"""Exception classes, and the distinction between results, instrument failures and crashes.

Three kinds of failure are always reported separately:

* **Data.** An agent that guesses wrong, repeats itself or runs out of steps has
  *failed*, and a failure is a result like any other. It is never an exception.
* **Instrument failure.** The network, the endpoint, a reply that cannot be parsed,
  a faulty simulator. The agent was not measured. `InstrumentFailure` is thrown into
  the flow at the effect that failed; a flow may catch it and continue (the director
  falls back to its hard rules), otherwise the episode ends *unscored*: counted in
  its own column with a stated denominator, and retried on resume.
* **Crash.** A bug, a changed config, bad input. It stops the run with one message
  and loses nothing that was logged.

`InputError` is the only class that users see: it names the location and the remedy, and
every command turns it into exit code 2 without a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naisei.core.events import Event, Usage


class NaiseiError(Exception):
    """Base of every error that naisei raises on purpose."""


class InputError(NaiseiError):
    """The user's input cannot be used.

    Args:
        message: what is wrong, in one sentence.
        place: the location: a file, `file:line`, an option, a URL.
        remedy: how to fix it.
    """

    def __init__(self, message: str, *, place: str = "", remedy: str = "") -> None:
        self.message, self.place, self.remedy = message, place, remedy
        text = f"{place}: {message}" if place else message
        super().__init__(f"{text} ({remedy})" if remedy else text)


class EpisodeBusy(InputError):
    """Another call is running this episode on the same log; this call did nothing.

    An episode has one writer at a time, so that a request sent twice is executed once. Call `run`
    or `arun` again after the episode ends to get its result by replay.
    """


class LogBusy(InputError):
    """Another program holds the log, so nothing was written. The runtimes retry for some seconds
    without blocking other tasks."""


class EffectFailed(NaiseiError):
    """An effect has no result. Thrown into the flow that yielded it.

    `unlogged` holds events that are logged only if a flow catches the failure and
    continues; see `naisei.core.engine`. `usage` is the cost of the failed attempts,
    if the handler knows it.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage
        self.unlogged: list[Event] = []

    def again(self) -> EffectFailed:
        """Return a copy of the failure, for a handler that raises one object twice."""
        cls = type(self)
        fresh = cls.__new__(cls, *self.args)
        fresh.__dict__.update(self.__dict__, unlogged=[])
        fresh.__cause__ = self.__cause__
        return fresh.with_traceback(self.__traceback__)

    @staticmethod
    def named(name: str, message: str) -> EffectFailed:
        """Recreate a recorded failure. name: `EffectFailed` or any loaded subclass.

        Raises:
            FlowError: no such class is loaded.
        """
        classes: list[type[EffectFailed]] = [EffectFailed]
        for cls in classes:
            if cls.__name__ == name:
                failed = cls.__new__(cls, message)
                EffectFailed.__init__(failed, message)
                return failed
            classes.extend(cls.__subclasses__())
        raise FlowError(f"the log holds a failure of an unknown class: {name} ({message})")


class InstrumentFailure(EffectFailed):
    """The instrument failed after its own retries; not the agent's fault."""


class LimitReached(EffectFailed):
    """An episode reached one of its limits (`naisei.core.events.Limits`)."""


class FlowError(NaiseiError):
    """A flow broke a rule of the core: a bug in the flow, not in the world."""


class ReplayDivergence(NaiseiError):
    """A replayed flow requested another effect than the log records.

    The code, the prompts or the data changed since the events were recorded.
    """

    def __init__(self, where: str, recorded: str, now: str) -> None:
        self.where, self.recorded, self.now = where, recorded, now
        super().__init__(
            f"replay diverges at {where}: the log holds {recorded}, the flow now yields {now} "
            "(code, prompts, data or configuration changed; use a new run directory)"
        )

    def __reduce__(self) -> tuple[type[ReplayDivergence], tuple[str, str, str]]:
        return type(self), (self.where, self.recorded, self.now)


class ModelCallForbidden(NaiseiError):
    """A model was called while calls are disabled (`NAISEI_FORBID_MODELS=1`)."""
