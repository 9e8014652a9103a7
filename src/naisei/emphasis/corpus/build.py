"""Corpora made of folders of documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Heading, Reading
from naisei.emphasis.corpus.read import SUFFIXES, article_of, read_document
from naisei.emphasis.schemas import Article
from naisei.japanese.morph import is_japanese

__all__ = ["BOOKS", "LONGEST", "Book", "Built", "build", "cut", "installed", "unnumbered"]


#: Characters of an article, about a hundred sentences; a longer one is cut if it has headings.
LONGEST = 6_000
_NUMBER = re.compile(
    r"(?:第\s*\d+\s*[章節部編][.\s]*|(?:(?:\d+|[A-Z])\.)+\d*\s+|付録\s*[A-Z][.\s]*)"
)


def unnumbered(title: str) -> str:
    """A heading without its number.

    >>> unnumbered("第 2 章 パッケージ"), unnumbered("2.1.3. 依存"), unnumbered("A. 付録")
    ('パッケージ', '依存', '付録')
    """
    return _NUMBER.sub("", title, count=1) if _NUMBER.match(title) else title


def cut(reading: Reading, *, longest: int = LONGEST) -> list[Reading]:
    """The reading itself, or its parts in order, each titled by its heading.

    What stands before the first heading keeps the title. A part that is still too long is cut
    at its own headings; what has none stays whole.
    """
    title = unnumbered(reading.title)
    inner = [h for h in reading.headings if 0 < h.block < len(reading.blocks)]
    if sum(len(block.text) for block in reading.blocks) <= longest or not inner:
        return [replace(reading, title=title)]
    top = min(h.level for h in inner)
    starts = [h for h in reading.headings if h.level <= top and h.block < len(reading.blocks)]
    if starts[0].block > 0:
        starts.insert(0, Heading(top, title, 0))
    edges = [h.block for h in starts] + [len(reading.blocks)]
    parts: list[Reading] = []
    for heading, (first, last) in zip(starts, pairwise(edges), strict=True):
        if first < last:
            below = (replace(h, block=h.block - first) for h in reading.headings
                     if h.level > top and first <= h.block < last)  # fmt: skip
            part = Reading(heading.text or title, reading.blocks[first:last], tuple(below))
            parts += cut(part, longest=longest)
    return parts


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


@dataclass(frozen=True, slots=True)
class Book:
    """package: of Debian 12. folder: below `/usr/share`. pattern: of its files."""

    name: str
    package: str
    folder: str
    pattern: str = "*.html"


#: Old editions beside the current one are passed over by their patterns.
BOOKS = (
    Book("aptitude", "aptitude-doc-ja", "doc/aptitude/html/ja"),
    Book("debian-edu", "debian-edu-doc-ja", "doc/debian-edu-doc-ja", "*bookworm*.html"),
    Book("debian-faq", "debian-faq-ja", "doc/debian/FAQ/ja"),
    Book("debian-handbook", "debian-handbook", "doc/debian-handbook/html/ja-JP"),
    Book("debian-policy", "debian-policy-ja", "doc/debian-policy/ja/policy.html"),
    Book("debian-reference", "debian-reference-ja", "debian-reference", "*.ja.html"),
    Book("debmake-doc", "debmake-doc", "doc/debmake-doc/html", "*.ja.html"),
    Book("developers-reference", "developers-reference-ja", "developers-reference/ja"),
    Book("gimp", "gimp-help-ja", "gimp/2.0/help/ja"),
    Book("installation-guide", "installation-guide-amd64", "doc/installation-guide-amd64/ja"),
    Book("lilypond", "lilypond-doc-html-ja", "doc/lilypond/html/Documentation", "*.ja.html"),
    Book("maint-guide", "maint-guide-ja", "doc/maint-guide-ja/html", "*.ja.html"),
)


def installed(share: Path = Path("/usr/share")) -> Iterator[tuple[Book, Path]]:
    """The books that are there, with their folders."""
    for book in BOOKS:
        if (folder := share / book.folder).is_dir():
            yield book, folder
