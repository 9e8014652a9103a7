"""A talk as it happens: each draft with its verdict, each line as it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.text import Text

from naisei.core import Event, Say, Status, Where
from naisei.director.character import Character
from naisei.director.draft import checked
from naisei.director.judge import status_of
from naisei.director.schemas import Draft, Scores
from naisei.director.state import TalkRecorder
from naisei.director.task import TalkTask
from naisei.lang import say
from naisei.terminal import Console, print_wrapped

#: How a status is coloured.
STYLES = {
    Status.PASS: "green",
    Status.MODIFY: "cyan",
    Status.WARN: "yellow",
    Status.RETRY: "red",
}


class Live:
    """Prints what is logged: an `on_event` of the run engine.

    Verdicts of drafts are no events; they are worked out again from the lines said so far.
    earlier: events of the run before it was continued. brief: a draft that is said as it stands
    is not shown twice, a reason stands without what to do about it, a judgement only with its
    comment.
    """

    def __init__(
        self,
        task: TalkTask,
        console: Console,
        *,
        earlier: Iterable[Event] = (),
        brief: bool = False,
    ) -> None:
        self._brief = brief
        #: Of the last draft, as long as it is not known whether it will be said.
        self._held: list[tuple[Text, int]] = []
        self._task = task
        self._language = task.config.rules.language
        self._console = console
        self._stages: dict[str, TalkRecorder] = {}
        self._turns: dict[str, int] = {}
        for event in earlier:
            if event.kind == "say":
                self._commit(event)

    def __call__(self, event: Event) -> None:
        request = event.request
        if not isinstance(request, dict):
            return
        if event.kind == "chat" and request["role"] == "speaker":
            self._draft(event)
        elif event.kind == "chat" and request["role"] == "judge":
            self._judgement(event)
        elif event.kind == "say":
            self._commit(event)
            self._said(request)

    def _print(self, text: Text, indent: int = 0) -> None:
        if self._brief:
            self._held.append((text, indent))
        else:
            self._console.print(text, soft_wrap=True)

    def _let_go(self) -> None:
        for text, indent in self._held:
            print_wrapped(self._console, text, indent=indent)
        self._held.clear()

    def _stage(self, where: Where) -> TalkRecorder:
        return self._stages.setdefault(where.episode, self._task.stage())

    def _draft(self, event: Event) -> None:
        if event.failure is not None:
            self._print(Text(f"  {event.failure[1]}", style="red"))
            return
        self._let_go()
        speaker = self._speaker(event)
        draft = checked(
            str(event.result),
            speaker,
            self._stage(event.where).state,
            self._language,
            self._task.config.rules.rules,
        )
        self._print(
            Text.assemble(
                ("  " + say("案", "draft") + " ", "dim"),
                (f"{speaker.name}: {_row(draft.given)} ", "dim"),
                (f"[{draft.status}]", STYLES[draft.status]),
            ),
            indent=6,
        )
        self._reasons(draft)

    def _reasons(self, draft: Draft) -> None:
        for check in draft.checks:
            self._print(
                Text.assemble(
                    (f"      {check.name} ", STYLES[check.status]),
                    (
                        check.reason if self._brief else f"{check.reason} → {check.suggestion}",
                        "dim",
                    ),
                ),
                indent=8,
            )

    def _speaker(self, event: Event) -> Character:
        request: Any = event.request
        told = request["messages"][0]["content"]
        # Who speaks is no part of the effect; the writer's instructions hold the persona.
        found = [c for c in self._task.cast if c.persona.strip() in told]
        return found[0] if found else self._task.cast[0]

    def _judgement(self, event: Event) -> None:
        if event.failure is not None or not isinstance(event.result, dict):
            why = event.failure[1] if event.failure is not None else ""
            words = say("採点役の失敗 (規則のみで扱う): ", "judge failed (rules alone): ")
            self._print(Text(f"      {words}{why}", style="magenta"))
            return
        scores = Scores.model_validate(event.result)
        if self._brief and not scores.comment:
            return
        shown = " ".join(str(points) for points in scores.points)
        # Of one judgement by itself: repeats and hysteresis show in the line that is said.
        status = status_of(scores.mean)
        words = f"{say('判定', 'judge')} {scores.mean:.1f} ({shown}) "
        self._print(
            Text.assemble(
                (f"      {words}", "magenta dim"),
                (f"[{status}]", STYLES[status]),
                (f" {scores.comment}", "dim"),
            )
        )

    def _said(self, request: Mapping[str, object]) -> None:
        meta = request["meta"]
        assert isinstance(meta, dict)
        status = Status(str(meta["status"]))
        name = self._task.names.get(str(request["speaker"]), str(request["speaker"]))
        marks = [str(meta["outcome"])] if meta["outcome"] != "said" else []
        marks += [str(mend) for mend in meta["mends"]]
        said = Text.assemble(
            (f"{meta['turn']:>2} {name}: ", "bold"),
            (_row(str(request["text"])), "bold"),
            (f"  [{' · '.join([status, *marks])}]", STYLES[status]),
        )
        if self._held and f"{name}: {_row(str(request['text']))} " in self._held[0][0].plain:
            self._held[0] = (said, 4)
        else:
            self._print(said, indent=4)
        self._let_go()

    def _commit(self, event: Event) -> None:
        request = event.request
        assert isinstance(request, dict)
        said = Say(str(request["text"]), str(request["speaker"]), request["meta"])  # type: ignore[arg-type]
        self._stage(event.where).perform(said, event.where)


def _row(text: str) -> str:
    return " ⏎ ".join(text.strip().splitlines())
