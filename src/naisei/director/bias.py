"""Biases of a judge: does a model's score of a line move with what should not move it?

Natural lines in character are put to the judge as they stand, and changed in one way. The order
of what was said long before, and words that say nothing, should change no score; a line said
twice over should be scored lower. Source of the three: Zheng et al., Judging LLM-as-a-Judge with
MT-Bench and Chatbot Arena, NeurIPS 2023 (§3.3: position, verbosity and repetitive lists).
"""

from __future__ import annotations

import asyncio
import json
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
from naisei.lang import say
from naisei.system.config import Printed, flag

#: Ways of changing a line or what stands before it.
CHANGES = ("order", "length", "repeated")
#: Empty phrases, in either register.
_EMPTY = {
    "polite": "以上のようなことですので、そのようにお考えいただければと思います。",
    "plain": "まあ、なんていうか、つまりはそういう感じのことなんだよね。",
}
#: Smaller differences of a mean of five scores are ignored.
_NEGLIGIBLE = 0.1
#: Enough lines that all moved alike (a sign test gives 0.03) where there is no interval.
_ALIKE = 6


class BiasOptions(Printed):
    """Flags of `naisei director bias`."""

    judge_model: str = flag(
        ...,
        "調べる採点役のモデル",
        "The judge to look at.",
        panel="models",
        metavar="PROVIDER:NAME",
    )
    lines: int = flag(
        12,
        "使う見本の発言の数 (1 発言につき 4 回尋ねる)",
        "Sample lines to use; the judge is asked four times for each.",
        ge=2,
        le=200,
    )
    repeats: int = flag(
        1, "同じ問いを尋ねる回数 (平均をとる)", "Judgements of each, averaged.", ge=1, le=25
    )


@dataclass(frozen=True, slots=True)
class Bias:
    """Of one change: the mean difference of the judge's mean, changed less plain, on `count`
    lines, its 95 % interval, and how often the status changed. found: whether the judge is biased;
    `None` with too few lines to tell."""

    change: str
    count: int
    difference: float
    low: float
    high: float
    other_status: float
    found: bool | None


def biases(lines: int, judging: Judging) -> Flow[tuple[Bias, ...]]:
    """All of `CHANGES`, on sample lines of the bundled characters in turn.

    A line on which one of the judgements fails is left out of that change's count.
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
    """The judgements of a line as it stands, and after each change."""
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


def bias(options: BiasOptions) -> None:
    """`naisei director bias`: the biases of a judge, as a table."""
    from naisei.cli.printing import print_tables
    from naisei.core import arun
    from naisei.models.registry import base_world
    from naisei.runs.report import plain_number
    from naisei.runs.task import Table
    from naisei.terminal import Console

    judging = Judging(repeats=options.repeats)

    async def judged() -> tuple[Bias, ...]:
        async with base_world({"judge": options.judge_model}) as world:
            return await arun(biases(options.lines, judging), world)

    found = asyncio.run(judged())
    if options.as_json:
        rows = [
            {
                "change": one.change,
                "lines": one.count,
                "difference": plain_number(round(one.difference, 3)),
                "interval": [plain_number(round(one.low, 3)), plain_number(round(one.high, 3))],
                "other_status": plain_number(round(one.other_status, 3)),
                "biased": one.found,
            }
            for one in found
        ]
        print(json.dumps(rows, ensure_ascii=False))
        return
    difference = say("平均の差", "difference of the mean")
    columns = (
        *(say("変えたもの", "changed"), say("発言", "lines")),
        *(difference, f"{difference} low", f"{difference} high"),
        *(say("判定が変わる", "other status"), say("偏り", "biased")),
    )
    answers = {True: say("あり", "yes"), False: say("なし", "no"), None: "?"}
    table = Table(
        say("採点役の偏り", "Biases of the judge"),
        columns,
        tuple(
            (
                *(say(*_WORDS[one.change]), one.count, one.difference, one.low, one.high),
                *(one.other_status, answers[one.found]),
            )
            for one in found
        ),
    )
    print_tables([table], Console())


_WORDS = {
    "order": ("前のやりとりの順 (変わらないはず)", "order of what was said before (no change)"),
    "length": ("中身のない長さ (上がらないはず)", "length that says nothing (no gain)"),
    "repeated": ("同じ文の繰り返し (下がるはず)", "the line twice over (a loss)"),
}
