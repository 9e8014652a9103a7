"""Learnt scores of a line: a life apart, the wrong elder, praise of the hearer, turned negation.

Each fault has one linear score. Three of them read a line as word pieces: a piece counts by
its vector (`fast_embedder`), so that a word that was in no training line counts as its like
do, and pieces and pairs that the training lines held count once more by themselves. A turned
negation is no matter of words: its score reads runs of characters and the order of negated
and plain clauses. Names are replaced by who bears them, and brothers by sisters, so that what
was learnt of one pair holds for others. The weights and how well they do:
`naisei/data/fault_weights`; they are made by `tools/fault_weights.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise
from typing import Literal

from naisei.director.wording.negation import SET_PHRASES

#: `home`: the two live apart. `younger`, `elder`: the speaker is the younger, the elder one.
Fault = Literal["home", "younger", "elder", "praise", "negation"]
FAULTS: tuple[Fault, ...] = ("home", "younger", "elder", "praise", "negation")
#: What stands for the partner and for the speaker; characters of no text.
_PARTNER, _SELF = "\ue001", "\ue002"
#: How much all counted features of a line weigh together, by their kind.
PIECE_SHARE, CLAUSE_SHARE = 3.0, 4.0
#: Added to the number of a line's features: a short line shall not decide by one of them.
_STEADY = 4
#: Characters of a stretch of a long line that is scored by itself.
_STRETCH = 160


def normalised(masked: str, own: Collection[str], partner: Collection[str]) -> str:
    """A folded line with quotations masked, names and kinship made alike."""
    for names, sign in ((partner, _PARTNER), (own, _SELF)):
        for name in sorted(names, key=len, reverse=True):
            masked = masked.replace(name, sign)
    return _ME.sub("私", masked.replace("兄", "姉").replace("弟", "妹"))


_ME = re.compile("あたし|わたし|[俺僕]")


class Cutter:
    """Cuts a text into the longest known pieces from the left; what is unknown by characters."""

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
    """The pieces of a line, and its pairs of neighbours."""
    return {*cut, *(f"{a}\t{b}" for a, b in pairwise(cut))}


_NOT = re.compile(
    r"な[いくきけ]|なかっ|ません|ませ[ずぬ]|ず(?:に|、)|ねえ|ねー|んで(?:ください|ね|よ)"
    r"|禁止|だめ|ダメ|無理|嫌い?|[不未無][\u3400-\u9fff]|違[うい]"
)
#: Finds nothing in a line that denies nothing, whose negations need no look.
denies = re.compile(
    _NOT.pattern + r"|しか|決して|二度と|絶対|まったく|全然|一切|べき|のに|禁|やめ|ず"
).search
_JOINT = re.compile(
    r"(ので|から|ため|のに|けれど|けど|が、|なら|たら|れば|けりゃ|なきゃ|ないと|(?<=[るいたすくむ])と(?=[^いか言思])"
    r"|ても|でも|ように|わけ|こと|もの|はず|とは|以上|うちに|し、|て、|で、|、|。|！|？|…)"
)
_ASKED = re.compile(r"ください|なさい|て(?:ね|よ|！|。)|ましょう|しよ|よう|べき|方が|ほうが")
_DENYING_JOINTS = frozenset({"なきゃ", "ないと", "けりゃ"})
_RUNS = (2, 3, 4)


def shapes(text: str) -> set[str]:
    """Runs of characters, and how clauses follow: plain (P), negated (N), asked for (!), and
    by which word they are joined. A set phrase (「なければならない」) denies nothing."""
    text = SET_PHRASES.sub("〓", text)
    found = {text[i : i + n] for n in _RUNS for i in range(len(text) - n + 1)}
    parts = _JOINT.split(text)
    total, before = 0, ""
    for clause, joint in zip(parts[::2], [*parts[1::2], ""], strict=True):
        count = len(_NOT.findall(clause + joint if joint in _DENYING_JOINTS else clause))
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
    stems = [match[0][:2] for match in _NOT.finditer(text)]
    return found | {f"\t{a}\t\t{b}" for a, b in pairwise(stems)}


def share(weight: float, count: int) -> float:
    """What one of `count` features of a line weighs."""
    found: float = weight / (count + _STEADY) ** 0.5
    return found


#: What a feature adds to each fault that reads it.
Table = dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class _Weights:
    """piece: of each, its vector's squared length and what it adds to the faults of words. pair,
    shape: what these add. bias, cut: of each fault."""

    cut_up: Cutter
    piece: Table
    pair: Table
    shape: dict[str, float]
    bias: dict[Fault, float]
    cut: dict[Fault, float]


@cache
def _weights() -> _Weights:
    import numpy as np

    with as_file(files("naisei") / "data" / "fault_weights" / "weights.npz") as path:
        kept = np.load(path)
        told = {name: kept[name] for name in kept.files}

    def words(name: str) -> list[str]:
        found: list[str] = told[name].tobytes().decode("utf-8").split("\n")
        return found

    def rows(name: str) -> list[list[float]]:
        table: list[list[float]] = (told[name] * told[f"{name}_scale"]).tolist()
        return table

    squared = told["squared"].astype(np.float64).tolist()
    by_piece = zip(squared, rows("by_piece"), strict=True)
    pieces = {w: (n, *row) for w, (n, row) in zip(words("pieces"), by_piece, strict=True)}
    return _Weights(
        Cutter(pieces),
        pieces,
        {w: tuple(row) for w, row in zip(words("pairs"), rows("by_pair"), strict=True)},
        {w: row[0] for w, row in zip(words("shapes"), rows("by_shape"), strict=True)},
        dict(zip(FAULTS, told["bias"].tolist(), strict=True)),
        dict(zip(FAULTS, told["cut"].tolist(), strict=True)),
    )


class LearntFaults:
    """The faults that a line of one speaker to one partner holds.

    own, partner: names of each. wanted: the faults that contradict what is known of the two.
    """

    def __init__(
        self, own: Collection[str], partner: Collection[str], wanted: Collection[Fault]
    ) -> None:
        self._own, self._partner = own, partner
        self._worded = [f for f in FAULTS[:-1] if f in wanted]
        self._negation = "negation" in wanted

    def find(
        self, masked: str, sentences: Sequence[tuple[int, int]]
    ) -> dict[Fault, tuple[int, int]]:
        """Of each fault that is found, the span of the sentence that speaks most for it.

        masked: the folded line, quotations masked. sentences: their spans in it.
        """
        found: dict[Fault, tuple[int, int]] = {}
        for first, last in _stretches(len(masked), sentences):
            for fault in self._over(masked[first:last]):
                if fault not in found:
                    inside = [s for s in sentences if first <= s[0] < last] or [(first, last)]
                    found[fault] = max(inside, key=lambda s: self._score(masked[slice(*s)], fault))
        return found

    def _over(self, text: str) -> list[Fault]:
        weights = _weights()
        same = normalised(text, self._own, self._partner)
        found: list[Fault] = []
        if self._worded:
            scores = _by_words(same, self._worded, weights)
            found = [f for f, s in zip(self._worded, scores, strict=True) if s >= weights.cut[f]]
        if self._negation and denies(same) and _by_shapes(same, weights) >= weights.cut["negation"]:
            found.append("negation")
        return found

    def _score(self, text: str, fault: Fault) -> float:
        same = normalised(text, self._own, self._partner)
        if fault == "negation":
            return _by_shapes(same, _weights())
        return _by_words(same, [fault], _weights())[0]


def _by_words(text: str, faults: Sequence[Fault], weights: _Weights) -> list[float]:
    cut = weights.cut_up(text)
    known, counted = weights.piece, weights.pair
    rows = [known[piece] for piece in cut if piece in known]
    length = sum(row[0] for row in rows) ** 0.5 or 1.0
    more = [counted[pair] for pair in counted.keys() & pairs(cut)]
    each = share(PIECE_SHARE, len(more))
    found = []
    for fault in faults:
        at = FAULTS.index(fault)
        vector = sum([row[at + 1] for row in rows]) / length
        found.append(weights.bias[fault] + vector + each * sum([row[at] for row in more]))
    return found


def _by_shapes(text: str, weights: _Weights) -> float:
    known = weights.shape
    met = known.keys() & shapes(text)
    return weights.bias["negation"] + share(CLAUSE_SHARE, len(met)) * sum([known[s] for s in met])


def _stretches(size: int, sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The whole of a line, or of a long one as many sentences at a time as are short enough."""
    if size <= _STRETCH or not sentences:
        yield 0, size
        return
    first = sentences[0][0]
    last = first
    for start, end in sentences:
        if end - first > _STRETCH and last > first:
            yield first, last
            first = start
        last = end
    yield first, last


def counted(lines: Sequence[set[str]], least: int, most: float) -> list[str]:
    """Features of at least so many lines, and of at most such a share of them, sorted."""
    seen = Counter(feature for line in lines for feature in line)
    return sorted(f for f, n in seen.items() if least <= n < most * len(lines) and "\n" not in f)
