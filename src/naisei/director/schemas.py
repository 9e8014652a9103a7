"""The vocabulary of judged talk: scores, judgements, drafts, turns, and the result of a talk."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, computed_field

from naisei.core import Check, Status
from naisei.director.state import TalkState
from naisei.runs.lines import lines_html
from naisei.schema import model_field

#: The five aspects of §7 in order, in Japanese.
ASPECTS = {
    "frame": "フレーム整合性",
    "roleplay": "ロールプレイ",
    "connection": "対話の接続性",
    "density": "情報密度",
    "naturalness": "自然さ",
}
#: The outcome of a turn. said: a draft passed; best: the best draft was used, as WARN; person: a
#: person wrote the line; refused: no line.
Outcome = Literal["said", "best", "person", "refused"]


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("true and false are no scores")
    return value


Score = Annotated[int, Field(ge=1, le=5), BeforeValidator(_no_truth_value)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Scores(_Frozen):
    """One judgement of one line: evidence, five aspects from 1 to 5, a comment, the verdict.

    topic: empty if the talk goes on. verdict: the judge's own, empty where a function gives
    none; RETRY makes the line a WARN at least. Source: the retry-judgement specification, §7.
    """

    quote: str = model_field(
        "根拠になる箇所を発言から抜き出す。問題がなければ、人物らしさがよく出た箇所",
        "Words of the line that decide, as they stand; if all is well, the most in character",
        "",
    )
    frame: Score = model_field(
        "場面の場所と様子、変わらない事実に合っている",
        "It fits the place, the situation and the facts that never change",
        called=(ASPECTS["frame"],),
    )
    roleplay: Score = model_field(
        "人物の性格・話し方と二人の関係を守っている",
        "It keeps the character, the manner of speech and the relation of the two",
        called=(ASPECTS["roleplay"],),
    )
    connection: Score = model_field(
        "直前の発言を受けている。最初の発言なら話題に合っている",
        "It takes up the line before; the first line fits the topic",
        called=(ASPECTS["connection"],),
    )
    density: Score = model_field(
        "中身が薄すぎず、詰め込みすぎてもいない",
        "It is neither thin nor crammed",
        called=(ASPECTS["density"],),
    )
    naturalness: Score = model_field(
        "機械的な繰り返しや唐突なところがない",
        "No mechanical repetition, nothing out of nowhere",
        called=(ASPECTS["naturalness"],),
    )
    topic: str = model_field(
        "別の話に移ったなら、その話題の名詞。続いていれば空",
        "The new topic, a noun, if the line turns to one; empty if the talk goes on",
        "",
    )
    comment: str = model_field(
        "話す人への一言。どこをどう直し何を残すか。直すところがなければよい点",
        "To the writer: where and how to change it, and what must stay; else what is good",
        "",
        called=("コメント",),
    )
    verdict: Literal["", "PASS", "WARN", "RETRY"] = model_field(
        "PASS 話す、WARN 話してよいが次に気をつける、RETRY 書き直す",
        "PASS: spoken; WARN: spoken, with a note for the next turn; RETRY: written again",
        "",
        called=("判定",),
        synonyms={
            "PASS": ("合格", "話す", "OK"),
            "WARN": ("注意", "警告", "要注意", "warning"),
            "RETRY": ("不合格", "書き直す", "書き直し", "やり直し", "再試行", "NG"),
        },
    )

    @property
    def points(self) -> tuple[int, ...]:
        """The five scores in the order of `ASPECTS`."""
        return tuple(getattr(self, aspect) for aspect in ASPECTS)

    @property
    def mean(self) -> float:
        """1 to 5, in steps of 0.2."""
        return sum(self.points) / len(ASPECTS)


class Judgement(_Frozen):
    """The judge's result for a line, over all usable judgements.

    mean: of all scores, 1 to 5. spread: the largest mean of a single judgement less the
    smallest, 0 for one. status: by the cuts (`naisei.director.judge`). failures: unusable
    judgements.
    """

    scores: Annotated[tuple[Scores, ...], Field(min_length=1)]
    mean: float
    spread: float
    status: Status
    failures: int = 0

    def aspect(self, name: str) -> float:
        """The mean of one aspect."""
        at = list(ASPECTS).index(name)
        return sum(s.points[at] for s in self.scores) / len(self.scores)

    def bears_out(self, check: str) -> bool:
        """Whether the judge confirms this check: character or naturalness is 3 or less, or the
        facts for `setting`."""
        aspects = ("roleplay", "naturalness", *(("frame",) if check == "setting" else ()))
        return min(map(self.aspect, aspects)) <= 3

    @property
    def comment(self) -> str:
        """The first comment."""
        return next((s.comment.strip() for s in self.scores if s.comment.strip()), "")

    @property
    def topic(self) -> str:
        """The new topic, if most judgements name one."""
        said = [s.topic.strip() for s in self.scores if s.topic.strip()]
        return said[0] if len(said) * 2 > len(self.scores) else ""


class Draft(_Frozen):
    """One draft of a line with all findings. It exists only inside the flow.

    given: as written; text: after the safe fixes. status: of the hard rules and of the
    judge, MODIFY where it would be PASS but for `mends`. checks: those that did not pass, the
    judge's among them. judgement: `None` where the judge was not asked (hard RETRY, no judge)
    or not heard; then `judge_failure` says why. weight: of the character's voice
    (`Tone.weight`).
    """

    given: str
    text: str
    status: Status
    checks: tuple[Check, ...] = ()
    tone: dict[str, int | None] = {}
    weight: float | None = None
    sentences: int = 0
    topics: int = 0
    mends: tuple[str, ...] = ()
    judgement: Judgement | None = None
    judge_failure: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def judged(self) -> bool:
        """Whether there is a judgement; part of the stored data."""
        return self.judgement is not None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for the writer: reason and suggestion of the rejecting checks, or of the warning
        checks if none rejects."""
        worst = max((c.status.severity for c in self.checks), default=0)
        return tuple(
            " ".join(t for t in (c.reason, c.suggestion) if t)
            for c in self.checks
            if c.status.severity == worst
        )

    def _repr_html_(self) -> str:
        from naisei.director.lines import draft_line

        return lines_html([draft_line(self, "")])


class Turn(_Frozen):
    """One finished turn. number: from 1. text: the line said, `None` if nothing was.

    status: of the line that was said; WARN for `best`; RETRY for `refused`; for `person`, the
    rules' status. diff: of the fixes, as a unified diff. drafts: all in order; the only place of
    the rejected ones. latency: seconds until a gated stream let its first sentence out, where it is
    let out by sentences.
    """

    number: int
    speaker: str
    outcome: Outcome
    status: Status
    text: str | None
    diff: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()
    chosen: int | None = None
    latency: float | None = None

    @property
    def draft(self) -> Draft | None:
        """The spoken draft; `None` for a person's line or no line."""
        return None if self.chosen is None else self.drafts[self.chosen]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def judged(self) -> bool:
        """Whether the spoken line has a judgement; part of the stored data."""
        return self.draft is not None and self.draft.judged

    def _repr_html_(self) -> str:
        from naisei.director.lines import turn_lines

        return lines_html(turn_lines(self, self.speaker))


class TalkResult(_Frozen):
    """The result of a talk: its turns and its final state."""

    turns: tuple[Turn, ...]
    state: TalkState
