"""Documents of strangers, read in a process of their own where they could make a parser dear."""

from __future__ import annotations

from array import array
from base64 import b85decode, b85encode
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from zlib import compress, decompress

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Block, Heading, ParsedText, Source
from naisei.emphasis.corpus.read import Document, Format, of_file, read_bytes
from naisei.lang import say
from naisei.lengths import SMALL_FILE
from naisei.sandbox import ParserStopped, Sandbox


def read_document_apart(path: Path) -> Document:
    """As `read_document`, with the limits of `read_apart`."""
    data, kind = of_file(path)
    return read_apart(data, kind, name=str(path))


def read_apart(data: bytes, kind: Format, *, name: str = "") -> Document:
    """As `read_bytes`; Word files, and texts above `naisei.lengths.SMALL_FILE`, in a process with
    limits of time and memory.

    Raises:
        InputError: no text, broken, or it takes too much to read.
    """
    if kind != "docx" and len(data) <= SMALL_FILE:
        return read_bytes(data, kind, name=name)
    try:
        with Sandbox() as sandbox:
            said = sandbox.call(f"{__name__}:answered", {"kind": kind, "name": name}, data)
    except ParserStopped as stopped:
        raise InputError(
            say("文書を読めません: ", "the document cannot be read: ") + stopped.why, place=name
        ) from None
    if "refused" in said:
        raise InputError(**said["refused"])
    parsed = ParsedText(
        said["title"],
        tuple(_block(*block) for block in said["blocks"]),
        tuple(Heading(*heading) for heading in said["headings"]),
        said["writer"],
        said["domain"],
    )
    return Document(name, kind, parsed, None if kind == "docx" else Source.of(data, place=name))


def answered(data: bytes, options: dict[str, Any]) -> dict[str, Any]:
    """What the sandbox answers `read_apart`."""
    try:
        parsed = read_bytes(data, options["kind"], name=options["name"]).parsed
    except InputError as error:
        told = {"message": error.message, "place": error.place, "remedy": error.remedy}
        return {"refused": told}
    return {
        "title": parsed.title,
        "blocks": [
            (b.text, *map(_packed, (b.starts, b.ends, b.bold, b.fixed))) for b in parsed.blocks
        ],
        "headings": [(h.level, h.text, h.block) for h in parsed.headings],
        "writer": parsed.writer,
        "domain": parsed.domain,
    }


def _block(text: str, *packed: str) -> Block:
    starts, ends, bold, fixed = map(_numbers, packed)
    return Block(text, starts, ends, tuple(map(bool, bold)), tuple(map(bool, fixed)))


def _packed(numbers: Sequence[int]) -> str:
    """Differences, which are mostly alike."""
    rises = array("q", (b - a for a, b in pairwise((0, *numbers))))
    return b85encode(compress(rises.tobytes())).decode("ascii")


def _numbers(packed: str) -> tuple[int, ...]:
    rises = array("q")
    rises.frombytes(decompress(b85decode(packed)))
    return tuple(accumulate(rises))
