"""A person at the terminal: numbers choose topics, commands begin with a slash."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from naisei.core import InstrumentFailure
from naisei.intent.cli.show import line, shown, sources
from naisei.intent.commands import session_path
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Dialogue
from naisei.intent.execute import Session, in_directory, in_memory, standing_of
from naisei.intent.feedback import Sign, write_feedback
from naisei.intent.places import place
from naisei.intent.schemas import Reply
from naisei.intent.sitting import Standing
from naisei.lang import say
from naisei.lengths import MESSAGE, too_long
from naisei.retrieval.index import Index

__all__ = ["Chat"]

_SIGNS: dict[str, Sign] = {
    "/good": "good",
    "/bad": "bad",
    "/asked-too-much": "too-much",
    "/asked-too-little": "too-little",
    "/undo": "undo",
}
_HELLO = say(
    "社内の資料について、知りたいことを書いてください（/help で使い方、Ctrl-D で終わり）。",
    "What would you like to know from the documents? (/help for help, Ctrl-D to leave)",
)
_HELP = say(
    "番号: 選択肢を選ぶ  /sources: 出典を読む  /new: 次の文を新しい用件にする\n"
    "/good /bad /asked-too-much /asked-too-little: 評価する  /undo: 最後の評価を取り消す  "
    "/quit: 終わる",
    "A number chooses a topic. /sources: read the sources. /new: the next line is a new request.\n"
    "/good /bad /asked-too-much /asked-too-little: feedback. /undo: take the last back. "
    "/quit: leave.",
)


class Chat:
    """One sitting. name: it is kept, and goes on where it was left."""

    def __init__(
        self, config: AssistConfig, session: Session, *, name: str | None, json: bool
    ) -> None:
        self._config, self._session, self._json = config, session, json
        self._path: Path | None = session_path(name) if name is not None else None
        self._standing = standing_of(self._path) if self._path is not None else Standing()
        self._new = False

    def serve(self) -> int:
        """Until the person leaves; returns the exit code."""
        with Index.open(Path(self._config.index)) as index:
            self._tell(_HELLO)
            self._resume(index)
            while (text := self._hear()) is not None:
                if text.startswith("/"):
                    if text in ("/quit", "/exit"):
                        break
                    self._obey(text)
                elif told := too_long(text, MESSAGE):
                    self._tell(told)
                elif text:
                    self._step(index, text)
        return 0

    def _resume(self, index: Index) -> None:
        """Finish a step that was cut off, and show where the sitting stands."""
        standing = self._standing
        if self._path is not None and len(standing.steps) > len(standing.replies):
            self._standing, _ = in_directory(
                self._config, index, None, self._session, run_dir=self._path
            )
        if (last := self._standing.last) is not None:
            self._tell(say("前回の続きです。", "Going on from last time."))
            self._answer(last)

    def _step(self, index: Index, text: str) -> None:
        dialogue = self._standing.next(text, new=self._new)
        self._new = False
        try:
            reply = self._reply(index, dialogue)
        except InstrumentFailure as failure:
            self._tell(say(f"失敗しました: {failure}", f"Failed: {failure}"))
            return
        if reply is None:
            self._tell(say("予算に達しました。", "The budget is spent."))
            return
        self._answer(reply)

    def _reply(self, index: Index, dialogue: Dialogue) -> Reply | None:
        if self._path is None and not self._config.models:
            reply = in_memory(self._config, index, dialogue, self._session)
            replies = [*self._standing.replies, reply]
            self._standing = self._standing.with_step(dialogue).with_replies(replies)
            return reply
        path = self._path or self._own()
        after, _ = in_directory(self._config, index, dialogue, self._session, run_dir=path)
        self._path, self._standing = path, after
        return after.last if len(after.replies) == len(after.steps) else None

    def _own(self) -> Path:
        """A run directory for a sitting without a name."""
        return Path("runs") / f"intent-chat-{datetime.now():%Y%m%d-%H%M%S-%f}"

    def _obey(self, command: str) -> None:
        if command == "/sources":
            print(sources(self._standing.last), flush=True)
        elif command == "/new":
            self._new = True
            self._tell(say("新しい用件をどうぞ。", "A new request, please."))
        elif command in _SIGNS:
            path = place("feedback", self._config.user, option="--user", suffix=".jsonl")
            last = self._standing.steps[-1] if self._standing.steps else None
            about = last.utterance if last is not None else ""
            asked = len(last.exchanges) if last is not None else 0
            write_feedback(path, _SIGNS[command], about=about, asked=asked)
            self._tell(
                say(
                    "記録しました（naisei intent feedback --show で見られます）。",
                    "Noted; `naisei intent feedback --show` shows it.",
                )
            )
        else:
            self._tell(_HELP)

    def _answer(self, reply: Reply) -> None:
        print(line(reply) if self._json else shown(reply), flush=True)

    def _tell(self, text: str) -> None:
        print(text, file=sys.stderr if self._json else sys.stdout, flush=True)

    def _hear(self) -> str | None:
        """What the person types; `None` when they leave (Ctrl-D)."""
        try:
            if sys.stdin.isatty():
                return input("> ").strip()
            return input().strip()
        except EOFError:
            return None
