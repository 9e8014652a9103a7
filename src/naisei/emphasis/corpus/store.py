"""A corpus on disk: JSON lines, one article a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.files import written_beside
from naisei.lang import say
from naisei.text_files import read_text

__all__ = ["load_corpus", "save_corpus"]


def save_corpus(path: Path, articles: Iterable[Article]) -> None:
    """Writes the file anew. Tokens are lists: surface, start, end, pos, lemma, label."""
    with written_beside(path) as scratch, scratch.open("w", encoding="utf-8", newline="\n") as file:
        for article in articles:
            file.write(json.dumps(_plain(article), ensure_ascii=False) + "\n")


def load_corpus(path: Path) -> tuple[Article, ...]:
    """Raises:
    InputError: no such file, a line that is no article, an id twice, or no article at all.
    """
    lines = read_text(path).split("\n")
    found: dict[str, Article] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            article = _article(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = say("記事として読めない行です", "the line is no article")
            raise InputError(message, place=place) from error
        if article.id in found:
            message = say(
                f"同じ id の記事が二つあります: {article.id}", f"two articles are {article.id}"
            )
            raise InputError(message, place=place)
        found[article.id] = article
    if not found:
        raise InputError(say("記事がありません", "there is no article"), place=str(path))
    return tuple(found.values())


def _plain(article: Article) -> dict[str, Any]:
    return {
        "id": article.id,
        "title": article.title,
        "sentences": [
            {
                "text": s.text,
                "block": s.block,
                "tokens": [[t.surface, t.start, t.end, t.pos, t.lemma, t.label] for t in s.tokens],
            }
            for s in article.sentences
        ],
    }


def _article(plain: dict[str, Any]) -> Article:
    sentences = tuple(
        Sentence(s["text"], tuple(_token(*t) for t in s["tokens"]), int(s["block"]), index)
        for index, s in enumerate(plain["sentences"])
    )
    return Article(str(plain["id"]), str(plain["title"]), sentences)


def _token(surface: str, start: int, end: int, pos: str, lemma: str, label: bool | None) -> Token:
    if not isinstance(surface, str) or not 0 <= start < end or label not in (True, False, None):
        raise ValueError("no token")
    return Token(surface, start, end, pos, lemma, label)
