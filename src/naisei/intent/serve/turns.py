"""Sessions (conversations of a server), kept on disk, and the service that takes their turns.

The file is a run log (`naisei.runs.log`): what a turn asked of the world stands beside the
conversation, so that a turn that a killed server was working on goes on where it stood.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException

from naisei.core import AskUser, Event, EventLog, InputError, Say, World, arun
from naisei.files import output_error
from naisei.intent.dialogue import Conversation, Dialogue
from naisei.intent.flow import inquiry, personal
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.serve.options import ServeOptions
from naisei.lang import language, say
from naisei.lengths import too_long
from naisei.runs.conversation import LiveConversation, Prepared, recorded
from naisei.runs.lock import RunLock, holder, locked
from naisei.runs.log import RunLog

__all__ = ["OnEvent", "Session", "Sessions", "TurnService"]


class Session(BaseModel):
    """Whose conversation it is; what was said is in the log. user: who may see it; on a server
    without users it is "", and whoever knows the id may."""

    id: str
    user: str = ""

    @property
    def person(self) -> str:
        """Whose thresholds hold: the user's, or, where there are no users, this session's own."""
        return f"user:{self.user}" if self.user else f"talk:{self.id}"


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
    def log(self) -> RunLog:
        """Where the events of conversations go, each under its session's id."""
        return self._log

    def events(self, session: Session) -> list[Event]:
        """What happened in a session, oldest first."""
        return [event for part in recorded(self._log, session.id) for event in part]

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
        """One turn of a session, which is kept.

        A turn that was left without its reply is finished first; the same words again are
        that turn.

        Raises:
            HTTPException: too long, too much at once, or no answer in time.
            EffectFailed: the flow could not do without what failed.
        """
        self._check(said)
        return await self._work(self._taken(session, said, on_event))

    async def single(self, user: str, dialogue: Dialogue, log: EventLog) -> Reply:
        """One step of a dialogue that the caller keeps; raises as `turn`."""
        answers = (exchange.answer for exchange in dialogue.exchanges)
        for said in (*dialogue.earlier, dialogue.utterance, *answers):
            self._check(said)
        flow = personal(dialogue, self._setting_of(user), user=f"user:{user}" if user else "")
        return await self._work(arun(flow, self._world, log=log))

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

    async def _taken(self, session: Session, said: str, on_event: OnEvent | None) -> Reply:
        """Each turn is a part of the conversation: what was said before is not worked out anew."""
        log = self.sessions.log
        async with self._locks.setdefault(session.id, asyncio.Lock()):
            self.sessions.keep(session)
            live = LiveConversation(
                log, session.id, language=language(), renews=True, on_event=on_event
            )
            left = Conversation.told(live.events).pending

            @asynccontextmanager
            async def opened(past: Sequence[Event]) -> AsyncIterator[Prepared]:
                setting, told = self._setting_of(session.user), Conversation.told(past)
                flow = inquiry(setting, told, user=session.person)
                handlers: dict[Any, Any] = {AskUser: live.human(), Say: lambda effect: None}
                yield Prepared(flow, self._world.having(handlers))

            live.start(opened, anew=bool(live.events) and not left)
            try:
                await _rested(live)
                if not (left and _words(live) == said.strip()):
                    await live.answer({"text": said})
                    await _rested(live)
            finally:
                await live.leave()
            return Conversation.told(live.events).replies[-1]

    def _setting_of(self, user: str) -> Setting:
        profile = self._options.profiles.get(user)
        return self._setting.model_copy(update={"profile": profile} if profile else {})


async def _rested(live: LiveConversation) -> None:
    """Returns when it is the person's turn. Raises what stopped the conversation."""
    if (error := (await live.rest()).error) is not None:
        raise error


def _words(live: LiveConversation) -> str:
    """What the person said last."""
    return next(str(e.result) for e in reversed(live.events) if e.kind == "ask")


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
