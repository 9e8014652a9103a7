"""Learns a voice from a character's sample lines; `naisei director characters learn`.

The result is an editable table with its error rates, from cross-validation.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from naisei.core import InputError
from naisei.director.character import load_character, profile_text, shipped
from naisei.director.voice import (
    MARKS,
    Traits,
    Voice,
    VoiceMeter,
    ending,
    length_of,
    register,
    sentences_of,
    words_of,
)
from naisei.files import write_atomically
from naisei.japanese.folding import fold, mask
from naisei.lang import say
from naisei.transcripts import read_transcripts

#: Minimum number of lines to learn from.
LEAST = 20


def learn(own: Sequence[str], others: Sequence[str]) -> Voice:
    """Learn a voice from the character's and other people's lines, with its error rates.

    The thresholds come from tenfold cross-validation over the own lines: at most 4 % of them are
    below `warn_below` and 0.5 % below `retry_below`.

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
    """The editable `[voice]` table of a profile."""
    dumped = voice.model_dump(by_alias=True)
    head = {k: v for k, v in dumped.items() if not isinstance(v, dict)}
    rows = ["[voice]", *(f"{key} = {value}" for key, value in head.items())]
    for name, note in _TABLES.items():
        shares = sorted(dumped[name].items(), key=lambda item: item[1][1] - item[1][0])
        rows += ["", f"# {note}", f"[voice.{name}]"]
        rows += [f"{json.dumps(k, ensure_ascii=False)} = [{a}, {b}]" for k, (a, b) in shares]
    return "\n".join(rows) + "\n"


def with_voice(profile: str, voice: Voice) -> str:
    """The text of a profile with the voice added; an existing `[voice]` is replaced."""
    head = _VOICE.sub("", profile).rstrip()
    return f"{head}\n\n{voice_toml(voice)}" if head else voice_toml(voice)


#: The tables of a voice, with the comments directly above them.
_VOICE = re.compile(r"(?m)(?:^#[^\n]*\n)*^\[voice[\].](?:(?!^\[(?!voice))[\s\S])*")


def card(own: Sequence[str], others: Mapping[str, Sequence[str]], voice: Voice) -> list[str]:
    """A voice's data card: cross-validated rates, confusion, atypical lines."""
    from naisei.runs.statistics import wilson_interval  # this imports numpy

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


#: Number of atypical lines shown.
_STRANGE = 10
#: Comment above each table in the file.
_TABLES = {
    "register": "文末の丁寧さ: [本人の文での割合, ほかの人の文での割合]",
    "endings": "文末のかな",
    "lengths": "文の長さ (short は 8 字まで、middle は 20 字まで)",
    "words": "言葉と呼び方: [本人の発言での割合, ほかの人の発言での割合]",
    "marks": "記号",
}


def samples(character: str) -> tuple[str, ...]:
    """The bundled sample lines of a shipped character; none for others."""
    return tuple(line for _, line in exchanges(character))


def exchanges(character: str) -> tuple[tuple[str, str], ...]:
    """The sample lines, each after the partner's previous line or ""."""
    text = (files("naisei.data") / "director_samples" / "lines.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(row) for row in text.splitlines()]
    own = (r for r in rows if r["character"] == character and r["kind"] in _FINE)
    return tuple((r["partner_line"], r["line"]) for r in own)


#: Kinds of bundled lines that are in character.
_FINE = frozenset({"sample", "value", "home", "negative"})


def _rate(weights: Sequence[float], below: float) -> float:
    return round(sum(w < below for w in weights) / len(weights), 3)


def _left_out(lines: Sequence[str], fixed: Sequence[str], *, swapped: bool = False) -> list[float]:
    """Weights of the lines by tenfold cross-validation."""
    folds = min(10, len(lines))
    weights = []
    for n in range(folds):
        rest = [line for i, line in enumerate(lines) if i % folds != n]
        meter = VoiceMeter(_learnt(fixed, rest) if swapped else _learnt(rest, fixed))
        weights += [meter.weigh(line) for line in lines[n::folds]]
    return weights


def strange(lines: Sequence[str], others: Sequence[str], voice: Voice) -> list[tuple[int, float]]:
    """(index in `lines`, weight) of the own lines below WARN in cross-validation, lowest weight
    first."""
    mine, theirs = [_masked(t) for t in lines], [_masked(t) for t in others]
    folds = min(10, len(mine))
    found = zip(
        [i for n in range(folds) for i in range(n, len(mine), folds)],
        _left_out(mine, theirs),
        strict=True,
    )
    return sorted(((i, w) for i, w in found if w < voice.warn_below), key=lambda item: item[1])


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
            counts.groups["length"][length_of(sentence)] += 1
        counts.groups["word"].update(set(words_of(line)))
        counts.groups["mark"].update(mark for mark in MARKS if mark in line)
    return counts


def learn_voice(lines: Path, character: str | None, out: Path | None) -> None:
    """`naisei director characters learn`: write the profile with its `[voice]`, and print its
    card."""
    profile = load_character(character) if character else None
    own = _lines(lines, profile.names if profile else ())
    mine = profile.id if profile else ""
    others = {c.id: list(samples(c.id)) for c in shipped() if c.id != mine}
    try:
        voice = learn(own, [line for rows in others.values() for line in rows])
    except InputError as error:
        raise InputError(error.message, place=str(lines), remedy=error.remedy) from None
    text = with_voice(profile_text(character) if character else "", voice)
    for row in card(own, others, voice):
        print(row, file=sys.stderr)
    if len(own) < 2 * LEAST:
        note = say(
            "注意: 見本が少ないので、率の幅は広くなります", "note: few samples, wide intervals"
        )
        print(note, file=sys.stderr)
    if out is None:
        sys.stdout.write(text)
        return
    write_atomically(out, text)
    print(out)


def _lines(path: Path, names: Collection[str] = ()) -> list[str]:
    """The lines of a file: one per row, or the lines by one of `names` in a conversation.

    Raises:
        InputError: the format is unknown, or none of several speakers is in `names`.
    """
    turns = [turn for one in read_transcripts(path, nameless=True) for turn in one.turns]
    speakers = list(dict.fromkeys(turn.speaker for turn in turns))
    if len(speakers) > 1 and not set(speakers) & set(names):
        raise InputError(
            say(
                f"誰の発言を学ぶかわかりません: {'、'.join(speakers[:8])}",
                f"several speak; choose one of {', '.join(speakers[:8])}",
            ),
            place=str(path),
            remedy=say(
                "--character でその人物のプロファイルを指定するか、一人だけのファイルにします",
                "give the profile of one by --character, or a file with the lines of one",
            ),
        )
    return [t.text for t in turns if len(speakers) < 2 or t.speaker in names]
