"""Biases of a judge: does a model's score of a line depend on irrelevant changes?

The judge scores natural lines in character, unchanged and with one change each. The order of
earlier exchanges and empty phrases should not change a score; a repeated line should score lower.
Source of the three changes: Zheng et al., Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena,
NeurIPS 2023 (§3.3: position, verbosity and repetitive lists).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from naisei.core import Flow, Gather, InstrumentFailure
from naisei.director.character import Character, shipped
from naisei.director.describe import judge_messages
from naisei.director.draft import checked
from naisei.director.judge import Judging, judge
from naisei.director.schemas import Judgement
from naisei.director.state import Spoken, TalkState
from naisei.director.voice_learning import exchanges

#: Ways of changing a line or the lines before it.
CHANGES = ("order", "length", "repeated")
#: Empty phrases, in either register.
_EMPTY = {
    "polite": "以上のようなことですので、そのようにお考えいただければと思います。",
    "plain": "まあ、なんていうか、つまりはそういう感じのことなんだよね。",
}
#: Smaller differences of a mean of five scores are ignored.
_NEGLIGIBLE = 0.1
#: Number of identical differences that suffice without an interval (sign test: p = 0.03).
_ALIKE = 6


@dataclass(frozen=True, slots=True)
class Bias:
    """The effect of one change: mean difference of the judge's mean (changed minus plain) over
    `count` lines, its 95 % interval, and how often the status changed. found: whether the judge is
    biased; `None` with too few lines."""

    change: str
    count: int
    difference: float
    low: float
    high: float
    other_status: float
    found: bool | None


def biases(lines: int, judging: Judging) -> Flow[tuple[Bias, ...]]:
    """Measure all `CHANGES` on sample lines of the bundled characters in turn.

    A change's count excludes lines for which a judgement failed.
    """
    cast = shipped()
    said = {who.id: exchanges(who.id) for who in cast}
    units = [(cast[n % len(cast)], n // len(cast)) for n in range(lines)]
    units = [(who, at) for who, at in units if at < len(said[who.id])]
    heard = yield from Gather([_judged(who, said[who.id], at, judging) for who, at in units])
    return tuple(_bias(change, n + 1, heard) for n, change in enumerate(CHANGES))


def _judged(
    who: Character, said: Sequence[tuple[str, str]], at: int, judging: Judging
) -> Flow[list[Judgement | None]]:
    """Judge a line unchanged and after each change; `None` for a failed judgement."""
    partner = who.partner.id if who.partner else ""
    before, line = said[at]
    earlier = [
        [Spoken(speaker=partner, text=a), Spoken(speaker=who.id, text=b)]
        for a, b in (said[at - 1], said[at - 2])
    ]
    polite = who.voice is not None and who.voice.register_.get("polite", (0.0, 0.0))[0] > 0.5
    empty = _EMPTY["polite" if polite else "plain"]
    found: list[Judgement | None] = []
    for pair, text in (
        (earlier, line),
        (earlier[::-1], line),
        (earlier, line + empty),
        (earlier, line + line),
    ):
        history = (*pair[0], *pair[1], Spoken(speaker=partner, text=before))
        state = TalkState(history=history)
        draft = checked(text, who, state, who.language)
        messages = judge_messages(draft.model_copy(update={"checks": ()}), who, state, who.language)
        try:
            found.append((yield from judge(messages, judging)))
        except InstrumentFailure:
            found.append(None)
    return found


def _bias(change: str, at: int, heard: Sequence[Sequence[Judgement | None]]) -> Bias:
    from naisei.runs.statistics import interval

    pairs = [(one[0], one[at]) for one in heard]
    both = [(plain, other) for plain, other in pairs if plain is not None and other is not None]
    moved = [other.mean - plain.mean for plain, other in both]
    low, high = interval(moved, clusters=None)
    alike = len(set(moved)) == 1 and len(moved) >= _ALIKE
    least, most = (moved[0], moved[0]) if alike else (low, high)
    found: bool | None = None
    if not math.isnan(least):
        if change == "repeated":
            found = most > -_NEGLIGIBLE
        elif change == "length":
            found = least > _NEGLIGIBLE
        else:
            found = least > _NEGLIGIBLE or most < -_NEGLIGIBLE
    count = len(both)
    return Bias(
        change,
        count,
        sum(moved) / count if count else math.nan,
        low,
        high,
        sum(plain.status != other.status for plain, other in both) / count if count else math.nan,
        found,
    )
