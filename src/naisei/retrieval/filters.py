"""Which documents and sections a search is limited to.

| key | value | a chunk fits if |
|---|---|---|
| `path` | a glob, or several: `規程/*.md` | its path matches one (`*` crosses `/`) |
| `format` | `pdf`, or several | its document is of one of them |
| `date` | `{"from": …, "to": …}`, either end may be missing | its document's date lies within |
| `headings` | words, or several | a heading above it, or the title, contains one |
| anything else | a text, or several | its front matter says one of them under that key |

Width and case do not count. All keys must fit.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say

__all__ = ["OWN", "DocumentTest", "document_tests", "fold", "heading_words", "known_keys"]

OWN = ("path", "format", "date", "headings")
#: (path, format, date, meta) → whether it fits.
DocumentTest = Callable[[str, str, dt.date | None, Mapping[str, JsonValue]], bool]


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def known_keys(filters: Mapping[str, Any], keys: Collection[str]) -> None:
    """Raises:
    InputError: a key that is neither ours nor of any document's front matter.
    """
    for key in filters:
        if key not in OWN and key not in keys:
            usable = ", ".join([*OWN, *sorted(keys)])
            raise InputError(
                say(f"{key!r} を持つ資料がありません", f"no document has {key!r}"),
                place=f"filter {key}",
                remedy=say(f"使えるもの: {usable}", f"use {usable}"),
            )


def heading_words(filters: Mapping[str, Any]) -> tuple[str, ...]:
    """The folded words of the filter on headings; () if there is none."""
    return tuple(map(fold, _texts("headings", filters.get("headings", ()))))


def document_tests(filters: Mapping[str, Any]) -> list[DocumentTest]:
    """What a document must fit. Raises `InputError` for a value that is none."""
    return [_test(key, value) for key, value in filters.items() if key != "headings"]


def _test(key: str, value: Any) -> DocumentTest:
    if key == "date":
        first, last = _period(value)
        return lambda path, form, date, meta: date is not None and first <= date <= last
    wanted = tuple(map(fold, _texts(key, value)))
    if key == "path":
        return lambda path, form, date, meta: any(fnmatchcase(fold(path), w) for w in wanted)
    if key == "format":
        return lambda path, form, date, meta: form in wanted
    return lambda path, form, date, meta: any(
        fold(str(said)) in wanted for said in _list(meta.get(key))
    )


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(key: str, value: Any) -> tuple[str, ...]:
    found = (value,) if isinstance(value, (str, int, float)) else value
    if not isinstance(found, Collection) or isinstance(found, (Mapping, bytes)):
        raise InputError(
            say(
                f"{value!r} は文字列でも文字列の並びでもありません",
                f"{value!r} is no text, nor several",
            ),
            place=f"filter {key}",
        )
    return tuple(str(text) for text in found)


def _period(value: Any) -> tuple[dt.date, dt.date]:
    if not isinstance(value, Mapping) or not value or set(value) - {"from", "to"}:
        raise InputError(
            say(f"{value!r} は期間ではありません", f"{value!r} is no range of dates"),
            place="filter date",
            remedy='{"from": "2024-04-01", "to": "2025-03-31"}',
        )
    first, last = value.get("from"), value.get("to")
    return _day(first) if first else dt.date.min, _day(last) if last else dt.date.max


def _day(value: Any) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            say(f"{value!r} は日付ではありません", f"{value!r} is no date"),
            place="filter date",
            remedy=say("2024-04-01 のように書いてください", "write it as 2024-04-01"),
        ) from None
