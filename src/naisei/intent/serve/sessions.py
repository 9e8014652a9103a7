"""Talks with people, kept on disk: each turn before it is worked on, and when it is done.

The file is a run log (`naisei.runs.log`): what a turn asked of the world stands beside the
talk, so that a turn that a killed server was working on goes on where it stood.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException

from naisei.core import EventLog, InputError, Where
from naisei.intent.dialogue import Dialogue
from naisei.intent.schemas import Reply
from naisei.lang import say
from naisei.runs.lock import RunLock, holder, locked
from naisei.runs.log import RunLog

__all__ = ["Sessions", "Talk", "Turn", "asks"]

#: Questions of a talk that a later one may point back to.
_EARLIER = 5


class Turn(BaseModel):
    """What a person said and what came of it. reply: `None` while it is worked on. attempt:
    counts the times that the work was begun anew, since the program had changed."""

    said: str
    reply: Reply | None = None
    attempt: int = 0


def asks(reply: Reply) -> bool:
    """Whether the person's next words are the answer to this."""
    return reply.route == "ask" and reply.extended is None


class Talk(BaseModel):
    """A talk of one person. user: who may see it; on a server without users it is "", and
    whoever knows the id may."""

    id: str
    user: str = ""
    turns: list[Turn] = []

    @property
    def person(self) -> str:
        """Whose thresholds hold: the user's, or, where there are no users, this talk's own."""
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
        earlier: tuple[str, ...] = ()
        open_: Dialogue | None = None
        before: Reply | None = None
        for turn in self.turns:
            if open_ is None or before is None:
                open_ = Dialogue(utterance=turn.said, earlier=earlier)
            else:
                open_ = open_.answered(before.message, turn.said, before.options)
            before = turn.reply
            if before is not None and not asks(before):
                earlier = (*earlier, before.query)[-_EARLIER:] if before.query else earlier
                if turn is not self.turns[-1]:
                    open_ = None
        assert open_ is not None, "a talk without turns has no dialogue"
        return open_


class Sessions:
    """The talks in a folder. One process at a time.

    Raises:
        InputError: the folder cannot be used, or another process uses it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InputError(
                say(f"作れません: {error.strerror}", f"cannot be made: {error.strerror}"),
                place=str(folder),
                remedy=say("別の --state を指定してください", "give another --state"),
            ) from error
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

    def begin(self, user: str) -> Talk:
        """A new talk. Its id is 192 random bits: who does not know it cannot guess it."""
        return Talk(id=secrets.token_urlsafe(24), user=user)

    def find(self, user: str, session: str) -> Talk:
        """A talk of this user.

        Raises:
            HTTPException: none of this id, or another user's: the answer is the same.
        """
        kept = self._log.get(f"talk:{session}")
        talk = None if kept is None else Talk.model_validate(kept)
        if talk is None or talk.user != user:
            raise HTTPException(404, say("そのような会話はありません", "no such session"))
        return talk

    def keep(self, talk: Talk) -> None:
        """Returns when the talk survives a killed process."""
        self._log.put(f"talk:{talk.id}", talk.model_dump(mode="json"))

    def noted(self, user: str, mark: str) -> JsonValue:
        """What `note` kept for this user under a mark, else `None`."""
        return self._log.get(f"mark:{user}:{mark}")

    def note(self, user: str, mark: str, value: JsonValue) -> None:
        self._log.put(f"mark:{user}:{mark}", value)

    def close(self) -> None:
        self._log.close()
        self._lock.release()
