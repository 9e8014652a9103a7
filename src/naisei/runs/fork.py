"""Forks: a run of one episode that begins with the first effects of an episode of another run and
then diverges.

The log of a fork starts with a copy of the events before the step; later effects are performed. The
change at the step (an answer, a reply, a prompt) is in the log's note `fork`, so that a stopped
fork can resume.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei.core import (
    AskUser,
    Chat,
    Effect,
    Event,
    Flow,
    FlowHandler,
    Handler,
    HandlerWrapper,
    InputError,
    Message,
    Where,
    World,
)
from naisei.lang import say
from naisei.runs.log import RunLog

#: Key of the note in a fork's log.
_KEY = "fork"


class Fork(BaseModel):
    """The origin of a forked run. parent: path of the run. step: the first that is not copied.
    answer: result of the step's `ask` or `chat`. prompt: text of its last message. models: role →
    model, where changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parent: str
    episode: str
    step: str
    answer: str | None = None
    prompt: str | None = None
    models: dict[str, str] = {}

    @property
    def path(self) -> tuple[int, ...]:
        """The step as a path; see `Where`."""
        return tuple(map(int, self.step.split(".")))

    def changed(self, world: World) -> World:
        """Return the episode's world with the change at the step."""
        handlers: dict[type[Effect[Any]], Handler] = {}
        for kind, sample in ((AskUser, AskUser("")), (Chat, Chat("", ()))):
            if self.answer is None and (self.prompt is None or kind is AskUser):
                continue
            inner = world.handler(sample)
            flows = isinstance(inner, FlowHandler)
            handlers[kind] = _ChangedFlow(inner, self) if flows else _Changed(inner, self)  # type: ignore[arg-type]
        return world.having(handlers)

    def answered(self, effect: Any) -> Any:
        """Return the answer as a result of the effect. Raises `InputError` if it is invalid."""
        assert self.answer is not None
        if not isinstance(effect, Chat) or effect.schema is None:
            return self.answer
        try:
            return effect.schema.model_validate_json(self.answer)
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(
                say(
                    f"このステップの返答の形式に合いません: {first['loc']} {first['msg']}",
                    f"is no reply of this step: {first['loc']} {first['msg']}",
                ),
                place="--answer",
            ) from error

    def with_prompt(self, effect: Any) -> Any:
        """Return the effect with the changed prompt."""
        if self.prompt is None or not isinstance(effect, Chat):
            return effect
        *before, last = effect.messages
        return replace(effect, messages=(*before, Message(role=last.role, content=self.prompt)))


class _Changed(HandlerWrapper):
    def __init__(self, inner: Handler, fork: Fork) -> None:
        super().__init__(inner)
        self._fork = fork

    def perform(self, effect: Any, where: Where) -> Any:
        fork = self._fork
        if where.path != fork.path:
            return super().perform(effect, where)
        if fork.answer is None:
            return super().perform(fork.with_prompt(effect), where)
        answer = fork.answered(effect)
        self.restore(effect, answer, where)
        return answer


class _ChangedFlow(FlowHandler):
    """A flow handler's own effects do not see the changed answer."""

    def __init__(self, inner: FlowHandler, fork: Fork) -> None:
        self._inner, self._fork = inner, fork

    def respond(self, effect: Any, where: Where) -> Flow[Any]:
        if where.path == self._fork.path and self._fork.answer is not None:
            return self._fork.answered(effect)
        return (yield from self._inner.respond(effect, where))


def events_before(events: Sequence[Event], step: str) -> list[Event]:
    """Return the events before a step and its nested ones.

    Raises:
        InputError: the step does not exist.
    """
    if not any(event.where.step == step for event in events):
        some = ", ".join(event.where.step for event in events[:12])
        raise InputError(
            say("そのステップはありません", "there is no such step"),
            place=f"--step {step}",
            remedy=say(f"例: {some}", f"for example: {some}"),
        )
    path = tuple(map(int, step.split(".")))
    first = next(i for i, e in enumerate(events) if e.where.path[: len(path)] == path)
    return list(events[:first])


def check(fork: Fork, event: Event) -> None:
    """Raise `InputError` if the effect at the step cannot be changed in this way."""
    known = {"answer": ("ask", "chat"), "prompt": ("chat",)}
    for name, kinds in known.items():
        if getattr(fork, name) is not None and event.kind not in kinds:
            raise InputError(
                say(
                    f"ステップ {fork.step} は {event.kind} なので、--{name} では変えられません",
                    f"step {fork.step} is of kind {event.kind}, which --{name} cannot change",
                ),
                place=f"--{name}",
                remedy=say(
                    f"{'、'.join(kinds)} のステップを指定してください",
                    f"give a step of kind {' or '.join(kinds)}",
                ),
            )
    if fork.answer is not None and isinstance(event.result, dict):
        try:
            given = json.loads(fork.answer)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            example = json.dumps(event.result, ensure_ascii=False)
            raise InputError(
                say("このステップの返答は JSON です", "the reply of this step is JSON"),
                place="--answer",
                remedy=say(f"例: {example}", f"for example: {example}"),
            )


def begin(log: RunLog, fork: Fork, events: Sequence[Event], sent: Mapping[str, Any]) -> None:
    """Write the events before the step and the origin into a new log.

    events: from `events_before`. sent: step → the requests and raw replies. The parent's costs are
    marked as cached, since the fork did not incur them.
    """
    for event in events:
        used = event.usage
        if used is not None:
            used = replace(used, calls=0, usd=0.0, cached=True, sent=sent.get(event.where.step, ()))
        log.append(replace(event, usage=used))
    log.put(_KEY, fork.model_dump(mode="json"))


def fork_of(log: RunLog) -> Fork | None:
    """Return the origin of a run, if it is a fork. Raises `InputError` for an invalid note."""
    note: JsonValue = log.get(_KEY)
    if note is None:
        return None
    try:
        return Fork.model_validate(note)
    except ValidationError as error:
        raise InputError(
            say("この版の分岐の記録ではありません", "not a fork of this version"),
            place=str(log.path),
        ) from error
