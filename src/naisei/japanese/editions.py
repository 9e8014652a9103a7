"""Editions of one document by name: 旅費規程_2021, 旅費規程 v2, 【旧】旅費規程（改訂版）."""

from __future__ import annotations

import re
import unicodedata

from naisei.japanese.dates import dates_in

__all__ = ["is_old", "is_series", "version_of", "work_name"]

_VERSION = re.compile(
    r"(?<![a-z])(?:version|ver|v|rev)[ ._-]?(\d+(?:\.\d+)*)(?![a-z0-9])"
    r"|第(\d+(?:\.\d+)*)[版号]|(?<!\d)(\d+(?:\.\d+)*)版"
)
_OLD = re.compile(
    r"旧(?:版|規程|規定|制度|$|[_\-\s)】\]])|(?:^|[_\-\s(【\[/])旧|(?<![a-z])(?:old|obsolete|archive[ds]?|"
    r"deprecated|superseded)(?![a-z])|廃止(?:版|済)|アーカイブ"
)
_EDITION = re.compile(
    r"改[訂定正]版?|最新版?|新版|旧版?|現行版?|確定版?|暫定版?|初版|廃止[版済]?|アーカイブ|年度|版|"
    r"(?<![a-z])(?:old|new|latest|final|draft|obsolete|archived?|deprecated|revised|updated|copy)(?![a-z])|"
    r"のコピー|コピー"
)
_SERIES = re.compile(
    r"議事録|会議録|社内報|月報|週報|日報|年報|ニュース|お知らせ|通知|通信|レポート|報告|速報|月号|"
    r"だより|カレンダー|minutes|report|news|letter|weekly|monthly|diary|calendar"
)
_NOISE = re.compile(r"[\W_]+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def version_of(name: str) -> tuple[int, ...]:
    """The last version number in a name: `手順書_v2.1` → (2, 1); () if there is none."""
    found = _VERSION.findall(_fold(name))
    written = next((group for group in found[-1] if group), "") if found else ""
    return tuple(int(part) for part in written.split(".")[:4]) if written else ()


def is_old(name: str) -> bool:
    """Whether a name or path says that it is an old edition: 旧, 廃止, old, archive."""
    return _OLD.search(_fold(name)) is not None


def is_series(name: str) -> bool:
    """Whether documents of this name replace nothing: minutes, reports, newsletters."""
    return _SERIES.search(_fold(name)) is not None


def work_name(name: str) -> str:
    """The name without dates, versions, words of edition, marks and spaces.

    >>> work_name("【旧】旅費規程（2021年4月改定）"), work_name("旅費規程_v2")
    ('旅費規程', '旅費規程')
    """
    # Case as it was: dates are read with the capital letter of their era.
    text = unicodedata.normalize("NFKC", name).replace("_", " ")
    for when in reversed(dates_in(text)):
        text = f"{text[: when.start]} {text[when.end :]}"
    text = _YEAR.sub(" ", _VERSION.sub(" ", text.casefold()))
    return _NOISE.sub("", _EDITION.sub(" ", text))
