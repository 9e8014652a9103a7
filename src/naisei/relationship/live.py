"""A conversation as it happens: each line as it is said, each reading as it is made."""

from __future__ import annotations

from typing import Any, cast

from rich.text import Text

from naisei.core import Event
from naisei.lang import say
from naisei.relationship.book import RECORD
from naisei.relationship.clock import dated
from naisei.relationship.describe import moment_lines
from naisei.relationship.schemas import Conversation, Line, Moment, Session
from naisei.terminal import Console

__all__ = ["Live"]


class Live:
    """Prints what is logged: an `on_event` of the run engine, for a single conversation."""

    def __init__(self, talk: Conversation, console: Console) -> None:
        self._talk, self._console = talk, console

    def __call__(self, event: Event) -> None:
        request = cast(dict[str, Any], event.request)
        if event.kind == "say":
            line = Line.model_validate(
                {**request["meta"], "speaker": request["speaker"], "text": request["text"]}
            )
            name, mark = self._talk.names[line.speaker], " *" if line.injected else ""
            self._print(Text(f"{name}{mark}: {' ⏎ '.join(line.text.splitlines())}", style="bold"))
        elif event.kind == "remember" and request["memory"] == RECORD:
            self._noted(request["item"])

    def _noted(self, item: dict[str, Any]) -> None:
        if "session" in item:
            session = Session.model_validate(item["session"])
            head = say(f"第{session.number}回", f"Session {session.number}")
            self._print(Text(f"── {head}  {dated(session.start, self._talk.language)}", "cyan"))
        elif "moment" in item:
            moment = Moment.model_validate(item["moment"])
            failed = any(made.reading.vector is None for made in moment.reflections)
            for row in moment_lines(self._talk, moment):
                self._print(Text(row, style="red" if failed else "dim"))
        elif "summary" in item:
            self._print(Text(say("要約: ", "Summary: ") + item["summary"], style="dim"))
        elif "summary_failure" in item:
            why = say("要約の失敗: ", "No summary: ") + item["summary_failure"]
            self._print(Text(why, style="red"))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)
