"""Japanese documentation as Debian packages it: where it is once installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BOOKS", "Book", "installed"]


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
