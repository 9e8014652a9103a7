"""Shared types of retrieval: documents, chunks, hits and limits."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, fields
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import InputError, NaiseiError
from naisei.lang import say
from naisei.lengths import PARSE_SECONDS

Format = Literal["md", "txt", "html", "pdf", "docx", "odt", "rst", "xlsx", "csv", "pptx", "eml"]
#: Search by words and meaning together, by words or by meaning.
Mode = Literal["hybrid", "bm25", "dense"]


class Passage(BaseModel):
    """One block of a document as a reader sees it: a paragraph, a list, or a row of a table.

    headings: those above it, outermost first. page: from 1, where the format has pages.
    kind: `row` is a table's row, `| a | b |`; its `header` is the table's first row, written
    the same way, or empty.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None
    kind: Literal["text", "row"] = "text"
    header: str = ""


class Hidden(BaseModel):
    """Hidden text of a document, left out. how: the means, such as `display: none`; text: its
    beginning."""

    model_config = ConfigDict(frozen=True)

    how: str
    text: str

    @property
    def unread(self) -> bool:
        """Whether the part is not hidden but unreadable."""
        return self.how in (UNREAD_PAGE, UNREAD_ATTACHMENT)


#: The heading for quoted text in a mail.
QUOTED = "引用"
#: `how` of unreadable parts; the text is a page number or an attachment's name.
UNREAD_PAGE, UNREAD_ATTACHMENT = "page without text", "attachment"


class Document(BaseModel):
    """A loaded file.

    path: relative to the folder, with `/`. sha256: of the file's bytes, in hex. date: when it
    took effect, see `naisei.retrieval.editions`. version: as its name or front matter says (v2 →
    (2,)), for documents without dates. meta: what its front matter says, and `date_from`: where
    the date was found. hidden: hidden text that was left out.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    title: str
    format: Format
    sha256: str
    date: dt.date | None = None
    version: tuple[int, ...] = ()
    meta: dict[str, JsonValue] = {}
    passages: tuple[Passage, ...] = ()
    hidden: tuple[Hidden, ...] = ()


class Chunk(BaseModel):
    """The unit of search and citation.

    id: path, ordinal and a hash of the text: the same in every index of the same file.
    meta: the document's; `superseded_by` (path) where a newer version of it is in the index,
    `duplicate_of` (path) where it is a near copy of another document, `old` (true) if its name says
    so (旧, archive).
    """

    model_config = ConfigDict(frozen=True)

    id: str
    path: str
    title: str
    headings: tuple[str, ...] = ()
    page: int | None = None
    text: str
    format: Format = "txt"
    date: dt.date | None = None
    meta: dict[str, JsonValue] = {}


class Hit(BaseModel):
    """A search hit. score: higher is better, comparable within one search only.

    bm25, dense: its rank by words and by meaning, from 1; `None` if not a candidate there. words,
    cosine: its score there, BM25 (≥ 0) and cosine (−1 to 1; how to read it depends on the
    embedder). spans: the cosine of each of its sentences and rows, in the order of
    `naisei.retrieval.chunking.said`.
    """

    model_config = ConfigDict(frozen=True)

    chunk: Chunk
    score: float
    bm25: int | None = None
    dense: int | None = None
    words: float | None = None
    cosine: float | None = None
    spans: tuple[float, ...] = ()


class Skipped(BaseModel):
    """A file that was not indexed, and why, in the user's language."""

    model_config = ConfigDict(frozen=True)

    path: str
    why: str


class IndexReport(BaseModel):
    """Result of indexing. added, changed, removed: paths. parsed, embedded: documents read and
    texts embedded, reused ones excluded. embedder: its name, or None. idle: patterns of the
    permissions that fit no document."""

    model_config = ConfigDict(frozen=True)

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    documents: int = 0
    chunks: int = 0
    parsed: int = 0
    embedded: int = 0
    embedder: str | None = None
    idle: tuple[str, ...] = ()
    generation: int = 0
    seconds: float = 0.0


class Unreadable(NaiseiError):
    """path: the file; why: one phrase in the user's language (encrypted, broken, empty, …)."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path}: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadLimits:
    """Limits, each at least 1. bytes: per file. pages: per PDF. characters: of a document's
    text. inflated: bytes of an unpacked docx. files: documents in the folder. seconds: CPU time
    per file."""

    bytes: int = 20_000_000
    pages: int = 500
    characters: int = 2_000_000
    inflated: int = 200_000_000
    files: int = 100_000
    seconds: float = PARSE_SECONDS

    def __post_init__(self) -> None:
        for field in fields(self):
            if (value := getattr(self, field.name)) < 1:
                raise InputError(
                    say(
                        f"上限 {field.name} は 1 以上です（{value} が渡されました）",
                        f"the limit of {field.name} must be at least 1, not {value}",
                    )
                )


LIMITS = LoadLimits()
