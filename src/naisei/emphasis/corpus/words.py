"""From paragraphs to an article: sentences of labelled words."""

from __future__ import annotations

from naisei.emphasis.corpus.blocks import Block, Reading
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.japanese.morph import Word, words
from naisei.japanese.sentences import sentence_spans

__all__ = ["article_of"]


def article_of(name: str, reading: Reading) -> Article:
    """The article of a reading. A word at least half of which is emphasised is emphasised;
    one of which any character cannot be, cannot be."""
    sentences: list[Sentence] = []
    for number, block in enumerate(reading.blocks):
        at = 0
        for text in sentence_spans(block.text):
            found = tuple(_token(word, at, block) for word in words(text))
            if found:
                sentences.append(Sentence(text.strip(), found, number, len(sentences)))
            at += len(text)
    return Article(name, reading.title, tuple(sentences))


def _token(word: Word, base: int, block: Block) -> Token:
    start, end = base + word.start, base + word.end
    label = None if any(block.fixed[start:end]) else 2 * sum(block.bold[start:end]) >= end - start
    return Token(word.surface, start, end, word.pos, word.lemma, label)
