"""Converts a tagger's spans to marks in the source document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from naisei.emphasis.corpus.documents import Block, Insertion, ParsedText, is_sentence
from naisei.emphasis.corpus.markdown import Paragraph, TextMismatch
from naisei.emphasis.schemas import CONTENT, Article, Span

_CLOSING = frozenset("、。，．！？」』）】〉》〕］｝)]}!?,.:;：；")
_OPENING = frozenset("「『（【〈《〔［｛([{・")
#: Allowed source text between two characters of one stretch: a line break with the indents and
#: quote marks of the next line; and the delimiters of code or a link.
_GAP = re.compile(r"[\s>]*")
_SIGNS = re.compile(
    r"(?:[\s`\[<>]|\](?:\([^()\s]*\)|\[[^\[\]]*\])|</?(?:a|code|kbd|samp)\b[^<>]*>)*"
)


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
    runs: Sequence[Span], article: Article, parsed: ParsedText, source: str
) -> tuple[Stretch, ...]:
    """Stretches in order. Runs are split at markup, so that marks never cross; a run that contains
    code or a link is left out instead. Drops parts without a content word, and paragraphs without
    a sentence, which would look like headings."""
    found: list[Stretch] = []
    for run in runs:
        sentence = article.sentences[run.sentence]
        block = parsed.blocks[sentence.block]
        tokens = sentence.tokens[run.first : run.last]
        ends = iter([t.end for t in tokens if t.pos in CONTENT])
        content = next(ends, None)
        parts = list(_block_spans(block, tokens[0].start, tokens[-1].end, source))
        if len(parts) > 1 and any(token.label is None for token in tokens):
            continue
        for start, end in parts:
            while content is not None and content <= start:
                content = next(ends, None)
            if content is not None and content <= end:
                place = (block.starts[start], block.ends[end - 1])
                found.append(Stretch(sentence.block, start, end, *place))
    out: list[Stretch] = []
    for number, own in groupby(found, key=lambda stretch: stretch.block):
        here = list(own)
        if not _heading(parsed.blocks[number], here):
            out += here
    return tuple(out)


def _block_spans(block: Block, first: int, last: int, source: str) -> Iterator[tuple[int, int]]:
    start = first
    for i in range(first, last):
        free = not block.bold[i]
        joined = i + 1 < last and _joined(block, i, source)
        if free and not joined:
            yield from _trimmed(block.text, start, i + 1)
        if not free or not joined:
            if not free:
                yield from _trimmed(block.text, start, i)
            start = i + 1


def _joined(block: Block, i: int, source: str) -> bool:
    # Characters of one entity reference share their offset.
    if block.starts[i] == block.starts[i + 1]:
        return True
    gap = _GAP if block.fixed[i] == block.fixed[i + 1] else _SIGNS
    return bool(gap.fullmatch(source, block.ends[i], block.starts[i + 1]))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Trim spaces and punctuation that belongs to the neighbouring text."""
    while start < end and (text[start].isspace() or text[start] in _CLOSING):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in _OPENING):
        end -= 1
    if start < end:
        yield start, end


def _heading(block: Block, found: Sequence[Stretch]) -> bool:
    """Whether the marks would make the whole paragraph bold although it is not a sentence."""
    left = sum(not bold for bold in block.bold) - sum(s.last - s.first for s in found)
    return left <= 0 and not is_sentence(block.text)


def html_marks(found: Sequence[Stretch]) -> list[Insertion]:
    """`<strong>` around each stretch; none contains a tag, so elements stay well nested."""
    return [
        insertion
        for stretch in found
        for insertion in (
            Insertion(stretch.start, "<strong>"),
            Insertion(stretch.end, "</strong>"),
        )
    ]


# Suggestions in Markdown: `**` where CommonMark takes it for emphasis, else `<strong>`.
#
# CommonMark allows no punctuation between a closing `**` and a letter: `**「猫」**は` stays text.
# So every marked paragraph is parsed again. If the result differs from what was meant, full
# stops and brackets are moved outside the mark (`「**猫**」は`, `**寝た**。次`), or `<strong>`
# is tried; if that fails too, the stretch stays unmarked.

_STARS = ("**", "**")
_TAGS = ("<strong>", "</strong>")
_ENDS = frozenset("、。，．,.!?！？:：;；")
_PAIRS = frozenset(["「」", "『』", "（）", "()", "【】", "［］", "〈〉", "《》", "“”", '""'])


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark around the offsets start … end of a paragraph."""

    start: int
    end: int
    signs: tuple[str, str]


def markdown_marks(
    found: Sequence[Stretch], paragraphs: Sequence[Paragraph]
) -> tuple[list[Insertion], int]:
    """The marks, and the number of stretches that cannot be marked. paragraphs: one per block."""
    insertions: list[Insertion] = []
    lost = 0
    for block, own in groupby(found, key=lambda stretch: stretch.block):
        here = list(own)
        paragraph = paragraphs[block]
        at = {place: offset for offset, place in enumerate(paragraph.places)}
        marks = _agreed(
            paragraph, [_choices(paragraph.content, at[s.start], at[s.end - 1] + 1) for s in here]
        )
        lost += len(here) - len(marks)
        for mark in marks:
            insertions.append(Insertion(paragraph.places[mark.start], mark.signs[0]))
            insertions.append(Insertion(paragraph.places[mark.end - 1] + 1, mark.signs[1]))
    return insertions, lost


def _agreed(paragraph: Paragraph, ways: Sequence[Sequence[_Mark]]) -> list[_Mark]:
    """Marks that keep the paragraph's text and make exactly the intended words bold. ways:
    alternatives for each stretch, best first."""
    best = [own[0] for own in ways]
    if _works(paragraph, best):
        return best
    if len(ways) == 1:
        return next(([way] for way in ways[0][1:] if _works(paragraph, [way])), [])
    half = len(ways) // 2
    left, right = _agreed(paragraph, ways[:half]), _agreed(paragraph, ways[half:])
    return [*left, *right] if _works(paragraph, [*left, *right]) else left


def _works(paragraph: Paragraph, marks: Sequence[_Mark]) -> bool:
    try:
        after = paragraph.reread(_marked(paragraph.content, marks))
    except TextMismatch:
        return False
    inside = {n for mark in marks for n in range(mark.start, mark.end)}
    meant = [(p.character, p.fixed, p.bold or p.start in inside) for p in paragraph.read]
    return meant == [(p.character, p.fixed, p.bold) for p in after]


def _marked(content: str, marks: Sequence[_Mark]) -> str:
    out, at = [], 0
    for mark in marks:
        out += [content[at : mark.start], mark.signs[0], content[mark.start : mark.end]]
        out.append(mark.signs[1])
        at = mark.end
    return "".join([*out, content[at:]])


def _choices(content: str, start: int, end: int) -> list[_Mark]:
    """Ways to mark a stretch, best first. Adjacent stars are ambiguous."""
    stars = [_Mark(*span, _STARS) for span in dict.fromkeys(_narrower(content, start, end))]
    tags = _Mark(start, end, _TAGS)
    beside = "*" in content[max(0, start - 1) : start + 1] + content[end - 1 : end + 1]
    return [tags, *stars] if beside else [*stars, tags]


def _narrower(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch; then without full stops at its ends; then without enclosing brackets."""
    yield start, end
    while end > start and content[end - 1] in _ENDS:
        end -= 1
    yield start, end
    while end - start > 2 and content[start] + content[end - 1] in _PAIRS:
        start, end = start + 1, end - 1
        yield start, end
