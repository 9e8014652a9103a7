"""Learnt scores of a line: separate homes, wrong seniority, praise of the hearer, double negation.

Each fault has one linear score. Three of them split a line into word pieces. A piece counts by its
vector (`fast_embedder`), so that an unseen word counts like similar words; pieces and pairs from
the training lines also have weights of their own. A double negation does not depend on words: its
score uses character n-grams and the order of negated and plain clauses. Names are replaced by their
roles, and brothers by sisters, so that the weights generalise to other pairs. Weights and
evaluation: `naisei/data/fault_weights`, created by `tools/fault_weights.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import pairwise, repeat
from operator import add

from naisei.director.wording.matter import (
    FAULTS,
    NOT,
    PARTNER,
    SELF,
    SIGNS,
    Fault,
    about,
    names_hearer,
    without_phrases,
)
from naisei.japanese.folding import FILLER
from naisei.plugins import needs_extra

#: Total weight of a line's counted features, by kind.
PIECE_SHARE, CLAUSE_SHARE = 3.0, 4.0
#: See `unnamed`.
UNNAMED = 2.5
#: Added to the number of a line's features, so that one feature does not decide a short line.
_STEADY = 4
#: Minimum number of characters of sentences to score together.
_STRETCH = 30


@lru_cache(maxsize=64)
def _called(names: tuple[str, ...]) -> re.Pattern[str]:
    """Matches vocatives of the partner's name, which make no claim."""
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"
    return re.compile(
        rf"(?:(?<=[。！？…、\s])|\A)(?:{known})(?:さん|様|ちゃん)?[〜ー]?(?:、|(?=[。！？…\s])|\Z)"
    )


def normalised(masked: str, own: tuple[str, ...], partner: tuple[str, ...]) -> str:
    """Remove masked quotations and vocatives from a folded line; unify names and kinship terms."""
    if FILLER in masked:
        masked = masked.replace(FILLER, "")
    if any(name in masked for name in partner):
        masked = _called(partner).sub("", masked)
    # Collapse repeated text.
    if len(set(zip(masked, masked[1:], masked[2:], strict=False))) < len(masked) - 2:
        masked = _TWICE.sub(r"\1", masked)
    for names, sign in ((partner, PARTNER), (own, SELF)):
        for name in names:  # the longest first
            masked = masked.replace(name, sign)
    for old, new in _ALIKE:
        masked = masked.replace(old, new)
    return masked


_TWICE = re.compile(r"(.{3,12}?)[、。！]?\1")
#: Other people's sisters become 人; brothers become sisters, and all first persons 私.
_ALIKE = (
    ("兄", "姉"),
    ("弟", "妹"),
    ("のお姉さん", "の人"),
    ("あたし", "私"),
    ("わたし", "私"),
    ("俺", "私"),
    ("僕", "私"),
)


class Cutter:
    """Cuts a text into the longest known pieces from the left; unknown parts into characters."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        sizes: dict[str, set[int]] = {}
        for piece in self._known:
            sizes.setdefault(piece[:2], set()).add(len(piece))
        self._sizes = {start: sorted(found, reverse=True) for start, found in sizes.items()}

    def __call__(self, text: str) -> list[str]:
        known, sizes = self._known, self._sizes
        found, at, end = [], 0, len(text)
        while at < end:
            for size in sizes.get(text[at : at + 2], ()):
                piece = text[at : at + size]
                if piece in known:
                    break
            else:
                piece = text[at]
            found.append(piece)
            at += len(piece)
        return found


def pairs(cut: Sequence[str]) -> set[str]:
    """The pieces of a line, and the pairs of adjacent pieces."""
    return {*cut, *map(add, cut, cut[1:])}


_JOINT = re.compile(
    r"(ので|から|ため|のに|けれど|けど|が、|なら|たら|れば|けりゃ|なきゃ|ないと|(?<=[るいたすくむ])と(?=[^いか言思])"
    r"|ても|でも|ように|わけ|こと|もの|はず|とは|以上|うちに|し、|て、|で、|、|。|！|？|…)"
)
_ASKED = re.compile(r"ください|なさい|て(?:ね|よ|！|。)|ましょう|しよ|よう|べき|方が|ほうが")
_DENYING_JOINTS = frozenset({"なきゃ", "ないと", "けりゃ"})
_RUNS = (2, 3, 4)


def shapes(text: str) -> set[str]:
    """Character n-grams, and the sequence of clauses: plain (P), negated (N) or requested (!), with
    their joining words. A set phrase (「なければならない」) does not negate."""
    text = without_phrases(text)
    found = {text[i : i + n] for n in _RUNS for i in range(len(text) - n + 1)}
    parts = _JOINT.split(text)
    total, before = 0, ""
    for clause, joint in zip(parts[::2], [*parts[1::2], ""], strict=True):
        count = len(NOT.findall(clause + joint if joint in _DENYING_JOINTS else clause))
        total += count
        kind = "P" if not count else "N" if count == 1 else "NN"
        if _ASKED.search(clause + joint):
            kind += "!"
        joined = kind + ("|" if joint in "。！？…" else joint)
        found.add(f"\t{joined}")
        if before:
            found |= {f"\t{before}\t{kind}", f"\t{before}\t{joined}"}
        before = joined
    found.add(f"\t{min(total, 4)}")
    stems = [match[0][:2] for match in NOT.finditer(text)]
    return found | {f"\t{a}\t\t{b}" for a, b in pairwise(stems)}


def share(weight: float, count: int) -> float:
    """The factor for each of a line's `count` features."""
    found: float = weight / (count + _STEADY) ** 0.5
    return found


#: Bits per number when a table row is packed into one integer, so that one addition sums two rows.
_BITS, _MASK, _ZERO = 32, (1 << 32) - 1, 128
#: Scale of squared lengths, half-precision numbers below 2, as integers.
_SQUARED = 1 << 15


def packed(row: Sequence[int], squared: float = 0.0) -> int:
    """Pack 1, each number (-127 to 127, shifted above zero) and a squared length."""
    found = int(squared * _SQUARED)
    for number in reversed(row):
        found = found << _BITS | (number + _ZERO)
    return found << _BITS | 1


def unpacked(total: int, at: int) -> int:
    """The sum of the numbers at position `at` over all added rows."""
    return (total >> _BITS * (at + 1) & _MASK) - _ZERO * (total & _MASK)


@dataclass(frozen=True, slots=True)
class _Weights:
    """piece, pair: packed weights for the word faults, with a piece's squared length; piece_scale,
    pair_scale: their scales. shape: weights for negation. bias, cut, sure: per fault; a score from
    `cut` on is a fault, from `sure` on a certain one."""

    cut_up: Cutter
    piece: dict[str, int]
    pair: dict[str, int]
    piece_scale: list[float]
    pair_scale: list[float]
    shape: dict[str, float]
    bias: dict[Fault, float]
    cut: dict[Fault, float]
    sure: dict[Fault, float]


@cache
def _weights() -> _Weights:
    with needs_extra():
        import numpy as np

    with as_file(files("naisei") / "data" / "fault_weights" / "weights.npz") as path:
        kept = np.load(path)
        told = {name: kept[name] for name in kept.files}

    def words(name: str) -> list[str]:
        found: list[str] = told[name].tobytes().decode("utf-8").split("\n")
        return found

    squared = told["squared"].astype(np.float64).tolist()
    rows = map(packed, told["by_piece"].tolist(), squared)
    pieces = dict(zip(words("pieces"), rows, strict=True))
    shapes = (told["by_shape"] * told["by_shape_scale"])[:, 0].tolist()
    return _Weights(
        Cutter(pieces),
        pieces,
        dict(zip(words("pairs"), map(packed, told["by_pair"].tolist()), strict=True)),
        told["by_piece_scale"].tolist(),
        told["by_pair_scale"].tolist(),
        dict(zip(words("shapes"), shapes, strict=True)),
        dict(zip(FAULTS, told["bias"].tolist(), strict=True)),
        dict(zip(FAULTS, told["cut"].tolist(), strict=True)),
        dict(zip(FAULTS, told["sure"].tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True)
class LearntFault:
    """A fault in a line. start, end: span of its sentences. sure: whether it is certain."""

    start: int
    end: int
    sure: bool


class LearntFaults:
    """Finds faults in lines of one speaker to one partner.

    own, partner: names of each. wanted: the faults that contradict the profile.
    """

    def __init__(
        self, own: tuple[str, ...], partner: tuple[str, ...], wanted: Collection[Fault]
    ) -> None:
        self._own, self._partner = _longest_first(own), _longest_first(partner)
        self._wanted = [(f, re.compile(self._sign(f)).search) for f in FAULTS if f in wanted]

    def _sign(self, fault: Fault) -> str:
        """The fault's pre-check with placeholders replaced by names. A name is not a kinship term
        (姉様)."""
        own, partner = ("|".join(map(re.escape, names)) for names in (self._own, self._partner))
        sign = SIGNS[fault].replace(PARTNER, f"(?:{partner})").replace(SELF, own)
        sign = sign.replace("私", "私|わたし|あたし|俺|僕")
        return sign.replace("[姉兄妹弟]", f"(?!{partner})[姉兄妹弟]") if partner else sign

    def find(self, masked: str, sentences: Sequence[tuple[int, int]]) -> dict[Fault, LearntFault]:
        """Each fault in the line, with its highest-scoring span.

        masked: the folded line, quotations masked. sentences: spans in it.
        """
        wanted = [(fault, signed) for fault, signed in self._wanted if signed(masked)]
        if not wanted:
            return {}
        weights = _weights()
        best: dict[Fault, tuple[float, int, int]] = {}
        for start, end in stretches(sentences):
            here = [fault for fault, signed in wanted if signed(masked, start, end)]
            if not here:
                continue
            same = normalised(masked[start:end], self._own, self._partner)
            for fault in here:
                if text := about(fault, same):
                    score = scored(fault, text)
                    if score >= weights.cut[fault] and score > best.get(fault, (-1e9,))[0]:
                        best[fault] = (score, start, end)
        return {
            f: LearntFault(at, to, score >= weights.sure[f]) for f, (score, at, to) in best.items()
        }


def _longest_first(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=len, reverse=True))


def scored(fault: Fault, said: str) -> float:
    """Evidence for a fault in a text as returned by `about`."""
    if fault == "negation":
        return _turned(said)
    return _worded(said, FAULTS.index(fault)) - unnamed(fault, said)


def unnamed(fault: Fault, said: str) -> float:
    """Discount for praise without a named person, which mostly praises things."""
    return 0.0 if fault != "praise" or names_hearer(said) else UNNAMED


@lru_cache(maxsize=8)
def _counts(text: str) -> tuple[int, int]:
    """The summed rows of a text's pieces, and of its pieces and pairs known from training."""
    weights = _weights()
    cut = weights.cut_up(text)
    pieces = sum(map(weights.piece.get, cut, repeat(0)))
    return pieces, sum(map(weights.pair.get, pairs(cut), repeat(0)))


def _worded(text: str, n: int) -> float:
    weights = _weights()
    pieces, met = _counts(text)
    length = ((pieces >> _BITS * len(FAULTS)) / _SQUARED) ** 0.5 or 1.0
    by_piece = unpacked(pieces, n) * weights.piece_scale[n] / length
    by_pair = unpacked(met, n) * weights.pair_scale[n] * share(PIECE_SHARE, met & _MASK)
    return weights.bias[FAULTS[n]] + by_piece + by_pair


def _turned(text: str) -> float:
    weights = _weights()
    found = weights.shape.keys() & shapes(text)
    # Summed exactly, in any order.
    counted = math.fsum(map(weights.shape.__getitem__, found))
    return weights.bias["negation"] + share(CLAUSE_SHARE, len(found)) * counted


def stretches(sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of sentences to score together: short ones are grouped."""
    first = last = -1
    for start, end in sentences:
        if first >= 0 and last - first >= _STRETCH:
            yield first, last
            first = -1
        first, last = start if first < 0 else first, end
    if first >= 0:
        yield first, last
