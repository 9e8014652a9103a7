"""Loads a file as a `Document`, with its effective date from front matter, text or name.

Removes invisible characters (zero-width, direction and tag characters): they can hide instructions
from people and split words for the search.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, get_args

from pydantic import JsonValue

from naisei.invisible import INVISIBLE, JOINERS
from naisei.japanese.dates import dates_in, effective_date, version_of
from naisei.lang import say
from naisei.lengths import SMALL_FILE
from naisei.retrieval.loaders.blocks import SUFFIXES, Read, TooIntricate, TooLong
from naisei.retrieval.types import Document, Format, LoadLimits, Passage, Unreadable
from naisei.sandbox import ParserStopped, Sandbox
from naisei.text_files import Undecodable, decode

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
#: Passages from either end searched for the effective date.
_ENDS = 12
_HISTORY = ("履歴", "附則", "附 則", "改定", "改訂", "施行", "history")


@dataclass(frozen=True, slots=True)
class Dated:
    """date: effective date; source: where it was found, `front matter`, `text`, `name`, or `part of
    name` without a day (such a date orders editions and is not shown);
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
        _named(path),
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
    """The latest of the dates with the highest certainty."""
    found = [effective_date(title)]
    for n, passage in enumerate(passages):
        under = passage.headings[-1] if passage.headings else ""
        history = under if any(word in under.lower() for word in _HISTORY) else ""
        if history or n < _ENDS or n >= len(passages) - _ENDS:
            found.append(effective_date(passage.text, history))
            found.append(effective_date(under))
    sure = [when for when in found if when is not None]
    return max(sure)[1] if sure else None


def _named(path: PurePosixPath) -> tuple[str, dt.date | None]:
    """Source and last date in the file name, else in the nearest folder name with one."""
    for part in (path.stem, *reversed(path.parts[:-1])):
        spaced = part.replace("_", " ")
        if found := dates_in(spaced):
            return "name" if found[-1].precise == "day" else "part of name", found[-1].date
        years = [w for w in spaced.replace("-", " ").split() if w.isascii() and w.isdigit()]
        if years and len(years[-1]) == 4 and years[-1][:2] in ("19", "20"):
            return "part of name", dt.date(int(years[-1]), 1, 1)
    return "", None


_UNSEEN = re.compile(
    f"[{INVISIBLE}{JOINERS}]"
    # A letter has one variant selector; a run of them encodes bytes.
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)


def seen_text(text: str) -> str:
    """Remove invisible characters; kanji keep variant selectors (葛󠄀)."""
    return _UNSEEN.sub("", text)


def strip_invisible(read: Read) -> Read:
    """Remove invisible characters, then empty passages."""
    read.title = seen_text(read.title)
    changed = (
        passage.model_copy(
            update={
                "text": seen_text(passage.text),
                "header": seen_text(passage.header),
                "headings": tuple(h for h in map(seen_text, passage.headings) if h),
            }
        )
        if _UNSEEN.search("\n".join((passage.text, passage.header, *passage.headings)))
        else passage
        for passage in read.passages
    )
    read.passages = [passage for passage in changed if passage.text.strip()]
    return read


#: Formats with robust parsers; small files are read in-process.
_TEXTS = frozenset({"md", "txt", "html", "csv"})


def unknown_format() -> str:
    return say("対応していない形式です", "no format that is read here")


def parsed(name: str, data: bytes, limits: LoadLimits) -> Document:
    """Parse bytes into a document. Raises `Unreadable`."""
    known = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if known is None:
        raise Unreadable(name, unknown_format())
    if not data.strip():
        raise Unreadable(name, say("空のファイルです", "empty"))
    try:
        read = strip_invisible(_read(known, name, data, limits))
        when = dated(name, read)
    except Unreadable:
        raise
    except TooLong:
        most = f"{limits.characters:,}"
        raise Unreadable(
            name, say(f"{most} 文字を超えています", f"over {most} characters")
        ) from None
    except TooIntricate:
        raise Unreadable(name, say("入り組みすぎています", "too intricate")) from None
    except MemoryError:
        raise
    # Any file may crash a parser in any way; it must not stop the others.
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
        hidden=tuple(read.hidden),
    )


def parsed_apart(name: str, data: bytes, limits: LoadLimits, sandbox: Sandbox) -> Document:
    """Like `parsed`, but reads all except small text files in the sandbox.

    Raises:
        Unreadable: as `parsed`; or too much time or memory used.
    """
    known = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if known in _TEXTS and len(data) <= SMALL_FILE:
        return parsed(name, data, limits)
    options = {"name": name, "limits": asdict(limits)}
    try:
        answer = sandbox.call(f"{__name__}:answered", options, data)
    except ParserStopped as stopped:
        raise Unreadable(name, stopped.why) from None
    if "unreadable" in answer:
        raise Unreadable(name, answer["unreadable"])
    return Document.model_validate(answer["document"])


def answered(data: bytes, options: dict[str, Any]) -> dict[str, Any]:
    """The sandbox's part of `parsed_apart`."""
    try:
        document = parsed(options["name"], data, LoadLimits(**options["limits"]))
    except Unreadable as error:
        return {"unreadable": error.why}
    return {"document": document.model_dump(mode="json")}


#: Module of `naisei.retrieval.loaders` and function for each format; it takes bytes or text.
_OF_BYTES: dict[Format, tuple[str, str]] = {
    "pdf": ("pdf", "read_pdf"),
    "docx": ("docx", "read_docx"),
    "xlsx": ("sheets", "read_xlsx"),
    "pptx": ("slides", "read_pptx"),
    "odt": ("opendocument", "read_odt"),
}
_OF_TEXT: dict[Format, tuple[str, str]] = {
    "md": ("markdown", "read_markdown"),
    "txt": ("markdown", "read_plain"),
    "html": ("html", "read_html"),
    "csv": ("sheets", "read_csv"),
    "rst": ("restructured", "read_rst"),
}
assert {*_OF_BYTES, *_OF_TEXT, "eml"} == set(SUFFIXES.values()) == set(get_args(Format))


def _read(known: Format, name: str, data: bytes, limits: LoadLimits) -> Read:
    """Import each parser at the first file of its format: importing all of them takes as long as
    reading a hundred pages."""
    if known in _OF_BYTES:
        return _reader(*_OF_BYTES[known])(name, data, limits)
    if known == "eml":
        return _reader("mail", "read_mail")(data, limits.characters)
    try:
        text = decode(data)
    except Undecodable:
        why = say("文字コードを判別できません", "not text in a known encoding")
        raise Unreadable(name, why) from None
    return _reader(*_OF_TEXT[known])(text, limits.characters)


def _reader(module: str, function: str) -> Callable[..., Read]:
    found: Callable[..., Read] = getattr(
        import_module(f"naisei.retrieval.loaders.{module}"), function
    )
    return found
