"""From chosen words to stretches of the source that can be enclosed in marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from naisei.emphasis.corpus.blocks import Block, Reading, is_sentence
from naisei.emphasis.schemas import Article
from naisei.emphasis.tagging.choice import CONTENT, Run

__all__ = ["Stretch", "stretches"]

_CLOSING = frozenset("、。，．！？」』）】〉》〕］｝)]}!?,.:;：；")
_OPENING = frozenset("「『（【〈《〔［｛([{・")
#: What may stand in the source between two characters of one stretch: a line break with the
#: indents and quote marks of the next line.
_GAP = re.compile(r"[\s>]*")


@dataclass(frozen=True, slots=True)
class Stretch:
    """start, end: offsets in the source's text. block: number of its paragraph. first, last:
    offsets in the text of the paragraph."""

    block: int
    first: int
    last: int
    start: int
    end: int


def stretches(
    runs: Sequence[Run], article: Article, reading: Reading, source: str
) -> tuple[Stretch, ...]:
    """In order. A run is cut where markup stands between its characters, so that no mark ever
    crosses another; pieces without a content word are left out. So is all of a paragraph that is
    no sentence: it would look like a heading."""
    found: list[Stretch] = []
    for run in runs:
        sentence = article.sentences[run.sentence]
        block = reading.blocks[sentence.block]
        tokens = sentence.tokens[run.first : run.last]
        ends = iter([t.end for t in tokens if t.pos in CONTENT])
        content = next(ends, None)
        for start, end in _pieces(block, tokens[0].start, tokens[-1].end, source):
            while content is not None and content <= start:
                content = next(ends, None)
            if content is not None and content <= end:
                place = (block.starts[start], block.ends[end - 1])
                found.append(Stretch(sentence.block, start, end, *place))
    out: list[Stretch] = []
    for number, own in groupby(found, key=lambda stretch: stretch.block):
        here = list(own)
        if not _heading(reading.blocks[number], here):
            out += here
    return tuple(out)


def _pieces(block: Block, first: int, last: int, source: str) -> Iterator[tuple[int, int]]:
    start = first
    for i in range(first, last):
        free = not (block.fixed[i] or block.bold[i])
        joined = i + 1 < last and _joined(block, i, source)
        if free and not joined:
            yield from _trimmed(block.text, start, i + 1)
        if not free or not joined:
            if not free:
                yield from _trimmed(block.text, start, i)
            start = i + 1


def _joined(block: Block, i: int, source: str) -> bool:
    # Characters of one entity reference share their place.
    if block.starts[i] == block.starts[i + 1]:
        return True
    return bool(_GAP.fullmatch(source, block.ends[i], block.starts[i + 1]))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Without space, and without marks that belong to what stands beside it."""
    while start < end and (text[start].isspace() or text[start] in _CLOSING):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in _OPENING):
        end -= 1
    if start < end:
        yield start, end


def _heading(block: Block, found: Sequence[Stretch]) -> bool:
    """Whether the paragraph would then be bold from end to end without being a sentence."""
    left = sum(not bold for bold in block.bold) - sum(s.last - s.first for s in found)
    return left <= 0 and not is_sentence(block.text)
