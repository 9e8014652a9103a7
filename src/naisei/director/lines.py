"""A talk line by line: drafts with their verdicts, and the spoken lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from naisei.core import Check, Event, Say, Status, Where
from naisei.director.character import Character
from naisei.director.draft import checked
from naisei.director.judge import status_of
from naisei.director.schemas import ASPECTS, Draft, Scores, TalkResult, Turn
from naisei.director.state import TalkRecorder
from naisei.lang import language, say
from naisei.runs.lines import Line, Mark, Tone
from naisei.runs.task import Digest

if TYPE_CHECKING:
    from naisei.director.task import TalkTask
    from naisei.director.verdict import LineVerdict

_TONES: Mapping[Status, Tone] = {
    Status.PASS: "good",
    Status.MODIFY: "good",
    Status.WARN: "warn",
    Status.RETRY: "bad",
}
#: Check → its name in Japanese.
_CHECKS_JA = {
    "format": "形式",
    "setting": "設定",
    "praise": "ほめ方",
    "scatter": "話題の散らばり",
    "logic": "論理",
    "tone": "口調",
    "loop": "繰り返し",
    "jump": "話題の飛び",
    "script": "台詞でない言葉",
    "judge": "採点役",
}


def digest(result: Any) -> Digest:
    """A talk in lists: the share of turns that passed, and the number of rejected drafts."""
    turns = TalkResult.model_validate(result).turns
    passed = [t.outcome in ("said", "best") and t.status in ("PASS", "MODIFY") for t in turns]
    again = sum(len(t.drafts) - 1 for t in turns if t.drafts)
    did = say(
        f"{len(turns)} ターン、書き直し {again} 回", f"{len(turns)} turns, {again} drafts rejected"
    )
    value = sum(passed) / len(passed) if passed else float("nan")
    return Digest(value, did, title=next((t.text for t in turns if t.text), ""))


def turn_lines(turn: Turn, name: str, *, mine: bool = False) -> tuple[Line, ...]:
    """The lines of a turn: its unused drafts, then the spoken line. name: the speaker's name."""
    drafts = [draft_line(d, name) for at, d in enumerate(turn.drafts) if at != turn.chosen]
    said, words = turn.draft, _outcome(turn.outcome)
    if turn.text is None:
        silence = Line(f"… ({words})", name, f"{turn.number:>2}", tone="dim", mine=mine)
        return (*drafts, silence)
    marks = [status_mark(turn.status)]
    marks += [Mark(text) for text in (words, _judged(said) if said else "") if text]
    under = [*_reasons(said.checks if said else ()), *(Line(row, tone="dim") for row in turn.diff)]
    line = Line(
        turn.text,
        name,
        f"{turn.number:>2}",
        marks=tuple(marks),
        under=tuple(under),
        mine=mine,
    )
    return (*drafts, line)


def draft_line(draft: Draft, name: str) -> Line:
    """A draft with its verdict and reasons."""
    return Line(
        draft.given.strip(),
        name,
        say("案", "draft"),
        marks=(status_mark(draft.status),),
        under=(*_reasons(draft.checks), *_scores(draft)),
        draft=draft.status is Status.RETRY,
        inset=True,
    )


def _scores(draft: Draft) -> tuple[Line, ...]:
    """The judge's score of each aspect, and its comment."""
    if (found := draft.judgement) is None:
        return ()
    points = " · ".join(f"{name} {found.aspect(name):g}" for name in ASPECTS)
    return (Line(f"{points} {found.comment}".strip(), _judged(draft), tone="dim"),)


def verdict_line(found: LineVerdict) -> Line:
    """A line with its verdict and every check."""
    return Line(found.text, marks=(status_mark(found.status),), under=_reasons(found.checks))


def status_mark(status: Status) -> Mark:
    """The mark for a verdict, with its meaning."""
    meaning = {
        Status.PASS: say("検査に通った", "passed the checks"),
        Status.MODIFY: say("直して通った", "passed once mended"),
        Status.WARN: say("注意つきで通った", "passed with a warning"),
        Status.RETRY: say("書き直し", "to be rewritten"),
    }
    return Mark(status.value, _TONES[status], word=meaning[status])


def _reasons(checks: Sequence[Check]) -> tuple[Line, ...]:
    return tuple(
        Line(
            f"{c.reason} {c.suggestion}".strip(),
            say(_CHECKS_JA.get(c.name, c.name), c.name),
            marks=(status_mark(c.status),),
        )
        for c in checks
    )


def _outcome(outcome: str) -> str:
    """How the turn ended, unless a draft simply passed."""
    return {
        "said": "",
        "best": say("書き直しの上限。最良の案", "out of retries: the best draft"),
        "person": say("人が入力", "given by a person"),
        "refused": say("発言なし", "nothing said"),
    }[outcome]


def _judged(draft: Draft) -> str:
    """The judge's mean or failure; empty if the judge was not asked."""
    if draft.judge_failure:
        return say("採点役の失敗 (規則のみ)", "judge failed (rules alone)")
    found = draft.judgement
    if found is None:
        return ""
    spread = f" ±{found.spread / 2:.1f}" if len(found.scores) > 1 else ""
    return say("判定", "judge") + f" {found.mean:.2f}".rstrip("0").rstrip(".") + spread


class Live:
    """The lines of a talk as it is logged.

    Verdicts are not events: they are recomputed from the earlier lines, with reasons in the user's
    language. earlier: events of the run before it was continued.
    """

    def __init__(self, task: TalkTask, earlier: Iterable[Event] = ()) -> None:
        self._task = task
        self._stages: dict[str, TalkRecorder] = {}
        for event in earlier:
            self(event)

    def __call__(self, event: Event) -> Sequence[Line]:
        request: Any = event.request
        if event.kind == "chat" and request["role"] == "speaker":
            return (self._draft(event),)
        if event.kind == "chat" and request["role"] == "judge":
            return (_judgement(event),)
        if event.kind == "say":
            said = Say(request["text"], request["speaker"], request["meta"])
            self._stage(event.where).perform(said, event.where)
            return (said_line(said, self._task.names),)
        return ()

    def _stage(self, where: Where) -> TalkRecorder:
        return self._stages.setdefault(where.episode, self._task.stage())

    def _draft(self, event: Event) -> Line:
        if event.failure is not None:
            return Line(event.failure[1], tone="bad")
        speaker, rules = self._speaker(event), self._task.config.rules
        state = self._stage(event.where).state
        draft = checked(str(event.result), speaker, state, language(), rules.rules)
        return draft_line(draft, speaker.name)

    def _speaker(self, event: Event) -> Character:
        request: Any = event.request
        told = request["messages"][0]["content"]
        # The effect does not name the speaker; the writer's instructions contain the persona.
        found = [c for c in self._task.cast if c.persona.strip() in told]
        return found[0] if found else self._task.cast[0]


def said_line(said: Say, names: Mapping[str, str]) -> Line:
    """A spoken line with its verdict. names: character id → name to show."""
    meta: Any = said.meta
    words = [text for text in (_outcome(meta["outcome"]), *meta["mends"]) if text]
    marks = [status_mark(Status(meta["status"])), *map(Mark, words)]
    name = names.get(said.speaker, said.speaker)
    return Line(said.text, name, f"{meta['turn']:>2}", marks=tuple(marks))


def _judgement(event: Event) -> Line:
    if event.failure is not None or not isinstance(event.result, dict):
        why = event.failure[1] if event.failure is not None else ""
        words = say("採点役の失敗 (規則のみで扱う): ", "judge failed (rules alone): ")
        return Line(f"{words}{why}", draft=True)
    scores = Scores.model_validate(event.result)
    shown = " ".join(str(points) for points in scores.points)
    # A single judgement; repeats and hysteresis show in the spoken line.
    mark = status_mark(status_of(scores.mean))
    words = f"{say('判定', 'judge')} {scores.mean:.1f} ({shown}) {scores.comment}".rstrip()
    return Line(words, marks=(mark,), draft=True)
