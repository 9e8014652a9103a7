"""A corpus from folders of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.corpus.blocks import Reading
from naisei.emphasis.corpus.cutting import LONGEST, cut
from naisei.emphasis.corpus.files import SUFFIXES, read_document
from naisei.emphasis.corpus.words import article_of
from naisei.emphasis.schemas import Article
from naisei.japanese.normal import is_japanese

__all__ = ["Built", "build"]

#: Of the sentences of a Japanese article.
_JAPANESE = 0.7
_FEWEST = 3
#: A part of whose text more than this share was there already is another edition.
_SAME = 0.5


@dataclass(slots=True)
class Built:
    """articles: in order of their ids. left_out: documents, or parts of them, by reason:
    `unreadable`, `same`, `plain` (nothing is emphasised), `foreign` (not Japanese), `short`.
    unreadable: files, with why."""

    articles: list[Article] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unreadable: list[tuple[str, str]] = field(default_factory=list)


def build(
    name: str,
    folder: Path,
    *,
    pattern: str = "*",
    longest: int = LONGEST,
    least: int = 1,
    any_language: bool = False,
    on_file: Callable[[Path], None] = lambda path: None,
) -> Built:
    """name: of the source, with which ids begin. pattern: of the files' names. longest: see
    `cut`. least: emphasised words of an article. on_file: called before each.

    Of documents that say the same (a book on one page and in chapters) the smaller ones stay.
    """
    built = Built()
    readings: list[tuple[int, str, Reading]] = []
    for path in _files(folder, pattern):
        on_file(path)
        at = path.relative_to(folder).as_posix()
        try:
            reading = read_document(path).reading
        except InputError as error:
            built.left_out["unreadable"] += 1
            built.unreadable.append((at, error.message))
            continue
        size = sum(len(block.text) for block in reading.blocks)
        readings.append((size, f"{name}/{at}", reading))
    seen: set[str] = set()
    for _, at, reading in sorted(readings, key=lambda found: found[:2]):
        parts = cut(reading, longest=longest)
        for number, part in enumerate(parts, 1):
            article = _article(at if len(parts) == 1 else f"{at}#{number}", part, seen, built)
            if article is not None and _fits(article, built, least, any_language):
                built.articles.append(article)
    built.articles.sort(key=lambda article: article.id)
    return built


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    for path in sorted(folder.rglob(pattern)):
        inner = path.relative_to(folder).parts
        hidden = any(part.startswith((".", "node_modules", "~$")) for part in inner)
        # A link within the folder is the same document again.
        if hidden or path.is_symlink() or not path.is_file():
            continue
        if path.suffix.lower() in SUFFIXES:
            yield path


def _article(name: str, part: Reading, seen: set[str], built: Built) -> Article | None:
    if not any(any(block.bold) for block in part.blocks):
        built.left_out["plain"] += 1
        return None
    texts = [block.text for block in part.blocks]
    if sum(len(text) for text in texts if text in seen) > _SAME * sum(map(len, texts)):
        built.left_out["same"] += 1
        return None
    seen.update(texts)
    return article_of(name, part)


def _fits(article: Article, built: Built, least: int, any_language: bool) -> bool:
    sentences = len(article.sentences)
    japanese = sum(is_japanese(sentence.text) for sentence in article.sentences)
    reason = ""
    if sum(sum(sentence.labels) for sentence in article.sentences) < least:
        reason = "plain"
    elif sentences < _FEWEST:
        reason = "short"
    elif not any_language and japanese < _JAPANESE * sentences:
        reason = "foreign"
    built.left_out[reason] += bool(reason)
    return not reason
