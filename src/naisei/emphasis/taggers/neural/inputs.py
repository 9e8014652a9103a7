"""Articles as inputs of a network: subwords, and where each word begins."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from naisei.emphasis.encoders.subwords import Subwords
from naisei.emphasis.schemas import Article, Sentence
from naisei.japanese.morph import words

__all__ = ["Input", "inputs_of"]

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
    def digest(self) -> bytes:
        """Of what the network reads, and of which of it are words: 16 bytes."""
        own = hashlib.blake2b(digest_size=16)
        own.update(np.array([len(self.labels), *map(len, self.pieces)], "<i4").tobytes())
        own.update(np.array([p for unit in self.pieces for p in unit], "<i4").tobytes())
        return own.digest()

    @property
    def emphasised(self) -> bool:
        return any(self.labels)


def inputs_of(
    article: Article, subwords: Subwords, *, title: bool, passage: bool, limit: int
) -> list[Input]:
    """The inputs that an article is read as; each of its words is in one of them.

    A sentence that does not fit is read in parts. passage: sentences are put together as long
    as they fit. limit: of subwords, the special ones too.
    """
    after: list[tuple[int, ...]] = [(subwords.between,)]
    if title:
        after += [*_title(article.title, subwords, int(limit * _TITLE)), (subwords.between,)]
    room = max(8, limit - 1 - sum(map(len, after)))
    rows: list[_Row] = []
    for number, sentence in enumerate(article.sentences):
        parts = list(_parts(number, sentence, subwords, room))
        for part in parts:
            if passage and rows and rows[-1].size + part.size <= room:
                rows[-1] = rows[-1].joined(part)
            else:
                rows.append(part)
    first = (subwords.first,)
    return [
        Input(
            (first, *row.pieces, *after),
            tuple(map(subwords.decides, row.pieces)),
            row.labels,
            row.counted,
            row.places,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class _Row:
    pieces: tuple[tuple[int, ...], ...]
    labels: tuple[bool, ...]
    counted: tuple[bool, ...]
    places: tuple[tuple[int, int], ...]
    size: int

    def joined(self, other: _Row) -> _Row:
        return _Row(
            self.pieces + other.pieces,
            self.labels + other.labels,
            self.counted + other.counted,
            self.places + other.places,
            self.size + other.size,
        )


def _parts(number: int, sentence: Sentence, subwords: Subwords, room: int) -> Iterator[_Row]:
    start, size, end = 0, 0, -1
    cut: list[tuple[int, ...]] = []
    for index, token in enumerate(sentence.tokens):
        # A word longer than the whole input is read as far as it goes.
        pieces = subwords.cut(token.surface, after_space=token.start != end)[:room]
        end = token.end
        if cut and size + len(pieces) > room:
            yield _row(number, sentence, start, cut, size)
            start, size, cut = index, 0, []
        cut.append(pieces)
        size += len(pieces)
    if cut:
        yield _row(number, sentence, start, cut, size)


def _row(
    number: int, sentence: Sentence, start: int, cut: list[tuple[int, ...]], size: int
) -> _Row:
    stop = start + len(cut)
    return _Row(
        tuple(cut),
        sentence.labels[start:stop],
        sentence.counted[start:stop],
        tuple((number, index) for index in range(start, stop)),
        size,
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
