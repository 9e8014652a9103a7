"""Emphasis by a language model that was not trained for it (thesis, §4.6): zero-shot, or with
articles of the writer as examples.

Works passage by passage; each reply is aligned with the text that it should repeat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from naisei.core import Chat, Flow, InstrumentFailure, Message, assistant, system, user
from naisei.emphasis.corpus.store import describe
from naisei.emphasis.results import FoldResult, TaggedDocument, emphasised, tagged_spans
from naisei.emphasis.schemas import Article, Sentence
from naisei.lang import Language, render

#: Most characters of a passage that a model can repeat verbatim.
LONGEST = 1200


@dataclass(frozen=True, slots=True)
class Passage:
    """text: paragraphs, one per line. sentences: each with its offset in the text."""

    text: str
    sentences: tuple[tuple[Sentence, int], ...]


def passages(article: Article, *, longest: int = LONGEST) -> list[Passage]:
    """Split an article into passages of whole sentences, in order. Splits a paragraph only if it
    is longer than `longest`, and never a sentence."""
    out: list[Passage] = []
    held: list[list[Sentence]] = []
    for _, group in groupby(article.sentences, lambda s: s.block):
        for paragraph in _parted(list(group), longest):
            if held and _length(held) + _length([paragraph]) > longest:
                out.append(_passage(held))
                held = []
            held.append(paragraph)
    if held:
        out.append(_passage(held))
    return out


def _parted(paragraph: Sequence[Sentence], longest: int) -> list[list[Sentence]]:
    parts: list[list[Sentence]] = [[]]
    for sentence in paragraph:
        if parts[-1] and _length([parts[-1]]) + len(sentence.text) > longest:
            parts.append([])
        parts[-1].append(sentence)
    return parts


def _length(paragraphs: Sequence[Sequence[Sentence]]) -> int:
    return sum(len(s.text) + 1 for paragraph in paragraphs for s in paragraph)


def _passage(paragraphs: Sequence[Sequence[Sentence]]) -> Passage:
    text, placed = "", []
    for paragraph in paragraphs:
        text += "\n" if text else ""
        for i, sentence in enumerate(paragraph):
            # Japanese sentences have no space between them; others were separated by one.
            if i and text[-1:].isascii() and sentence.text[:1].isascii():
                text += " "
            placed.append((sentence, len(text)))
            text += sentence.text
    return Passage(text, tuple(placed))


def token_labels(passage: Passage, bold: Sequence[bool]) -> list[list[bool]]:
    """Labels per sentence and token: emphasised if at least half of the token is, as in the
    corpora; never a token that cannot be emphasised."""
    rows: list[list[bool]] = []
    for sentence, at in passage.sentences:
        base = at - (sentence.tokens[0].start if sentence.tokens else 0)
        row = []
        for token in sentence.tokens:
            start, end = base + token.start, base + token.end
            share = sum(bold[start:end]) / (end - start)
            row.append(token.label is not None and share >= 0.5)
        rows.append(row)
    return rows


# Emphasis of a reply, aligned with the source text.
#
# Strict: the reply, without its marks and white space, is aligned with the source character by
# character. A marked span counts only if all of it occurs in the source, contiguously and at
# the position that the surrounding words imply; invented, moved or reworded spans are dropped.

_MARK = re.compile(r"\*\*|__|</?(?:b|strong|em)>", re.I)
_FENCE = re.compile(r"^\s*```[^\n]*\n(.*?)\n?```\s*$", re.DOTALL)
#: Characters to ignore: white space, and marks of the source.
_SILENT = re.compile(r"[\s*]|__")


@dataclass(frozen=True, slots=True)
class Aligned:
    """bold: for each character of the source, whether it is emphasised. share: share of the
    source's characters that the reply repeats in order, 0 to 1."""

    bold: tuple[bool, ...]
    share: float


def align(source: str, reply: str) -> Aligned:
    """Align a reply with its source. White space is neither compared nor emphasised by itself."""
    if fenced := _FENCE.match(reply):
        reply = fenced[1]
    ours, places = _plain(source)
    theirs, runs = _marked(reply)
    at = _align_characters(ours, theirs)
    bold = [False] * len(source)
    for start, end in runs:
        found = at[start:end]
        first, last = found[0], found[-1]
        if first is not None and last is not None and found == [*range(first, last + 1)]:
            for place in range(places[first], places[last] + 1):
                bold[place] = True
    share = sum(place is not None for place in at) / len(ours) if ours else 1.0
    return Aligned(tuple(bold), share)


def _plain(source: str) -> tuple[str, list[int]]:
    """The compared characters with their positions."""
    silent = {i for found in _SILENT.finditer(source) for i in range(*found.span())}
    places = [i for i in range(len(source)) if i not in silent]
    return "".join(source[i] for i in places), places


def _marked(reply: str) -> tuple[str, list[tuple[int, int]]]:
    """The compared characters, and the marked spans in them; an unclosed mark ends at the end of
    its line."""
    text, runs, opened = "", [], -1
    for line in reply.splitlines():
        at = 0
        for mark in [*_MARK.finditer(line), None]:
            stop = mark.start() if mark else len(line)
            text += _SILENT.sub("", line[at:stop])
            at = mark.end() if mark else stop
            if opened >= 0:
                if len(text) > opened and mark:
                    runs.append((opened, len(text)))
                opened = -1
            elif mark and not mark[0].startswith("</"):
                opened = len(text)
    return text, runs


def _align_characters(ours: str, theirs: str) -> list[int | None]:
    """Position in the source of each character of the reply, or `None`."""
    if ours == theirs:
        return list(range(len(ours)))
    at: list[int | None] = [None] * len(theirs)
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        at[block.b : block.b + block.size] = range(block.a, block.a + block.size)
    return at


_PACKAGE = "naisei.emphasis"


def messages(
    title: str, passage: Passage, language: Language, examples: Sequence[Article] = ()
) -> tuple[Message, ...]:
    """examples: articles of the writer that show which words they set in bold."""
    rules = [render(_PACKAGE, "editor.v1", language)]
    if examples:
        share = f"{100 * describe(examples).rate:.0f}"
        shown = "\n\n".join(_example(article) for article in examples)
        rules.append(render(_PACKAGE, "examples.v1", language, share=share, examples=shown))
    return (
        system("\n\n".join(rules)),
        user(render(_PACKAGE, "passage.v1", language, title=title, text=passage.text)),
    )


def _example(article: Article) -> str:
    """The article's title and its first passage with emphasis, marked."""
    lines = [f"《{article.title}》"]
    rows = ([s for s, _ in passage.sentences] for passage in passages(article))
    held = next((row for row in rows if any(any(s.labels) for s in row)), [])
    for _, group in groupby(held, lambda s: s.block):
        lines.append("".join(emphasised(s, s.labels) for s in group))
    return "\n".join(lines)


def again(before: tuple[Message, ...], reply: str, language: Language) -> tuple[Message, ...]:
    """Messages to retry after a reply that does not repeat the text."""
    return (*before, assistant(reply), user(render(_PACKAGE, "again.v1", language)))


#: Share of a passage that a reply must repeat.
ENOUGH = 0.9


def examine(
    article: Article, *, language: Language, examples: Sequence[Article] = ()
) -> Flow[FoldResult]:
    """Emphasise all passages of one document. examples: articles of the same writer."""
    rows: list[list[bool]] = []
    shares: list[float] = []
    for passage in passages(article):
        found = yield from emphasise(article.title, passage, language=language, examples=examples)
        rows += token_labels(passage, found.bold)
        shares.append(found.share)
    return FoldResult(
        documents=(TaggedDocument(article=article.id, spans=tagged_spans(rows)),),
        tokens=sum(len(s.tokens) for s in article.sentences),
        aligned=sum(shares) / len(shares) if shares else 1.0,
    )


def emphasise(
    title: str, passage: Passage, *, language: Language, examples: Sequence[Article] = ()
) -> Flow[Aligned]:
    """Emphasise one passage, with one retry if the reply does not repeat it.

    Raises:
        InstrumentFailure: neither reply repeats the text.
    """
    prompt = messages(title, passage, language, examples)
    reply = yield from Chat("editor", prompt)
    found = align(passage.text, reply)
    if found.share < ENOUGH:
        reply = yield from Chat("editor", again(prompt, reply, language))
        found = align(passage.text, reply)
    if found.share < ENOUGH:
        raise InstrumentFailure(f"the reply repeats {found.share:.0%} of the text, twice asked")
    return found
