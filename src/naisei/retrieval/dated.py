"""When a document took effect: from front matter, else its text, else its name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import JsonValue

from naisei.japanese.dates import dates_in, effective_date, version_of
from naisei.retrieval.types import Passage

if TYPE_CHECKING:
    from naisei.retrieval.loaders.blocks import Read

#: Best first.
_KEYS = (
    ("施行日", "適用日", "発効日", "effective", "effective_date", "effective-date"),
    ("改定日", "改訂日", "改正日", "revised", "revision_date", "最終改定日", "最終改訂日"),
    ("更新日", "最終更新日", "updated", "last_updated", "lastmod", "modified"),
    ("date", "日付", "発行日", "公開日", "published"),
    ("制定日", "作成日", "created"),
)
#: Passages from either end that may say when a document took effect.
_ENDS = 12
_HISTORY = ("履歴", "附則", "附 則", "改定", "改訂", "施行", "history")


@dataclass(frozen=True, slots=True)
class Dated:
    """date: when it took effect; source: the place of the date, `front matter`, `text` or `name`;
    version: numbers after a v in its name, (2, 1) for v2.1."""

    date: dt.date | None = None
    source: str = ""
    version: tuple[int, ...] = ()


def dated(name: str, read: Read) -> Dated:
    """name: the path within the folder."""
    path = PurePosixPath(name)
    stated = read.meta.get("version") or read.meta.get("版")
    version = (
        version_of(path.stem)
        or (version_of(f"v{str(stated).lstrip('vV')}") if stated else ())
        or version_of(read.title)
    )
    for source, when in (
        ("front matter", _stated(read.meta)),
        ("text", _effective_date(read.title, read.passages)),
        ("name", _named(path)),
    ):
        if when is not None:
            return Dated(when, source, version)
    return Dated(version=version)


def _stated(meta: Mapping[str, JsonValue]) -> dt.date | None:
    folded = {key.strip().lower(): value for key, value in meta.items()}
    for keys in _KEYS:
        for key in keys:
            if isinstance(value := folded.get(key), str) and (found := dates_in(value)):
                return found[0].date
    return None


def _effective_date(title: str, passages: Sequence[Passage]) -> dt.date | None:
    """The latest date of those that the text is surest of."""
    found = [effective_date(title)]
    for n, passage in enumerate(passages):
        under = passage.headings[-1] if passage.headings else ""
        history = under if any(word in under.lower() for word in _HISTORY) else ""
        if history or n < _ENDS or n >= len(passages) - _ENDS:
            found.append(effective_date(passage.text, history))
            found.append(effective_date(under))
    sure = [when for when in found if when is not None]
    return max(sure)[1] if sure else None


def _named(path: PurePosixPath) -> dt.date | None:
    """The last date in the file's name, else in its nearest folder's that has one."""
    for part in (path.stem, *reversed(path.parts[:-1])):
        spaced = part.replace("_", " ")
        if found := dates_in(spaced):
            return found[-1].date
        years = [w for w in spaced.replace("-", " ").split() if w.isascii() and w.isdigit()]
        if years and len(years[-1]) == 4 and years[-1][:2] in ("19", "20"):
            return dt.date(int(years[-1]), 1, 1)
    return None
