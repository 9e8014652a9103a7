"""The emphasis page: words that a careful editor would set in bold. Uploads are not stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import PurePath

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.core import InputError
from naisei.emphasis.corpus.read import SUFFIXES, Format, read_bytes
from naisei.emphasis.review import suggested, why_none
from naisei.emphasis.tag import Suggestions, TextRun, marked, paragraphs, suggest
from naisei.emphasis.taggers.editor import bundled_tagger
from naisei.lang import say
from naisei.lengths import PASTED
from naisei.web.html import Refused, page_response
from naisei.web.pages import Page
from naisei.web.state import server_of

#: Maximum number of listed suggestions, and of characters shown beside each.
_REVIEWED, _AROUND = 1_000, 24
#: Articles of the sample, from `naisei.emphasis.demo.HELD_OUT`.
_SAMPLES = ("stain", "coffee", "teamwork")
#: Maximum number of documents read at a time.
_READING = asyncio.Semaphore(2)


@dataclass(frozen=True, slots=True)
class _Reviewed:
    """A suggestion in its line. kept: whether it is accepted."""

    before: str
    text: str
    after: str
    reason: str
    kept: bool


async def _start(request: Request) -> Response:
    return page_response(
        request,
        "emphasis/start.html",
        sample=await asyncio.to_thread(_sample),
        suffixes=sorted(SUFFIXES),
    )


def _sample() -> str:
    """Join articles outside the training data into one document, without their marks."""
    folder = files("naisei") / "data" / "emphasis_articles"
    texts = [(folder / f"{name}.md").read_text("utf-8") for name in _SAMPLES]
    sections = [text.replace("**", "").replace("# ", "## ", 1) for text in texts]
    return "\n".join(("# 暮らしと仕事のこつ\n", *sections))


async def _tag(request: Request) -> Response:
    server = server_of(request)
    async with request.form(max_files=1, max_fields=_REVIEWED + 10) as form:
        share = _share(str(form.get("max_share", "1")))
        data, name = await _uploaded(form, server.options.max_upload)
        kept = {str(n) for n in form.getlist("keep")} if form.get("reviewed") else None
    kind = SUFFIXES.get(PurePath(name).suffix.lower())
    if kind is None:
        known = ", ".join(sorted(SUFFIXES))
        raise Refused(415, f"受け付ける形式は {known} です", f"only {known} are taken")
    async with _READING:
        found, rows = await asyncio.to_thread(_suggested, data, kind, name, share)
        text, lost, reviewed = await asyncio.to_thread(_marked, found, kept)
    # A long text makes a long page.
    return await asyncio.to_thread(
        page_response,
        request,
        "emphasis/_result.html",
        found=found,
        why_none=why_none(found),
        paragraphs=rows,
        text=text,
        lost=lost,
        reviewed=reviewed,
        share=share,
        name=name,
        back="/emphasis",
    )


def _share(given: str) -> float:
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:  # also rejects NaN
        raise InputError(
            say("0 から 1 までの数です", "must be a number from 0 to 1"),
            place=say("割合の上限", "share"),
        )
    return value


async def _uploaded(form: FormData, most: int) -> tuple[bytes, str]:
    """Return the document and its name: the file, or else the pasted Markdown."""
    # Reviewed documents are returned in UTF-8.
    most = min(most, PASTED) * (2 if form.get("reviewed") else 1)
    upload = form.get("file")
    if isinstance(upload, UploadFile) and upload.filename:
        data, name = await upload.read(most + 1), PurePath(upload.filename).name
    else:
        data = str(form.get("text", "")).replace("\r\n", "\n").encode()
        name = PurePath(str(form.get("name") or "pasted.md")).name
    if not data.strip():
        raise Refused(422, "文章を入れてください", "please give a text")
    if len(data) > most:
        kilo = most // 1000
        raise Refused(
            413,
            f"{kilo} KB までです。長い文書には naisei emphasis tag を使ってください",
            f"at most {kilo} KB; use naisei emphasis tag for long documents",
        )
    return data, name


def _suggested(
    data: bytes, kind: Format, name: str, share: float
) -> tuple[Suggestions, list[list[TextRun]]]:
    found = suggest(read_bytes(data, kind, name=name), bundled_tagger(), max_share=share)
    return found, list(paragraphs(found))


def _marked(found: Suggestions, kept: set[str] | None) -> tuple[str | None, int, list[_Reviewed]]:
    """Return the document with its marks as text; `None` if it cannot be marked. kept: numbers of
    accepted suggestions; all by default."""
    if found.document.source is None:
        return None, 0, []
    source = found.document.source
    ones = list(suggested(found))
    taken = [kept is None or n >= _REVIEWED or str(n) in kept for n in range(len(ones))]
    rows = [
        _Reviewed(
            before=_line(source.text[max(0, one.start - _AROUND) : one.start]),
            text=source.text[one.start : one.end],
            after=_line(source.text[one.end : one.end + _AROUND]),
            reason=one.reason,
            kept=accepted,
        )
        for one, accepted in islice(zip(ones, taken, strict=True), _REVIEWED)
    ]
    chosen = [one.stretch for one, accepted in zip(ones, taken, strict=True) if accepted]
    data, _, lost = marked(found, None if kept is None else chosen)
    return data.decode(source.encoding, errors="replace"), lost, rows


def _line(text: str) -> str:
    return " ".join(text.split())


PAGE = Page(
    name="emphasis",
    title=("自動強調", "Emphasis"),
    about=(
        "文書の中で太字にするとよい語句を、確率の濃淡で示します。",
        "Shows which words of a document deserve bold type.",
    ),
    icon="M7 4h6a4 4 0 010 8H7zM7 12h7a4 4 0 010 8H7z",
    order=60,
    routes=[Route("/emphasis", _start), Route("/emphasis/tag", _tag, methods=["POST"])],
)
