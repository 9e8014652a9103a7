"""Describes the relationship in sentences: now, at first, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from naisei.lang import language, say
from naisei.relationship.schemas import WAYS, Conversation
from naisei.relationship.speech import Estimate, SpeechReading
from naisei.relationship.vector import DIMENSIONS, degree, dimension_name, signed
from naisei.runs.lines import Line

#: Dimension → wording of each value, from −3 to 3.
_MANNERS = {
    "Intimacy": (
        *("突き放すように", "よそよそしく", "やや距離を置いて", "ふつうの近さで"),
        *("やや親しく", "親しく", "とても親しく"),
    ),
    "Power": (
        *("すっかり従って", "従う立場で", "やや下手に出て", "対等に"),
        *("やや上から", "上の立場から", "はっきり上の立場から"),
    ),
}
_TALK = (
    *("雑談だけをしています", "おもに雑談をしています", "どちらかといえば雑談をしています"),
    *("雑談も用件も話しています", "どちらかといえば用件の話をしています"),
    *("おもに用件の話をしています", "用件だけを話しています"),
)
_NOT_YET = ("まだ読み取れません", "cannot be told yet")
#: Maximum number of characters quoted from a line as evidence.
_QUOTED = 24


def standing(
    src: str,
    dst: str,
    course: Sequence[Mapping[str, int | None]],
    grounds: Mapping[str, Sequence[Line]] = {},
    missing: Mapping[str, str] = {},
) -> Line:
    """A sentence on the stance of `src` toward `dst`, followed by each number in words, with the
    first value.

    Args:
        course: the vector after each utterance, −3 to 3; `None` if unknown.
        grounds: dimension → evidence of its last number.
        missing: dimension → why there is no number.
    """
    last = course[-1] if course else {}
    rows = [
        Line(_degree(name, value, course), dimension_name(name), under=tuple(grounds.get(name, ())))
        for name in DIMENSIONS
        if (value := last.get(name)) is not None
    ]
    unknown: dict[str, list[str]] = {}
    for name in DIMENSIONS if rows or missing else ():
        if last.get(name) is None:
            before = [v for each in course if (v := each.get(name)) is not None]
            unread = ("いまは読み取れません", "cannot be told now") if before else _NOT_YET
            why = missing.get(name) or say(*unread)
            if before:
                words = _valued(name, before[-1])
                why += say(f"。最後に読み取れた値は{words}", f"; last known: {words}")
            unknown.setdefault(why, []).append(dimension_name(name))
    rows += [Line(why, say("、", ", ").join(names), tone="dim") for why, names in unknown.items()]
    return Line(in_words(src, dst, last), tone="head", under=tuple(rows))


def talk_standing(
    talk: Conversation, speech: Sequence[tuple[SpeechReading, SpeechReading]] | None = None
) -> list[Line]:
    """Describe both directions of a conversation, from its readings or from `speech`
    (`curves.heard`)."""
    a, b = talk.names["a"], talk.names["b"]
    lines = [(talk.names[line.speaker], line.text) for s in talk.sessions for line in s.lines]
    out = []
    for side, (way, ends) in enumerate(zip(WAYS, ((a, b), (b, a)), strict=True)):
        if speech is not None:
            course = [{n: both[side][n].rounded for n in DIMENSIONS} for both in speech]
            estimates = [each[side] for each in speech[-1:]]
            grounds = {n: g for one in estimates for n, g in speech_grounds(one, lines).items()}
            missing = {n: one[n].reason for one in estimates for n in DIMENSIONS if one[n].reason}
            out.append(standing(*ends, course, grounds, missing))
            continue
        moments = [moment.stances for session in talk.sessions for moment in session.moments]
        read = [each[way].reading for each in moments if way in each]
        grounds = {
            why.dimension: [Line(why.text, tone="dim")]
            for made in read[-1:]
            for why in made.reasons
        }
        course = [made.vector.model_dump() for made in read if made.vector is not None]
        out.append(standing(*ends, course, grounds))
    return out


def on_demand(lines: Sequence[Line]) -> list[Line]:
    """Make evidence expandable, for web pages."""

    def closed(row: Line) -> Line:
        return replace(row, more=row.under, under=())

    return [replace(line, under=tuple(map(closed, line.under))) for line in lines]


def speech_grounds(
    reading: SpeechReading, lines: Sequence[tuple[str, str]]
) -> dict[str, list[Line]]:
    """The contributions to each number of an estimate, rounded to tenths so that they still add up.
    lines: (speaker, text)."""
    found = reading.estimates.items()
    return {name: list(_parts(one, lines)) for name, one in found if one.rounded is not None}


def _beginning(line: str) -> str:
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"


def _parts(one: Estimate, lines: Sequence[tuple[str, str]]) -> Iterator[Line]:
    for sign in one.signs:
        heard = [f"{lines[at][0]}「{_beginning(lines[at][1])}」" for at, _ in sign.lines]
        shown = say("、", "; ").join(heard)
        yield Line(f"{sign.share:+.1f} {sign.words}" + (f": {shown}" if shown else ""), tone="dim")
    if one.base:
        general = say("もとの値 (会話一般)", "baseline (average dialogue)")
        yield Line(f"{one.base:+.1f} {general}", tone="dim")
    listed = round(one.base, 1) + sum(round(sign.share, 1) for sign in one.signs)
    if rest := round(round(one.value, 1) - listed, 1):
        yield Line(f"{rest:+.1f} " + say("そのほか", "other cues"), tone="dim")
    yield Line(f"{one.value:+.1f} " + say("合計", "in total"), tone="dim")


def in_words(src: str, dst: str, values: Mapping[str, int | None]) -> str:
    """One sentence: 「田中は鈴木に対し、親しく、やや下手に出て、おもに用件の話をしています。」"""
    known = {name: value for name, value in values.items() if value is not None}
    task = known.get("TaskOriented")
    if not known:
        return say(
            f"{src}が{dst}をどう見ているかは読み取れません。",
            f"How {src} stands toward {dst} cannot be read.",
        )
    if language() == "ja":
        manner = [words[known[name] + 3] for name, words in _MANNERS.items() if name in known]
        talk = "話しています" if task is None else _TALK[task + 3]
        return f"{'、'.join((f'{src}は{dst}に対し', *manner, talk))}。"
    words = [degree(name, known[name], "en") for name in _MANNERS if name in known]
    if task is not None:
        words.append(f"the talk is {degree('TaskOriented', task, 'en')}")
    return f"{src} → {dst}: {', '.join(words)}."


def _valued(name: str, value: int) -> str:
    return f"{degree(name, value, language())} ({signed(value)})"


def _degree(name: str, value: int, course: Sequence[Mapping[str, int | None]]) -> str:
    sentence = _valued(name, value)
    first = next(v for each in course if (v := each.get(name)) is not None)
    if first == value:
        return sentence
    before = _valued(name, first)
    return say(f"{sentence}、はじめは{before}", f"{sentence}; at first {before}")
