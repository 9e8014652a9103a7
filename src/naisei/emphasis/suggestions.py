"""A document with suggestions: marks between its bytes, or a page that shows them as a heat map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from naisei.core import InputError
from naisei.emphasis.choice import Choice, choose
from naisei.emphasis.corpus.markdown import read_paragraphs
from naisei.emphasis.corpus.read import Document, article_of
from naisei.emphasis.marks import html_marks, markdown_marks, stretches
from naisei.emphasis.schemas import Article, Tagger
from naisei.lang import language, say
from naisei.runs.report import templates

__all__ = ["Piece", "Suggestions", "heat_map", "marked", "paragraphs", "suggest"]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What a tagger suggests for a document."""

    document: Document
    article: Article
    choice: Choice

    @property
    def words(self) -> int:
        """Words suggested."""
        return sum(run.last - run.first for run in self.choice.runs)

    @property
    def counted(self) -> int:
        """Words that can be emphasised."""
        return sum(sum(sentence.counted) for sentence in self.article.sentences)


def suggest(
    document: Document,
    tagger: Tagger,
    *,
    threshold: float | None = None,
    max_share: float = 1.0,
    whole_phrases: bool = False,
) -> Suggestions:
    """Options as of `naisei.emphasis.choice.choose`."""
    article = article_of(document.name, document.reading)
    choice = choose(
        article, tagger, threshold=threshold, max_share=max_share, whole_phrases=whole_phrases
    )
    return Suggestions(document, article, choice)


def marked(suggestions: Suggestions) -> tuple[bytes, int, int]:
    """The document with its marks; how many were put in, and how many could not be.

    Taking the marks out again gives back the document byte for byte.

    Raises:
        InputError: a docx, or ISO-2022-JP.
    """
    document = suggestions.document
    if document.source is None:
        raise InputError(
            say("Word 文書そのものには印を付けられません", "a Word document cannot be marked"),
            place=document.name,
            remedy=say("--html PAGE で強調案を見られます", "see the suggestions with --html PAGE"),
        )
    text = document.source.text
    lost = 0
    found = stretches(suggestions.choice.runs, suggestions.article, document.reading, text)
    if document.format == "html":
        insertions = html_marks(found)
    else:
        insertions, lost = markdown_marks(found, read_paragraphs(text)[1])
    return document.source.with_marks(insertions), len(insertions) // 2, lost


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, or what stands between two. heat: 0 to 10, the tenth of the probability;
    bold: as in the document; chosen: suggested."""

    text: str
    heat: int
    percent: int
    bold: bool
    chosen: bool


def heat_map(suggestions: Suggestions, *, tagger: str) -> str:
    """One HTML page without scripts or links to anything outside. tagger: its name."""
    article = suggestions.article
    return (
        templates("naisei.emphasis")
        .get_template("heat_map.html")
        .render(
            say=say,
            language=language(),
            title=article.title or suggestions.document.name,
            tagger=tagger,
            words=suggestions.words,
            counted=suggestions.counted,
            runs=len(suggestions.choice.runs),
            paragraphs=list(paragraphs(suggestions)),
        )
    )


def paragraphs(suggestions: Suggestions) -> Iterator[list[Piece]]:
    """The running text, paragraph by paragraph."""
    chosen = {
        (run.sentence, i) for run in suggestions.choice.runs for i in range(run.first, run.last)
    }
    blocks: dict[int, list[Piece]] = {}
    ends: dict[int, int] = {}
    for number, sentence in enumerate(suggestions.article.sentences):
        text = suggestions.document.reading.blocks[sentence.block].text
        own = blocks.setdefault(sentence.block, [])
        likely = suggestions.choice.probabilities[number]
        for i, token in enumerate(sentence.tokens):
            between = text[ends.get(sentence.block, 0) : token.start]
            if between:
                own.append(Piece(between, 0, 0, False, False))
            p = float(likely[i])
            bold = token.label is True
            is_chosen = (number, i) in chosen
            own.append(Piece(token.surface, min(10, int(p * 10)), round(p * 100), bold, is_chosen))
            ends[sentence.block] = token.end
    yield from blocks.values()
