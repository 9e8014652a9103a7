"""Sessions (conversations of a server), kept on disk, and the service that takes their turns.

The file is a run log (`naisei.runs.log`): what a turn asked of the world stands beside the
conversation, so that a turn that a killed server was working on goes on where it stood.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException

from naisei.core import Event, EventLog, InputError, MemoryLog, ReplayDivergence, Where, World, arun
from naisei.core.events import writing
from naisei.files import output_error
from naisei.intent.dialogue import Conversation, Dialogue
from naisei.intent.flow import personal
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.serve.options import ServeOptions
from naisei.lang import say
from naisei.lengths import too_long
from naisei.runs.lock import RunLock, holder, locked
from naisei.runs.log import RunLog

__all__ = ["OnEvent", "Session", "Sessions", "Turn", "TurnService"]


class Turn(BaseModel):
    """What a person said and what came of it. reply: `None` while it is worked on. attempt:
    counts the times that the work was begun anew, since the program had changed."""

    said: str
    reply: Reply | None = None
    attempt: int = 0


class Session(BaseModel):
    """A conversation of one person. user: who may see it; on a server without users it is "", and
    whoever knows the id may."""

    id: str
    user: str = ""
    turns: list[Turn] = []

    @property
    def person(self) -> str:
        """Whose thresholds hold: the user's, or, where there are no users, this session's own."""
        return f"user:{self.user}" if self.user else f"talk:{self.id}"

    @property
    def where(self) -> Where:
        """The episode of the last turn in the log."""
        return Where(f"{self.id}/{len(self.turns)}", self.turns[-1].attempt)

    @property
    def pending(self) -> bool:
        """Whether the last turn is still without its reply."""
        return bool(self.turns) and self.turns[-1].reply is None

    def dialogue(self) -> Dialogue:
        """What the last turn is part of: the request, and what was asked back about it."""
        conversation = Conversation()
        for turn in self.turns:
            conversation = conversation.with_step(conversation.next(turn.said))
            if turn.reply is not None:
                conversation = conversation.with_replies([*conversation.replies, turn.reply])
        return conversation.steps[-1]


class Sessions:
    """The sessions in a folder. One process at a time.

    Raises:
        InputError: the folder cannot be used, or another process uses it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise output_error(error, folder) from error
        if locked(folder):
            raise InputError(
                say(
                    f"このフォルダーは別のサーバーが使っています: {holder(folder)}",
                    f"another server uses this folder: {holder(folder)}",
                ),
                place=str(folder),
                remedy=say(
                    "そのサーバーを止めるか、別の --state を指定してください",
                    "stop it, or give another --state",
                ),
            )
        self._lock = RunLock(folder)
        try:
            self._log = RunLog(folder / "sessions.sqlite")
        except BaseException:
            self._lock.release()
            raise

    @property
    def log(self) -> EventLog:
        """Where the events of turns go."""
        return self._log

    def begin(self, user: str) -> Session:
        """A new session. Its id is 192 random bits: who does not know it cannot guess it."""
        return Session(id=secrets.token_urlsafe(24), user=user)

    def find(self, user: str, id: str) -> Session:
        """A session of this user.

        Raises:
            HTTPException: none of this id, or another user's: the answer is the same.
        """
        kept = self._log.get(f"talk:{id}")
        session = None if kept is None else Session.model_validate(kept)
        if session is None or session.user != user:
            raise HTTPException(404, say("そのような会話はありません", "no such session"))
        return session

    def keep(self, session: Session) -> None:
        """Returns when the session survives a killed process."""
        self._log.put(f"talk:{session.id}", session.model_dump(mode="json"))

    def noted(self, user: str, mark: str) -> JsonValue:
        """What `note` kept for this user under a mark, else `None`."""
        return self._log.get(f"mark:{user}:{mark}")

    def note(self, user: str, mark: str, value: JsonValue) -> None:
        self._log.put(f"mark:{user}:{mark}", value)

    def close(self) -> None:
        self._log.close()
        self._lock.release()


#: Is told each effect as it is logged: what to show while somebody waits.
OnEvent = Callable[[Event], None]


class TurnService:
    """Where turns are worked on, at most `in_flight` of them at a time, each for `timeout`
    seconds at most. A turn is finished even if whoever asked has gone: it is in the session."""

    def __init__(
        self, sessions: Sessions, world: World, setting: Setting, options: ServeOptions
    ) -> None:
        self.sessions = sessions
        self._world, self._setting, self._options = world, setting, options
        self._flying: set[asyncio.Task[Reply]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def session(self, user: str, id: str | None) -> Session:
        """The session to go on with, or a new one. Raises `HTTPException` for another user's."""
        return self.sessions.find(user, id) if id else self.sessions.begin(user)

    async def turn(self, session: Session, said: str, *, on_event: OnEvent | None = None) -> Reply:
        """One turn of a session that is kept.

        A turn that was left without its reply is finished first; the same words again are
        that turn.

        Raises:
            HTTPException: too long, too much at once, or no answer in time.
            EffectFailed: the flow could not do without what failed.
        """
        self._check(said)
        return await self._work(self._kept(session, said, on_event))

    async def single(
        self, user: str, dialogue: Dialogue, *, on_event: OnEvent | None = None
    ) -> Reply:
        """One step of a dialogue that the caller keeps; raises as `turn`."""
        answers = (exchange.answer for exchange in dialogue.exchanges)
        for said in (*dialogue.earlier, dialogue.utterance, *answers):
            self._check(said)
        log = _ObservedLog(MemoryLog(), on_event)
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

    async def _kept(self, session: Session, said: str, on_event: OnEvent | None) -> Reply:
        lock = self._locks.setdefault(session.id, asyncio.Lock())
        async with lock:
            if session.turns:  # somebody may have gone on with it meanwhile
                session.turns = self.sessions.find(session.user, session.id).turns
            if session.pending:
                left = session.turns[-1].said
                reply = await self._finish(session, on_event)
                if left == said:
                    return reply
            session.turns.append(Turn(said=said))
            self.sessions.keep(session)
            return await self._finish(session, on_event)

    async def _finish(self, session: Session, on_event: OnEvent | None) -> Reply:
        log = _ObservedLog(self.sessions.log, on_event)
        turn = session.turns[-1]
        try:
            reply = await self._answer(
                session.user, session.person, session.dialogue(), log, session.where
            )
        except ReplayDivergence:
            # The program, the prompts or the index changed since the server was killed.
            turn.attempt += 1
            self.sessions.keep(session)
            reply = await self._answer(
                session.user, session.person, session.dialogue(), log, session.where
            )
        turn.reply = reply
        self.sessions.keep(session)
        return reply

    async def _answer(
        self, user: str, person: str, dialogue: Dialogue, log: EventLog, where: Where
    ) -> Reply:
        setting = self._setting
        if (profile := self._options.profiles.get(user)) is not None:
            setting = setting.model_copy(update={"profile": profile})
        flow = personal(dialogue, setting, user=person)
        return await arun(flow, self._world, log=log, where=where)


class _ObservedLog:
    """A log that passes on each event it is given."""

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
