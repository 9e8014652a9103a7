"""One file to a `Document`."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import get_args

from naisei.lang import say
from naisei.retrieval.dates import dated
from naisei.retrieval.limits import LIMITS, LoadLimits
from naisei.retrieval.loaders.blocks import Read, TooLong
from naisei.retrieval.loaders.docx import read_docx
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.html_hidden import TooIntricate
from naisei.retrieval.loaders.markdown import read_markdown
from naisei.retrieval.loaders.pdf import read_pdf
from naisei.retrieval.loaders.plain import read_plain
from naisei.retrieval.seen import seen
from naisei.retrieval.types import Document, Format
from naisei.retrieval.unreadable import Unreadable
from naisei.text_files import Undecodable, decode

__all__ = ["SUFFIXES", "load", "read_bytes"]

#: What a file's name says of its format.
SUFFIXES: dict[str, Format] = {
    ".md": "md",
    ".markdown": "md",
    ".txt": "txt",
    ".text": "txt",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
assert set(SUFFIXES.values()) == set(get_args(Format))


def load(path: Path, *, limits: LoadLimits = LIMITS, name: str | None = None) -> Document:
    """The document in a file. name: its path within its folder; the file's name by default.

    Raises:
        Unreadable: no such format, empty, too large, encrypted, broken, not text.
    """
    name = name or path.name
    return parsed(name, read_bytes(path, name, limits), limits)


def read_bytes(path: Path, name: str, limits: LoadLimits) -> bytes:
    """At most `limits.bytes`. Raises `Unreadable`."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.bytes + 1)
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from error
    if len(data) > limits.bytes:
        most = f"{limits.bytes:,}"
        raise Unreadable(name, say(f"{most} バイトを超えています", f"larger than {most} bytes"))
    return data


def parsed(name: str, data: bytes, limits: LoadLimits) -> Document:
    """The document with these bytes. Raises `Unreadable`."""
    known = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if known is None:
        raise Unreadable(name, say("対応していない形式です", "no format that is read here"))
    if not data.strip():
        raise Unreadable(name, say("空のファイルです", "empty"))
    try:
        read = seen(_READERS[known](name, data, limits))
        when = dated(name, read)
    except Unreadable:
        raise
    except TooLong:
        most = f"{limits.characters:,}"
        raise Unreadable(
            name, say(f"{most} 文字を超えています", f"over {most} characters")
        ) from None
    # A file from anywhere may break a parser in any way; one must not stop all the others.
    except Exception as error:
        why = say("壊れています", "broken")
        raise Unreadable(name, f"{why} ({type(error).__name__})") from error
    if not read.passages:
        raise Unreadable(name, say("読める文章がありません", "holds no readable text"))
    title = read.title or unicodedata.normalize("NFC", PurePosixPath(name).stem)
    return Document(
        path=name,
        title=title,
        format=known,
        sha256=hashlib.sha256(data).hexdigest(),
        date=when.date,
        version=when.version,
        meta=read.meta | ({"date_from": when.source} if when.source else {}),
        passages=tuple(read.passages),
    )


def _text(name: str, data: bytes) -> str:
    try:
        return decode(data)
    except Undecodable:
        raise Unreadable(
            name,
            say("文字コードを判別できません", "not text in a known encoding"),
        ) from None


def _markdown(name: str, data: bytes, limits: LoadLimits) -> Read:
    return read_markdown(_text(name, data), limits.characters)


def _plain(name: str, data: bytes, limits: LoadLimits) -> Read:
    return read_plain(_text(name, data), limits.characters)


def _html(name: str, data: bytes, limits: LoadLimits) -> Read:
    try:
        return read_html(_text(name, data), limits.characters)
    except TooIntricate:
        raise Unreadable(name, say("入り組みすぎた HTML です", "HTML too intricate")) from None


_READERS: dict[Format, Callable[[str, bytes, LoadLimits], Read]] = {
    "md": _markdown,
    "txt": _plain,
    "html": _html,
    "pdf": read_pdf,
    "docx": read_docx,
}
