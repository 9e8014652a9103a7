"""Documents of strangers, read in a process of their own where they could make a parser dear."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Block, Heading, ParsedText, Source
from naisei.emphasis.corpus.read import Document, Format, of_file, read_bytes
from naisei.lang import say
from naisei.lengths import SMALL_FILE
from naisei.sandbox import ParserStopped, Sandbox

#: Characters one after another of which each follows the one before: where the first stands, the
#: width of each in the source, whether they are bold, and fixed; how many.
_Run = tuple[int, int, bool, bool, int]


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
        tuple(_block(text, runs) for text, runs in said["blocks"]),
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
        "blocks": [(block.text, _runs(block)) for block in parsed.blocks],
        "headings": [(h.level, h.text, h.block) for h in parsed.headings],
        "writer": parsed.writer,
        "domain": parsed.domain,
    }


def _runs(block: Block) -> list[_Run]:
    found: list[_Run] = []
    marks = zip(block.starts, block.ends, block.bold, block.fixed, strict=True)

    def alike(counted: tuple[int, tuple[int, int, bool, bool]]) -> tuple[int, int, bool, bool]:
        at, (start, end, bold, fixed) = counted
        return start - at * (end - start), end - start, bold, fixed

    for (_, width, bold, fixed), run in groupby(enumerate(marks), key=alike):
        characters = list(run)
        found.append((characters[0][1][0], width, bold, fixed, len(characters)))
    return found


def _block(text: str, runs: Iterable[_Run]) -> Block:
    starts: list[int] = []
    ends: list[int] = []
    bolds: list[bool] = []
    fixeds: list[bool] = []
    for start, width, bold, fixed, count in runs:
        places = [start + n * width for n in range(count)]
        starts += places
        ends += [place + width for place in places]
        bolds += [bold] * count
        fixeds += [fixed] * count
    return Block(text, tuple(starts), tuple(ends), tuple(bolds), tuple(fixeds))
