"""A character's manner of speech as a measurement, learnt from sample lines.

A line is compared with the character's own samples and with others': how sentences end, how
polite they are and how long, which words, terms of address and marks occur. Each trait has its
share of the own and of the others' sentences or lines; the logarithm of their ratio is what it
weighs, and the sum over a line says whose voice it is (naive Bayes with tempered weights).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from naisei.core import InputError
from naisei.japanese.folding import fold, mask
from naisei.japanese.manner import ending, register, sentences_of, words_of
from naisei.lang import say

__all__ = [
    "LEAST",
    "Heard",
    "Voice",
    "VoiceMeter",
    "card",
    "learn",
    "samples",
    "strange",
    "typical",
    "voice_toml",
    "with_voice",
]

#: So few lines can be learnt from.
LEAST = 20
Share = Annotated[float, Field(ge=0, le=1)]
Traits = dict[Annotated[str, Field(min_length=1)], tuple[Share, Share]]


class Voice(BaseModel):
    """What was learnt, as a person can read and edit it in the profile's `[voice]`.

    lines, against: how many own and others' lines it was learnt from. register (`polite`,
    `plain`, `bare`), endings (of sentences) and lengths (`short` to 8 characters, `middle` to 20,
    `long`): shares of the own and of the others' sentences. words, marks: shares of the lines
    that hold them. warn_below, retry_below: a line's weight below the first is WARN (score 1),
    below the second surely another's voice (score 0); from `sure` on it is 3. false_warn,
    false_retry: shares of own lines below them, each line left out of what it was measured by;
    confused: share of others' lines that are not below `warn_below`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    lines: Annotated[int, Field(ge=1)]
    against: Annotated[int, Field(ge=1)]
    warn_below: float = -0.5
    retry_below: float = -3.0
    sure: float = 1.0
    false_warn: Share = 0.0
    false_retry: Share = 0.0
    confused: Share = 0.0
    register_: Traits = Field(default={}, alias="register")
    endings: Traits = {}
    lengths: Traits = {}
    words: Traits = {}
    marks: Traits = {}

    @model_validator(mode="after")
    def _ordered(self) -> Voice:
        if not self.retry_below <= self.warn_below <= self.sure:
            raise ValueError("retry_below, warn_below and sure must not decrease in this order")
        return self


class Heard(BaseModel):
    """What a line weighs and why. weight: above 0 own, below 0 another's; traits: those that
    weigh most, the most foreign first, each with its weight."""

    model_config = ConfigDict(frozen=True)

    weight: float
    traits: tuple[tuple[str, float], ...] = ()


#: How much of a group's logarithms counts: words of one line are not independent of its endings.
_TEMPER = {"register": 1.0, "ending": 0.7, "length": 0.4, "word": 0.6, "mark": 0.5}
_CAP = 3.0
#: A mean over more sentences than these does not grow surer.
_SENTENCES = 2.0
_MARKS = ("！", "？", "…", "ー", "っ！", "〜")


class VoiceMeter:
    """Weighs lines against one voice. Linear in the length of the line."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self._register = _weights(voice.register_, "register")
        self._endings = _weights(voice.endings, "ending")
        self._lengths = _weights(voice.lengths, "length")
        self._words = _weights(voice.words, "word")
        self._marks = _weights(voice.marks, "mark")
        listed = sorted(self._words, key=len, reverse=True)
        self._word = re.compile("|".join(map(re.escape, listed)) or r"(?!)")
        self._longest = max(map(len, self._endings), default=0)

    def weigh(self, masked: str) -> float:
        """The weight of a folded line with quotations masked; 0 for one without words."""
        return sum(weight for _, weight in self._traits(masked))

    def heard(self, masked: str) -> Heard:
        """The weight with the traits behind it."""
        by_trait: dict[str, float] = {}
        for name, weight in self._traits(masked):
            by_trait[name] = by_trait.get(name, 0.0) + weight
        order = sorted(by_trait.items(), key=lambda item: item[1])
        return Heard(weight=sum(by_trait.values()), traits=tuple((n, w) for n, w in order if w))

    def _traits(self, masked: str) -> Iterator[tuple[str, float]]:
        said = sentences_of(masked)
        if not said:
            return
        part = min(len(said), _SENTENCES) / len(said)
        for sentence in said:
            kind = register(sentence)
            yield f"register:{kind}", part * self._register.get(kind, 0.0)
            end = ending(sentence)
            for size in range(min(len(end), self._longest), 0, -1):
                if end[-size:] in self._endings:
                    yield f"ending:{end[-size:]}", part * self._endings[end[-size:]]
                    break
            length = _length(sentence)
            yield f"length:{length}", part * self._lengths.get(length, 0.0)
        for word in {match[0] for match in self._word.finditer(masked)}:
            yield f"word:{word}", self._words[word]
        for mark, weight in self._marks.items():
            if mark in masked:
                yield f"mark:{mark}", weight


def _length(sentence: str) -> str:
    return "short" if len(sentence) <= 8 else "middle" if len(sentence) <= 20 else "long"


def _weights(traits: Traits, group: str) -> dict[str, float]:
    return {
        name: _TEMPER[group] * max(-_CAP, min(_CAP, math.log((own + _DUST) / (other + _DUST))))
        for name, (own, other) in traits.items()
    }


#: Keeps a share of 0 from being certain.
_DUST = 0.004


def learn(own: Sequence[str], others: Sequence[str]) -> Voice:
    """A voice from the character's lines and other people's, with its rates of error.

    The cuts follow the own lines, each weighed by a voice learnt without its tenth: at most 4 %
    of them lie below `warn_below` and 0.5 % below `retry_below`.

    Raises:
        InputError: fewer than `LEAST` lines on either side.
    """
    mine, theirs = [_masked(t) for t in own], [_masked(t) for t in others]
    for lines, ja, en in ((mine, "本人", "own"), (theirs, "比べる相手", "others'")):
        if len(lines) < LEAST:
            raise InputError(
                say(
                    f"{ja}の発言が {len(lines)} 行しかありません",
                    f"only {len(lines)} of the {en} lines",
                ),
                remedy=say(f"{LEAST} 行以上、できれば 50 行", f"give {LEAST} at least, better 50"),
            )
    left_out = sorted(_left_out(mine, theirs))
    foreign = _left_out(theirs, mine, swapped=True)
    warn = min(-0.3, left_out[int(0.03 * len(left_out))])
    retry = min(warn - 1.5, left_out[0] - 0.5, -3.0)
    middle = left_out[len(left_out) // 4]
    made = _learnt(mine, theirs)
    return made.model_copy(
        update={
            "warn_below": round(warn, 2),
            "retry_below": round(retry, 2),
            "sure": round(max(middle, warn + 0.5), 2),
            "false_warn": _rate(left_out, warn),
            "false_retry": _rate(left_out, retry),
            "confused": round(1 - _rate(foreign, warn), 3),
        }
    )


def voice_toml(voice: Voice) -> str:
    """The `[voice]` table of a profile, to be read and edited by a person."""
    dumped = voice.model_dump(by_alias=True)
    head = {k: v for k, v in dumped.items() if not isinstance(v, dict)}
    rows = ["[voice]", *(f"{key} = {value}" for key, value in head.items())]
    for name, note in _TABLES.items():
        shares = sorted(dumped[name].items(), key=lambda item: item[1][1] - item[1][0])
        rows += ["", f"# {note}", f"[voice.{name}]"]
        rows += [f"{json.dumps(k, ensure_ascii=False)} = [{a}, {b}]" for k, (a, b) in shares]
    return "\n".join(rows) + "\n"


def with_voice(profile: str, voice: Voice) -> str:
    """The text of a profile with the voice in it; a `[voice]` that was there is replaced."""
    head = _VOICE.sub("", profile).rstrip()
    return f"{head}\n\n{voice_toml(voice)}" if head else voice_toml(voice)


#: The tables of a voice, with the comments straight above them.
_VOICE = re.compile(r"(?m)(?:^#[^\n]*\n)*^\[voice[\].](?:(?!^\[(?!voice))[\s\S])*")


def card(own: Sequence[str], others: Mapping[str, Sequence[str]], voice: Voice) -> list[str]:
    """What is known of a voice, in words: rates by leaving lines out, confusion, strange lines."""
    from naisei.runs.statistics import wilson_interval  # which brings numpy

    warned, rejected = (
        wilson_interval(round(rate * voice.lines), voice.lines)
        for rate in (
            voice.false_warn,
            voice.false_retry,
        )
    )
    rows = [
        say(
            f"本人の {voice.lines} 行 (一割ずつ外して測定): 合格 {1 - voice.false_warn:.1%}、"
            f"誤った WARN 以上 {voice.false_warn:.1%} [{warned[0]:.1%}, {warned[1]:.1%}]、"
            f"誤った RETRY {voice.false_retry:.1%} [{rejected[0]:.1%}, {rejected[1]:.1%}]",
            f"{voice.lines} own lines, each left out: {1 - voice.false_warn:.1%} pass, "
            f"falsely WARN or worse {voice.false_warn:.1%} [{warned[0]:.1%}, {warned[1]:.1%}], "
            "falsely RETRY "
            f"{voice.false_retry:.1%} [{rejected[0]:.1%}, {rejected[1]:.1%}]",
        )
    ]
    meter = VoiceMeter(voice)
    for name, lines in others.items():
        passed = sum(meter.weigh(_masked(line)) >= voice.warn_below for line in lines)
        rows.append(
            say(
                f"{name} の {len(lines)} 行のうち本人として通るもの: {passed}",
                f"of {len(lines)} lines of {name}, taken for the character's: {passed}",
            )
        )
    every = [line for lines in others.values() for line in lines]
    for at, weight in strange(own, every, voice)[:_STRANGE]:
        rows.append(
            say(f"本人らしくない行 {at + 1}", f"strange line {at + 1}")
            + f" ({weight:.1f}): {own[at]}"
        )
    return rows


#: So many strange lines are shown.
_STRANGE = 10
#: What stands above each table in the file.
_TABLES = {
    "register": "文末の丁寧さ: [本人の文での割合, ほかの人の文での割合]",
    "endings": "文末のかな",
    "lengths": "文の長さ (short は 8 字まで、middle は 20 字まで)",
    "words": "言葉と呼び方: [本人の発言での割合, ほかの人の発言での割合]",
    "marks": "記号",
}


def samples(character: str) -> tuple[str, ...]:
    """The bundled sample lines in a shipped character's voice; none for anybody else."""
    text = (files("naisei.data") / "director_samples" / "lines.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(row) for row in text.splitlines()]
    return tuple(r["line"] for r in rows if r["character"] == character and r["kind"] in _FINE)


#: Kinds of bundled lines that are in character.
_FINE = frozenset({"sample", "value", "home", "negative"})


def _rate(weights: Sequence[float], below: float) -> float:
    return round(sum(w < below for w in weights) / len(weights), 3)


def _left_out(lines: Sequence[str], fixed: Sequence[str], *, swapped: bool = False) -> list[float]:
    """Weights of the lines, each by a voice learnt without its tenth."""
    folds = min(10, len(lines))
    weights = []
    for n in range(folds):
        rest = [line for i, line in enumerate(lines) if i % folds != n]
        meter = VoiceMeter(_learnt(fixed, rest) if swapped else _learnt(rest, fixed))
        weights += [meter.weigh(line) for line in lines[n::folds]]
    return weights


def strange(lines: Sequence[str], others: Sequence[str], voice: Voice) -> list[tuple[int, float]]:
    """(place in `lines`, weight) of the own lines that a voice learnt without them calls WARN,
    the strangest first."""
    mine, theirs = [_masked(t) for t in lines], [_masked(t) for t in others]
    folds = min(10, len(mine))
    found = zip(
        [i for n in range(folds) for i in range(n, len(mine), folds)],
        _left_out(mine, theirs),
        strict=True,
    )
    return sorted(((i, w) for i, w in found if w < voice.warn_below), key=lambda item: item[1])


def typical(shares: Traits, count: int) -> list[str]:
    """The endings that are most the character's own, none inside another."""
    ranked = sorted(shares, key=lambda e: shares[e][0] - 3 * shares[e][1], reverse=True)
    chosen: list[str] = []
    for text in ranked:
        if len(text) > 1 and not any(text in other or other in text for other in chosen):
            chosen.append(text)
    return chosen[:count]


@lru_cache(maxsize=8192)
def _masked(text: str) -> str:
    return mask(fold(text)).strip()


def _learnt(own: Sequence[str], others: Sequence[str]) -> Voice:
    sides = [_counted(own), _counted(others)]
    totals = [(n.sentences or 1, n.lines or 1) for n in sides]

    def shares(group: str, per: int, least: int, ratio: float) -> Traits:
        names = {name for side in sides for name in side.groups[group]}
        found = {}
        for name in sorted(names):
            counts = [side.groups[group][name] for side in sides]
            own_share, other_share = (
                round((n + 0.25) / (total[per] + 0.5), 4)
                for n, total in zip(counts, totals, strict=True)
            )
            spread = abs(math.log(own_share / other_share))
            if sum(counts) >= least and spread >= ratio:
                found[name] = (own_share, other_share)
        return found

    return Voice(
        lines=len(own),
        against=len(others),
        warn_below=-0.5,
        retry_below=-3.0,
        register=shares("register", 0, 1, 0.0),
        endings=shares("ending", 0, 3, 0.4),
        lengths=shares("length", 0, 1, 0.0),
        words=shares("word", 1, 3, 0.9),
        marks=shares("mark", 1, 3, 0.3),
    )


class _Counts:
    def __init__(self) -> None:
        self.groups: dict[str, Counter[str]] = {
            name: Counter() for name in ("register", "ending", "length", "word", "mark")
        }
        self.sentences = self.lines = 0


def _counted(lines: Iterable[str]) -> _Counts:
    counts = _Counts()
    for line in lines:
        counts.lines += 1
        for sentence in sentences_of(line):
            counts.sentences += 1
            counts.groups["register"][register(sentence)] += 1
            end = ending(sentence)
            for size in range(1, len(end) + 1):
                counts.groups["ending"][end[-size:]] += 1
            counts.groups["length"][_length(sentence)] += 1
        counts.groups["word"].update(set(words_of(line)))
        counts.groups["mark"].update(mark for mark in _MARKS if mark in line)
    return counts
