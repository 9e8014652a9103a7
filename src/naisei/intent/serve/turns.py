"""Sessions (conversations of a server), stored on disk, and the service that runs their turns.

The file is a run log (`naisei.runs.log`): a turn's effects are logged with the conversation, so
that a killed turn resumes at its last step.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException

from naisei.core import EpisodeBusy, Event, EventLog, World
from naisei.intent.dialogue import Dialogue
from naisei.intent.flow import personal
from naisei.intent.inquiry import Inquiry, shown_while_written
from naisei.intent.remembering import kept_in, known
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.people import audited, open_log
from naisei.lang import say
from naisei.lengths import too_long
from naisei.memory.stream import KeptStream
from naisei.runs.conversation import recorded
from naisei.runs.lock import arun_logged, retry_while_locked, server_lock
from naisei.runs.log import RunLog

#: Minimum length of a mark that is as hard to guess as a session id.
_SECRET = 22
#: Polling interval, in seconds, while another process uses a session.
_AGAIN = 0.05


class Session(BaseModel):
    """A session's owner; the conversation is in the log. user: its owner; without users it is ""
    and anyone with the id has access."""

    id: str
    user: str = ""

    @property
    def person(self) -> str:
        """Key of the thresholds: the user, or without users this session."""
        return f"user:{self.user}" if self.user else f"talk:{self.id}"


#: The world for a set of groups.
WorldOf = Callable[[frozenset[str]], Awaitable[World]]
#: Called with the text so far.
Show = Callable[[str], None]
#: Called with each logged effect, to show progress.
OnEvent = Callable[[Event], None]


class TurnService:
    """Manages sessions in a folder, for one process at a time, or in a database under the folder's
    name, for any number of processes. At most `in_flight` turns run at once, each for at most
    `timeout` seconds. A turn is completed and stored even if the caller disconnects.

    log: stores the events of conversations under their session ids.

    Raises:
        InputError: the folder or the database cannot be used, or another process uses the folder.
    """

    def __init__(self, world: WorldOf, setting: Setting, options: ServeOptions) -> None:
        self._world, self._setting, self._options = world, setting, options
        self._flying: set[asyncio.Task[Reply]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        with ExitStack() as opened:
            if options.store is None:
                opened.callback(server_lock(options.state).release)
            self.log = open_log(options.state, options.store)
            opened.callback(self.log.close)
            self._opened = opened.pop_all()

    def events(self, session: Session) -> list[Event]:
        """The events of a session, oldest first."""
        return [event for part in recorded(self.log, session.id) for event in part]

    def begin(self, user: str, mark: str | None = None) -> Session:
        """Create a session. Its id is 192 random bits, so it cannot be guessed. mark: of its first
        message; the same mark from the same user returns the same session, if the session has a
        user or the mark is as long as an id."""
        if mark is None or not (user or len(mark) >= _SECRET):
            return Session(id=secrets.token_urlsafe(24), user=user)
        digest = hashlib.sha256(f"{len(user)} {user} {mark}".encode()).digest()
        return Session(id=base64.urlsafe_b64encode(digest[:24]).decode(), user=user)

    def find(self, user: str, id: str) -> Session:
        """Find a session of this user.

        Raises:
            HTTPException: no such session, or another user's (indistinguishable).
        """
        kept = self.log.get(f"talk:{id}")
        session = None if kept is None else Session.model_validate(kept)
        if session is None or session.user != user:
            raise HTTPException(404, say("そのような会話はありません", "no such session"))
        return session

    def noted(self, user: str, mark: str) -> JsonValue:
        """The user's note under a mark, or `None`."""
        return self.log.get(f"mark:{user}:{mark}")

    async def note(self, user: str, mark: str, value: JsonValue) -> None:
        """Store a note; returns once it survives a killed process. Raises `LogBusy`."""
        await retry_while_locked(lambda: self.log.put(f"mark:{user}:{mark}", value))

    def user_memory(self, user: str) -> KeptStream | None:
        """The user's stored memory, if allowed; `None` without users."""
        options = self._options
        return kept_in(options.state, f"user:{user}", options.store) if user else None

    async def turn(
        self,
        session: Session,
        said: str,
        *,
        groups: frozenset[str] = frozenset(),
        mark: str | None = None,
        on_event: OnEvent | None = None,
        show: Show | None = None,
    ) -> Reply:
        """Run one turn of a stored session. groups: the caller's. mark: identifies the message; a
        repeated mark adds no message and returns the existing reply. show: receives the answer so
        far while it is written.

        A turn left without its reply is completed first; the same words again count as that turn.

        Raises:
            HTTPException: message too long, too many requests, or timeout.
            EffectFailed: an effect that the flow requires failed.
        """
        self._check(said)
        return await self._work(self._taken(session, said, groups, mark, on_event, show))

    async def single(
        self,
        user: str,
        dialogue: Dialogue,
        log: EventLog,
        *,
        groups: frozenset[str] = frozenset(),
        show: Show | None = None,
    ) -> Reply:
        """Run one step of a dialogue stored by the caller; raises as `turn`."""
        answers = (exchange.answer for exchange in dialogue.exchanges)
        for said in (*dialogue.earlier, dialogue.utterance, *answers):
            self._check(said)
        setting, world = self._setting_of(user), await self._world(groups)
        if show is not None:
            world = shown_while_written(setting, world, show)
        kept = self.user_memory(user)
        remembers = kept is not None and kept.allowed
        if kept is not None and remembers:
            world = world.having(known(kept))
        person = f"user:{user}" if user else ""
        flow = personal(dialogue, setting, user=person, remembers=remembers)
        said = dialogue.exchanges[-1].answer if dialogue.exchanges else dialogue.utterance

        async def answered() -> Reply:
            reply = await arun_logged(flow, world, log=log, apart=True)
            await retry_while_locked(lambda: audited(self.log, f"user:{user}", said, reply))
            return reply

        return await self._work(answered())

    async def close(self) -> None:
        """Cancel turns in flight; a repeated request resumes them."""
        for task in tuple(self._flying):
            task.cancel()
        await asyncio.gather(*self._flying, return_exceptions=True)
        self._opened.close()

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
        # The turn is finished and stored even if the caller leaves.
        return await asyncio.shield(task)

    def _landed(self, task: asyncio.Task[Reply]) -> None:
        self._flying.discard(task)
        if not task.cancelled():
            task.exception()  # waiting callers got the error

    async def _taken(
        self,
        session: Session,
        said: str,
        groups: frozenset[str],
        mark: str | None,
        on_event: OnEvent | None,
        show: Show | None,
    ) -> Reply:
        log = self.log
        setting, world = self._setting_of(session.user), await self._world(groups)
        async with (
            self._locks.setdefault(session.id, asyncio.Lock()),
            _alone(log, f"talk:{session.id}"),
        ):
            kept_as = session.model_dump(mode="json")
            await retry_while_locked(lambda: log.put(f"talk:{session.id}", kept_as))
            kept = self.user_memory(session.user)
            talk = Inquiry(
                log, session.id, setting, world, user=session.person, kept=kept, on_event=on_event
            )
            if mark is not None:
                number = await _number(log, f"turn:{session.id}:{mark}", talk.would_be(said))
                if number < len(talk.conversation.replies):
                    return talk.conversation.replies[number]
            reply = await talk.turn(said, show=show)
            assert reply is not None, "something was said"
            await retry_while_locked(lambda: audited(log, session.person, said, reply))
            return reply

    def _setting_of(self, user: str) -> Setting:
        profile = self._options.profiles.get(user)
        return self._setting.model_copy(update={"profile": profile}) if profile else self._setting


async def _number(log: RunLog, key: str, now: int) -> int:
    """The turn number recorded for a mark, else `now`."""
    known = await retry_while_locked(lambda: log.get(key))
    if isinstance(known, int):
        return known
    await retry_while_locked(lambda: log.put(key, now))
    return now


@asynccontextmanager
async def _alone(log: RunLog, name: str) -> AsyncIterator[None]:
    """Wait for and hold the exclusive lock on a session."""
    with ExitStack() as held:
        while True:
            try:
                await retry_while_locked(lambda: held.enter_context(log.writing(name)))
                break
            except EpisodeBusy:
                await asyncio.sleep(_AGAIN)
        yield


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
