"""Uploaded documents: stored in their own folder, under a safe name, without overwriting."""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from pathlib import Path

from naisei.web.html import Refused

#: Accepted suffixes.
KINDS = (
    *(".md", ".txt", ".html", ".pdf", ".docx"),
    *(".xlsx", ".pptx", ".odt", ".csv", ".rst", ".eml"),
)
#: Magic bytes of a kind; other kinds are text.
_BEGINS = {
    ".pdf": b"%PDF-",
    **dict.fromkeys((".docx", ".xlsx", ".pptx", ".odt"), b"PK\x03\x04"),
}
#: Allowed characters of a name: letters and digits of any script, and a few marks.
_OTHER = re.compile(r"[^\w.\-ー・() ]+")
#: Maximum length of a name in bytes, well below the limit of file systems.
_LONGEST = 120


def safe_name(given: str) -> str:
    """Return the base name without characters special to file systems or shells.

    Raises:
        HTTPException: nothing is left, or the suffix is none of `KINDS`.

    >>> safe_name("../../etc/休暇 規程.MD")
    '休暇_規程.md'
    """
    last = re.split(r"[/\\\x00:]", unicodedata.normalize("NFKC", given))[-1]
    last = re.split(r"[/\\\x00:]", last)[-1]  # NFKC converts full-width forms
    stem, dot, suffix = last.rpartition(".")
    kind = (dot + suffix).strip().lower()
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise Refused(415, f"受け付ける形式は {known} です", f"only {known} can be uploaded")
    stem = _OTHER.sub("_", stem).strip(" ._-")
    stem = re.sub(r"[\s_]+", "_", stem).replace("..", ".")
    while len((stem + kind).encode()) > _LONGEST:
        stem = stem[:-1]
    if not stem:
        raise Refused(400, "ファイル名が使えません", "the file has no usable name")
    return stem + kind


def store(folder: Path, name: str, data: bytes) -> Path:
    """Write an upload atomically under its safe name.

    Raises:
        HTTPException: empty, contents that do not match the suffix, or an existing file name.
    """
    name = safe_name(name)
    _check(name, data)
    target = folder / name
    if target.parent != folder:
        raise Refused(400, "ファイル名が使えません", "the file has no usable name")
    part = folder / f".{secrets.token_hex(8)}.part"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o640)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # Linking fails if the name is taken by a file or a link, so nothing is overwritten.
        os.link(part, target)
    except FileExistsError:
        raise Refused(409, f"{name} はすでにあります", f"{name} is there already") from None
    finally:
        part.unlink(missing_ok=True)
    return target


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def _check(name: str, data: bytes) -> None:
    """Reject empty and mistyped files; the loader reports other errors."""
    if not data.strip():
        raise Refused(400, "空のファイルです", "the file is empty")
    if begins := _BEGINS.get(Path(name).suffix):
        good = data.startswith(begins)
    else:
        good = b"\x00" not in data[:4096] or data[:2] in (b"\xff\xfe", b"\xfe\xff")
        good = good and not data.startswith(tuple(_BEGINS.values()))
    if not good:
        raise Refused(415, "中身が拡張子と違います", "the content does not match the extension")
