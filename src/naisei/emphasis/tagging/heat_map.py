"""A page that shows how likely each word of a document is to be emphasised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from naisei.emphasis.tagging.suggestions import Suggestions
from naisei.lang import language, say
from naisei.runs.report import templates

__all__ = ["Piece", "heat_map", "paragraphs"]


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
        templates("naisei.emphasis.tagging")
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
