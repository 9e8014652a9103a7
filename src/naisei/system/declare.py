"""Declarations of systems, from which commands, runs, studies and pages are derived."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from naisei.system.config import Config, Options, Parameters
from naisei.system.registry import Text

if TYPE_CHECKING:
    from naisei.core import Event, InputError
    from naisei.runs.charts import Chart
    from naisei.runs.lines import Line
    from naisei.runs.result import RunResult
    from naisei.runs.task import Digest, EpisodeRow, Table, Task
    from naisei.system.execute import RunOptions
    from naisei.system.studies import Study
    from naisei.terminal import Console

#: Returns the lines that an event adds.
LiveLines = Callable[["Event"], Sequence["Line"]]
P = ParamSpec("P")
T = TypeVar("T")


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Turn `arun_…` into a blocking `run_…`.

    Inside a running event loop it uses a thread with its own loop, where callbacks also run.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(function(*args, **kwargs))
        return _apart(function(*args, **kwargs))

    run.__name__ = function.__name__.removeprefix("a")
    run.__qualname__ = function.__qualname__.removeprefix("a")
    return run


def _apart(work: Coroutine[Any, Any, T]) -> T:
    began = threading.Event()
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def go() -> T:
        task = asyncio.current_task()
        assert task is not None
        started.append((asyncio.get_running_loop(), task))
        began.set()
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="naisei-loop") as threads:
        # The context contains the language.
        done = threads.submit(copy_context().run, asyncio.run, go())
        try:
            return done.result()
        except KeyboardInterrupt:  # the notebook's stop button
            began.wait()
            loop, task = started[0]
            with suppress(RuntimeError):  # it has just finished
                loop.call_soon_threadsafe(task.cancel)
            with suppress(asyncio.CancelledError, CancelledError):
                done.result()
            raise


C = TypeVar("C", bound=Config)


@dataclass(frozen=True, slots=True)
class Role(Generic[C]):
    """A part that a language model plays.

    name: as in `Chat(name, …)`; the flag is `--NAME-model`. needed: whether a configuration calls
    the role, which then requires a model. like: the role whose model it uses by default; it then
    has no flag of its own. sampled: `--temperature` and `--max-output-tokens` apply to it; a role
    that measures or reads has temperature 0. sampling: default parameters of its model. resends:
    number of identical retries after an unusable reply before it counts as a failure; `None`: the
    gateway's default. without: the alternative to naming a model, for the error message.
    """

    name: str
    needed: Callable[[C], bool] = lambda config: True
    like: str = ""
    sampled: bool = True
    sampling: Callable[[C], Parameters] = lambda config: {}
    resends: int | None = None
    without: Text = ("", "")


@dataclass(frozen=True, slots=True)
class RawOptions:
    """The user's options before interdependent defaults are resolved.

    values: configuration fields set by the user, nested as in the configuration. model: default
    model for every role. model_of: role → model.
    """

    values: dict[str, Any]
    model: str | None = None
    model_of: Mapping[str, str] = field(default_factory=dict)
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def model_for(self, role: str) -> str | None:
        """Return the model for a role."""
        return self.model_of.get(role) or self.model


@dataclass(frozen=True, slots=True)
class Row(Generic[C]):
    """A row of an ablation: its name, and a function from the full configuration to the row's
    configuration. note: purpose of the row, for the help."""

    change: Callable[[C], C]
    note: Text = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation(Generic[C]):
    """The configurations that `naisei SYSTEM ablate` runs and compares.

    rows: rows by name, the full system first. about: text for the help. config: configuration of
    the command, if rows have their own flags; frozen like the experiment's. defaults: key of a
    flag → its default under `ablate`, if different. chosen: maps a configuration and the requested
    rows (possibly none) to the rows to run; by default those requested, or all.
    """

    rows: Mapping[str, Row[Any]]
    about: Text = ("部分を外した構成を比べる", "Compare the system with parts left out.")
    config: type[Config] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    chosen: Callable[[Any, Sequence[str]], Sequence[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(Generic[C]):
    """One kind of run of a system: `naisei SYSTEM VERB`.

    Args:
        verb: the command; usually `run`. Empty if a `Verb` starts its runs.
        about: description for the help.
        config: everything that changes results; its fields become the flags.
        load: opens the data of a configuration and returns the task to run. Raises `InputError` for
            unusable input, before anything is written.
        roles: the roles that models play.
        inputs: additional flags that are not fields; `settle` converts them to fields.
        settle: resolves interdependent defaults (which agent if a model is named); returns the
            fields of the configuration.
        task: value of the configuration's field `task`, if a system has several experiments.
        concurrency: default number of concurrent episodes; `None` for one per processor core.
        label: a short name of a configuration in tables of several.
        ablation: the system with parts removed, for `naisei SYSTEM ablate`.
        columns: metrics in the tables of studies, in order; one that ends in @ matches every k.
            By default all that are defined.
        tables: further tables of a study.
        live: live output for a run of a single episode, instead of the progress bar; receives
            the task, the console, and the events of the run before it was continued.
        output: text to print instead of the metrics, for runs whose result is an answer; receives
            the task, the result, and whether to return one line of JSON. Empty: print the metrics.
        again: the command begins a new run if the last one of its configuration is complete.
        hints: text to print with the result of a run; also receives the keys of the flags that
            the user set.
        headline: the metric that represents a run; see `naisei.runs.overview.headline`.
        offered: keys of the flags that a form for such a run shows first; other flags
            (`Flag.in_forms`) are folded. If empty, no form starts such a run.
        digest: converts an episode's stored result (JSON) to cells of a list of episodes.
        charts: makes charts of a run from some of its episodes with their stored results.
    """

    verb: str = "run"
    about: Text
    config: type[C]
    load: Callable[[C], Task[Any]]
    roles: Sequence[Role[C]] = ()
    inputs: type[Options] | None = None
    settle: Callable[[RawOptions], dict[str, Any]] = lambda given: given.values
    task: str = ""
    concurrency: int | None = 16
    label: Callable[[C], str] | None = None
    ablation: Ablation[C] | None = None
    columns: tuple[str, ...] = ()
    tables: Callable[[Study], Sequence[Table]] | None = None
    live: Callable[[Any, Console, Sequence[Event]], LiveLines] | None = None
    output: Callable[[Any, RunResult, bool], str] | None = None
    again: bool = False
    hints: Callable[[C, Collection[str]], Sequence[str]] | None = None
    headline: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    digest: Callable[[Any], Digest] | None = None
    charts: Callable[[Sequence[tuple[str, Any]]], Sequence[Chart]] | None = None

    async def arun(
        self,
        config: C,
        options: RunOptions | None = None,
        *,
        run_dir: Path | None = None,
        on_event: Callable[[Event], None] | None = None,
        on_episode: Callable[[EpisodeRow], None] | None = None,
    ) -> RunResult:
        """Run or continue one configuration; see `naisei.system.execute.aexecute`."""
        from naisei.system.execute import RunOptions, aexecute

        return await aexecute(
            self,
            config,
            options or RunOptions(),
            run_dir=run_dir,
            on_event=on_event,
            on_episode=on_episode,
        )

    #: Blocking version of `arun`, also for notebooks.
    run = blocking(arun)

    def needed(self, config: C) -> tuple[str, ...]:
        """Return the roles that a configuration calls."""
        return tuple(role.name for role in self.roles if role.needed(config))


@dataclass(frozen=True, slots=True)
class Verb:
    """A command other than a run: check, tag, chat, make.

    command: entry point (`module:attribute`) of a typer app, or of a function with typer's
    annotations; parameters that are subclasses of `Options` become its flags. shares: an experiment
    whose configuration is the function's first argument, built from the listed flags (by key) and
    the models' flags; a `RunOptions` is the second. preset: fields of that configuration with fixed
    values instead of flags. flags: `None` for all flags of the experiment, including those of the
    run; the function then receives, instead of a configuration, a factory that takes further fields
    (`configure(**fields)`), and `run_dir` and `as_json`.
    """

    name: str
    about: Text
    command: str
    shares: Experiment[Any] | None = None
    flags: Sequence[str] | None = ()
    preset: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system of agents.

    Its interfaces are entry points, `module:attribute` as in `pyproject.toml`, since a declaration
    imports neither the command line nor the web: demo, a `naisei.cli.demo.Part`; page, a
    `naisei.web.pages.Page`; replay, a `naisei.web.replay.Replay` for the page of an episode.

    name: its command, and the system of its run directories. about: one line for the help.
    experiments: its kinds of run. verbs: its other commands. elsewhere: for runs that no command
    continues: maps the frozen configuration and the directory to where they can be continued.
    """

    name: str
    about: Text
    experiments: Sequence[Experiment[Any]] = ()
    verbs: Sequence[Verb] = ()
    demo: str = ""
    page: str = ""
    replay: str = ""
    elsewhere: Callable[[dict[str, Any], Path], InputError | None] | None = None

    def experiment(self, task: str = "") -> Experiment[Any] | None:
        """Return the experiment whose configurations have this value of `task`."""
        return next((e for e in self.experiments if e.task == task), None)
