"""A document with suggestions: the same bytes, and marks between them."""

from __future__ import annotations

from dataclasses import dataclass

from naisei.core import InputError
from naisei.emphasis.corpus.files import Document
from naisei.emphasis.corpus.markdown import read_paragraphs
from naisei.emphasis.corpus.words import article_of
from naisei.emphasis.schemas import Article, Tagger
from naisei.emphasis.tagging.choice import Choice, choose
from naisei.emphasis.tagging.html_marks import html_marks
from naisei.emphasis.tagging.markdown_marks import markdown_marks
from naisei.emphasis.tagging.stretches import stretches
from naisei.lang import say

__all__ = ["Suggestions", "marked", "suggest"]


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
    """Options as of `naisei.emphasis.tagging.choice.choose`."""
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
