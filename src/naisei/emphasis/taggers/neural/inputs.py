"""Articles as inputs of a network: subwords, and batches of them."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.schemas import Article, Sentence
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.japanese.morph import words
from naisei.models.embedders.onnx import Packed

#: Stands for a space within pieces.
SPACE = "▁"
#: Kana, kana extensions, ideographs with their extensions, and marks of Japanese typography.
_RANGES = (
    (0x3000, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF), (0x20000, 0x323AF),
)  # fmt: skip


def japanese_pieces(pieces: Sequence[str], special: Sequence[int]) -> NDArray[np.int64]:
    """Numbers of the pieces written in kana, ideographs, ASCII, digits, marks and symbols only,
    and of the special ones, in order.

    A text of such characters is cut into the same pieces as with the whole vocabulary, since no
    other piece ever fits it.
    """
    kept = {
        number
        for number, piece in enumerate(pieces)
        if piece and all(_written(character) for character in piece)
    }
    return np.array(sorted(kept | set(special)), np.int64)


def _written(character: str) -> bool:
    code = ord(character)
    if character == SPACE or code < 0x80 or any(a <= code <= b for a, b in _RANGES):
        return True
    return unicodedata.category(character)[0] in "PSNZ"


#: Stands in for a character while the others are normalised.
_SHIELD = "\ue000"


def unigram(packed: Packed, kept: NDArray[np.int64]) -> Any:
    """A `tokenizers.Tokenizer` over the kept pieces, numbered anew in their order.

    Normalisation is NFKC, with spaces folded and control characters dropped, and `～` kept as
    the packed map has it. The map knows single characters only; here `ｶﾞ` becomes `ガ`, as with
    the original tokenizer.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    number = {int(old): new for new, old in enumerate(kept)}
    vocabulary = [(packed.pieces[i], float(packed.scores[i])) for i in kept.tolist()]
    out = Tokenizer(models.Unigram(vocabulary, number[packed.unk], False))
    dropped = _class(c for c, to in packed.normalised.items() if not to)
    spaced = _class(
        c
        for c, to in packed.normalised.items()
        if to == " " and unicodedata.normalize("NFKC", c) != " "
    )
    steps: list[Any] = []
    for characters, to in ((spaced, " "), (dropped, "")):
        steps += [normalizers.Replace(Regex(f"[{characters}]"), to)] if characters else []
    if packed.normalised.get("～", "～") == "～":
        shielded = normalizers.Replace("～", _SHIELD), normalizers.Replace(_SHIELD, "～")
        steps += [shielded[0], normalizers.NFKC(), shielded[1]]
    else:
        steps.append(normalizers.NFKC())
    out.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    out.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    out.decoder = decoders.Metaspace(prepend_scheme="always")
    out.add_special_tokens([packed.pieces[i] for i in (packed.bos, packed.pad, packed.eos)])
    return out


def _class(characters: Any) -> str:
    """For a regular expression's brackets."""
    return "".join(f"\\x{{{ord(c):04X}}}" for c in sorted(characters))


class PythonTokenizer:
    """A tokenizer of `transformers` that is not of the library `tokenizers`."""

    def __init__(self, texts: Any) -> None:
        self._texts = texts

    def encode(self, text: str, *, add_special_tokens: bool) -> PythonTokenizer:
        """The numbers are then in `ids`."""
        self.ids: list[int] = self._texts.encode(text, add_special_tokens=add_special_tokens)
        return self


class Subwords:
    """first, between, pad, unknown: numbers of [CLS], [SEP], [PAD] and of what has no piece."""

    def __init__(self, tokenizer: Any, *, first: int, between: int, pad: int, unknown: int) -> None:
        self.first, self.between, self.pad, self.unknown = first, between, pad, unknown
        if not isinstance(tokenizer, PythonTokenizer):
            tokenizer.no_truncation()
            tokenizer.no_padding()
        self.tokenizer = tokenizer
        self._unigram = type(getattr(tokenizer, "model", None)).__name__ == "Unigram"
        self._space = tokenizer.token_to_id(SPACE) if self._unigram else None
        self._known: dict[tuple[str, bool], tuple[int, ...]] = {}

    def cut(self, word: str, *, after_space: bool = False) -> tuple[int, ...]:
        """The pieces of one word, at least one.

        after_space: white space, or the start of the text, is before it. A Unigram model writes
        that into the piece; Japanese words mostly follow on each other without.
        """
        key = word, after_space
        if (known := self._known.get(key)) is None:
            known = self._known[key] = tuple(self._cut(word, after_space)) or (self.unknown,)
        return known

    def decides(self, pieces: tuple[int, ...]) -> int:
        """Which of a word's pieces stands for it: the first (thesis, §4.3.3), or the second
        where the first is but the space before the word."""
        return int(len(pieces) > 1 and pieces[0] == self._space)

    def text(self, text: str) -> list[int]:
        """The pieces of a whole text, without special ones."""
        found: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def _cut(self, word: str, after_space: bool) -> list[int]:
        if not self._unigram:
            return self.text(word)
        normal = self.tokenizer.normalizer
        clean = (normal.normalize_str(word) if normal else word).strip(" ")
        if not clean:
            return []
        clean = (SPACE if after_space else "") + clean.replace(" ", SPACE)
        return [piece.id for piece in self.tokenizer.model.tokenize(clean)]


#: A title takes at most this share of an input.
_TITLE = 0.25
_LONGEST_TITLE = 300  # characters


@dataclass(frozen=True, slots=True)
class Input:
    """One input: `[CLS] words [SEP]`, or `[CLS] words [SEP] title [SEP]`.

    pieces: subwords of each unit of it: a special token, or a word. leads, labels, counted: of
    the words, which are the units from number 1 on; a lead is the number of the piece that
    stands for the word. places: for each word, the number of its sentence in the article and
    its own in the sentence.
    """

    pieces: tuple[tuple[int, ...], ...]
    leads: tuple[int, ...]
    labels: tuple[bool, ...]
    counted: tuple[bool, ...]
    places: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """Subwords."""
        return sum(map(len, self.pieces))

    @property
    def emphasised(self) -> bool:
        return any(self.labels)


def inputs_of(article: Article, subwords: Subwords, *, title: bool, limit: int) -> list[Input]:
    """The inputs that an article is read as, one a sentence; one that does not fit is read in
    parts. Each word is in one of them. limit: of subwords, the special ones too.
    """
    after: list[tuple[int, ...]] = [(subwords.between,)]
    if title:
        after += [*_title(article.title, subwords, int(limit * _TITLE)), (subwords.between,)]
    room = max(8, limit - 1 - sum(map(len, after)))
    first = (subwords.first,)
    return [
        Input(
            (first, *row.pieces, *after),
            tuple(map(subwords.decides, row.pieces)),
            row.labels,
            row.counted,
            row.places,
        )
        for number, sentence in enumerate(article.sentences)
        for row in _parts(number, sentence, subwords, room)
    ]


@dataclass(frozen=True, slots=True)
class _Row:
    pieces: tuple[tuple[int, ...], ...]
    labels: tuple[bool, ...]
    counted: tuple[bool, ...]
    places: tuple[tuple[int, int], ...]


def _parts(number: int, sentence: Sentence, subwords: Subwords, room: int) -> Iterator[_Row]:
    start, size, end = 0, 0, -1
    cut: list[tuple[int, ...]] = []
    for index, token in enumerate(sentence.tokens):
        # A word longer than the whole input is read as far as it goes.
        pieces = subwords.cut(token.surface, after_space=token.start != end)[:room]
        end = token.end
        if cut and size + len(pieces) > room:
            yield _row(number, sentence, start, cut)
            start, size, cut = index, 0, []
        cut.append(pieces)
        size += len(pieces)
    if cut:
        yield _row(number, sentence, start, cut)


def _row(number: int, sentence: Sentence, start: int, cut: list[tuple[int, ...]]) -> _Row:
    stop = start + len(cut)
    return _Row(
        tuple(cut),
        sentence.labels[start:stop],
        sentence.counted[start:stop],
        tuple((number, index) for index in range(start, stop)),
    )


def _title(title: str, subwords: Subwords, room: int) -> list[tuple[int, ...]]:
    out: list[tuple[int, ...]] = []
    end = -1
    for word in words(title[:_LONGEST_TITLE]):
        pieces = subwords.cut(word.surface, after_space=word.start != end)
        end = word.end
        room -= len(pieces)
        if room < 0:
            break
        out.append(pieces)
    return out


#: Batches whose inputs are sorted by length together: enough that little is padded.
_POOL = 32


@dataclass(frozen=True, slots=True)
class Batch:
    """Torch tensors of B inputs of at most T subwords, U units and W words.

    ids, attended: (B, T). unit_of: (B, T), the unit of each subword, U for padding. firsts:
    (B, W), where the subword is that stands for each word. labels, counted: (B, W).
    words, units: (B,).
    """

    ids: Any
    attended: Any
    unit_of: Any
    firsts: Any
    labels: Any
    counted: Any
    words: Any
    units: Any


def tensors(inputs: Sequence[Input], *, pad: int, device: str) -> Batch:
    """A batch on a device."""
    import torch

    rows = len(inputs)
    most = max(each.size for each in inputs)
    units = max(len(each.pieces) for each in inputs)
    words = max(1, *(len(each.labels) for each in inputs))
    ids = np.full((rows, most), pad, np.int64)
    unit_of = np.full((rows, most), units, np.int64)
    firsts = np.zeros((rows, words), np.int64)
    labels, counted = np.zeros((rows, words), np.int64), np.zeros((rows, words), bool)
    for row, each in enumerate(inputs):
        own = [piece for unit in each.pieces for piece in unit]
        lengths = [len(unit) for unit in each.pieces]
        n = len(each.labels)
        ids[row, : len(own)] = own
        unit_of[row, : len(own)] = np.repeat(np.arange(len(lengths)), lengths)
        firsts[row, :n] = (np.cumsum(lengths) - lengths)[1 : n + 1] + each.leads
        labels[row, :n], counted[row, :n] = each.labels, each.counted
    to = [torch.from_numpy(a).to(device) for a in (ids, unit_of, firsts, labels)]
    sizes = torch.tensor([each.size for each in inputs], device=device)
    attended = torch.arange(most, device=device)[None, :] < sizes[:, None]
    return Batch(
        to[0], attended, to[1], to[2], to[3],
        torch.from_numpy(counted).to(device),
        torch.tensor([len(each.labels) for each in inputs], device=device),
        torch.tensor([len(each.pieces) for each in inputs], device=device),
    )  # fmt: skip


def epoch_of(inputs: Sequence[Input], plan: NeuralPlan, seed: int, epoch: int) -> list[list[int]]:
    """Batches of an epoch, as numbers of inputs: the same for the same seed. Inputs without
    emphasis are drawn anew each time (`plan.plain`); inputs of like length lie together."""
    rng = random.Random(f"{seed}/{epoch}")
    drawn = [
        number
        for number, each in enumerate(inputs)
        if each.emphasised or plan.plain >= 1 or rng.random() < plan.plain
    ]
    rng.shuffle(drawn)
    out: list[list[int]] = []
    for start in range(0, len(drawn), _POOL * plan.batch):
        pool = drawn[start : start + _POOL * plan.batch]
        pool.sort(key=lambda number: inputs[number].size)
        made = [pool[i : i + plan.batch] for i in range(0, len(pool), plan.batch)]
        rng.shuffle(made)
        out += made
    return out


def batches_by_length(inputs: Sequence[Input], *, subwords: int = 4096) -> list[list[int]]:
    """Numbers of inputs to be tagged at once, of like length, with at most so many subwords
    with their padding, or a single input."""
    out: list[list[int]] = []
    for number in sorted(range(len(inputs)), key=lambda i: (inputs[i].size, i)):
        if not out or (len(out[-1]) + 1) * inputs[number].size > subwords:
            out.append([])
        out[-1].append(number)
    return out
