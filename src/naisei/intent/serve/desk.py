"""Takes what a person said through the flow: one turn at a time, kept before it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from starlette.exceptions import HTTPException

from naisei.core import Event, EventLog, MemoryLog, ReplayDivergence, Where, World, arun
from naisei.core.events import writing
from naisei.intent.dialogue import Dialogue
from naisei.intent.flow import personal
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.sessions import Sessions, Talk, Turn
from naisei.lang import say
from naisei.lengths import too_long

__all__ = ["Desk", "OnEvent"]

#: Is told each effect as it is logged: what to show while somebody waits.
OnEvent = Callable[[Event], None]


class Desk:
    """Where turns are worked on, at most `in_flight` of them at a time, each for `timeout`
    seconds at most. A turn is finished even if whoever asked has gone: it is in the session."""

    def __init__(
        self, sessions: Sessions, world: World, setting: Setting, options: ServeOptions
    ) -> None:
        self.sessions = sessions
        self._world, self._setting, self._options = world, setting, options
        self._flying: set[asyncio.Task[Reply]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def talk(self, user: str, session: str | None) -> Talk:
        """The talk to go on with, or a new one. Raises `HTTPException` for another user's."""
        return self.sessions.find(user, session) if session else self.sessions.begin(user)

    async def turn(self, talk: Talk, said: str, *, on_event: OnEvent | None = None) -> Reply:
        """One turn of a talk that is kept.

        A turn that was left without its reply is finished first; the same words again are
        that turn.

        Raises:
            HTTPException: too long, too much at once, or no answer in time.
            EffectFailed: the flow could not do without what failed.
        """
        self._check(said)
        return await self._work(self._kept(talk, said, on_event))

    async def single(
        self, user: str, dialogue: Dialogue, *, on_event: OnEvent | None = None
    ) -> Reply:
        """One step of a dialogue that the caller keeps; raises as `turn`."""
        answers = (exchange.answer for exchange in dialogue.exchanges)
        for said in (*dialogue.earlier, dialogue.utterance, *answers):
            self._check(said)
        log = _Told(MemoryLog(), on_event)
        return await self._work(
            self._answer(user, f"user:{user}" if user else "", dialogue, log, Where("single"))
        )

    async def close(self) -> None:
        """Give up what is in flight; it is kept, and goes on when it is asked for again."""
        for task in tuple(self._flying):
            task.cancel()
        await asyncio.gather(*self._flying, return_exceptions=True)

    def _check(self, said: str) -> None:
        if not said.strip():
            raise HTTPException(400, say("何か書いてください", "the message is empty"))
        if told := too_long(said, self._options.max_message):
            raise HTTPException(413, told)

    async def _work(self, turn: Coroutine[Any, Any, Reply]) -> Reply:
        if len(self._flying) >= self._options.in_flight:
            turn.close()
            raise HTTPException(503, say("混み合っています", "too busy now; try again soon"))
        task = asyncio.create_task(_within(turn, self._options.timeout))
        self._flying.add(task)
        task.add_done_callback(self._landed)
        # Whoever waits may go away: the turn is finished and kept all the same.
        return await asyncio.shield(task)

    def _landed(self, task: asyncio.Task[Reply]) -> None:
        self._flying.discard(task)
        if not task.cancelled():
            task.exception()  # it was told to whoever waited, if anybody did

    async def _kept(self, talk: Talk, said: str, on_event: OnEvent | None) -> Reply:
        lock = self._locks.setdefault(talk.id, asyncio.Lock())
        async with lock:
            if talk.turns:  # somebody may have gone on with it meanwhile
                talk.turns = self.sessions.find(talk.user, talk.id).turns
            if talk.pending:
                left = talk.turns[-1].said
                reply = await self._finish(talk, on_event)
                if left == said:
                    return reply
            talk.turns.append(Turn(said=said))
            self.sessions.keep(talk)
            return await self._finish(talk, on_event)

    async def _finish(self, talk: Talk, on_event: OnEvent | None) -> Reply:
        log = _Told(self.sessions.log, on_event)
        turn = talk.turns[-1]
        try:
            reply = await self._answer(talk.user, talk.person, talk.dialogue(), log, talk.where)
        except ReplayDivergence:
            # The program, the prompts or the index changed since the server was killed.
            turn.attempt += 1
            self.sessions.keep(talk)
            reply = await self._answer(talk.user, talk.person, talk.dialogue(), log, talk.where)
        turn.reply = reply
        self.sessions.keep(talk)
        return reply

    async def _answer(
        self, user: str, person: str, dialogue: Dialogue, log: EventLog, where: Where
    ) -> Reply:
        setting = self._setting
        if (profile := self._options.profiles.get(user)) is not None:
            setting = setting.model_copy(update={"profile": profile})
        flow = personal(dialogue, setting, user=person)
        return await arun(flow, self._world, log=log, where=where)


class _Told:
    """A log that tells what it is given."""

    def __init__(self, log: EventLog, on_event: OnEvent | None) -> None:
        self._log, self._on_event = log, on_event

    def append(self, event: Event) -> None:
        self._log.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def read(self, episode: str) -> list[Event]:
        return list(self._log.read(episode))

    def writing(self, episode: str) -> AbstractContextManager[None]:
        return writing(self._log, episode)


async def _within(turn: Coroutine[Any, Any, Reply], seconds: float) -> Reply:
    try:
        async with asyncio.timeout(seconds):
            return await turn
    except TimeoutError:
        _late()


def _late() -> NoReturn:
    raise HTTPException(
        504,
        say(
            "時間内に答えられませんでした。同じ文をもう一度送ると続きから試します。",
            "No answer in time. Sending the same words again goes on from there.",
        ),
    ) from None
