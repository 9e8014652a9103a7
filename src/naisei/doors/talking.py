"""The models `naisei/NAME` of `naisei proxy`: conversations with a persona (`naisei.agent`).

A client sends the whole conversation each time. Its events are looked up by its text, so a restart
loses nothing, two users never share a conversation, and an edited message continues from that
point. If the text is unknown (another program's replies), the user's lines are replayed in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from naisei.agent.opening import ROLES, TalkConfig, opened
from naisei.agent.persona import load_persona, shipped
from naisei.clarify.lines import THOUGHT
from naisei.core import AskUser, Event, Handler, InputError, MemoryLog, Where, World
from naisei.doors.exchange import Asking, Notes
from naisei.doors.threads import mark_of
from naisei.lang import say
from naisei.runs.lock import arun_logged

#: Prefix of a persona in a model name.
PREFIX = "naisei/"
_EPISODE = Where("talk")
_EVENTS = TypeAdapter(list[Event])


def models() -> tuple[str, ...]:
    return tuple(PREFIX + name for name in shipped())


class _Lines(Handler):
    """Answers `AskUser` with the user's lines, then waits."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._left = [*lines]
        self.question = ""

    def perform(self, effect: AskUser, where: Where) -> str:
        if not self._left:
            self.question = effect.question
            raise Asking
        return self._left.pop(0)


@dataclass(frozen=True)
class Talks:
    """notes: stores the conversations. base: performs Chat, Embed and Now. model: plays all roles
    but the judge, or `None`. folder: folder for document indexes."""

    notes: Notes
    base: World
    model: str | None
    folder: Path

    async def reply(
        self, model: str, user: str, said: Sequence[tuple[str, str]], log: MemoryLog
    ) -> str:
        """Return the persona's reply to the last line. said: (role, text), oldest first. log:
        receives new events.

        Raises:
            InputError: unknown persona, or the last line is not the user's.
            EffectFailed: a model failed; repeating the request resumes there.
        """
        name = model.removeprefix(PREFIX)
        if name not in shipped():  # callers may not read files on this machine
            told = say(f"{model!r} というモデルはありません", f"there is no model {model!r}")
            raise InputError(told, place="model", remedy=", ".join(models()))
        lines = [(role, text) for role, text in said if role in ("user", "assistant")]
        if not lines or lines[-1][0] != "user":
            told = say(
                "最後の発言がユーザーのものではありません", "the last message is not a user's"
            )
            raise InputError(told, place="messages")
        await self.notes.aopen()
        before = self._events(model, user, lines[:-1])
        heard = [text for role, text in (lines if before is None else lines[-1:]) if role == "user"]
        log.events.extend(before or ())
        person, known = _Lines(heard), len(log.events)
        roles = [role for role in ROLES if role != "judge"]
        config = TalkConfig(
            persona=load_persona(name),
            models=dict.fromkeys(roles, self.model) if self.model else {},
        )
        own: Any = {"folder": self.folder, "people": self.folder, "kept": None}
        async with opened(config, self.base, (), human=person, groups=(), **own) as ready:
            with suppress(Asking):  # it is the user's turn
                await arun_logged(ready.flow, ready.world, log=log, where=_EPISODE)
        text = _last(log.events, person.question)
        kept = _EVENTS.dump_python(log.events, mode="json")
        await self.notes.aput(self._mark(model, user, [*lines, ("assistant", text)]), kept)
        del log.events[:known]  # already paid for
        return text

    def _events(
        self, model: str, user: str, lines: Sequence[tuple[str, str]]
    ) -> list[Event] | None:
        """Return the events before these lines; `None` if they are unknown here."""
        kept = self.notes.get(self._mark(model, user, lines)) if lines else None
        return None if kept is None else _EVENTS.validate_python(kept)

    @staticmethod
    def _mark(model: str, user: str, lines: Sequence[tuple[str, str]]) -> str:
        return "talk:" + mark_of(user, [model, *(text for _, text in lines)])


def _last(events: Sequence[Event], question: str) -> str:
    """Return the persona's lines since the user's last one, followed by the question."""
    said: list[str] = []
    for event in events:
        request: Any = event.request
        if event.kind == "ask":
            said = []
        elif event.kind == "say" and request["speaker"] != THOUGHT:
            said.append(request["text"])
    return "\n".join([*said, *filter(None, [question])])
