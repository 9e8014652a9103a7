"""Checking many lines: a file is read twice, so that nothing is answered if a row is bad."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from naisei.director.check import rules_of
from naisei.director.scripts import Kind, ScriptLine, read_lines
from naisei.director.speakers import Speakers
from naisei.director.verdict import LineVerdict
from naisei.lang import say
from naisei.text_files import as_utf8, unreadable

__all__ = ["Judged", "judged_lines", "opened"]

#: Lines before that are given to the checks; they read the last five.
_HISTORY = 8

Judged = tuple[ScriptLine, LineVerdict]


@contextmanager
def opened(path: str, *, live: bool = False) -> Iterator[tuple[BinaryIO, str]]:
    """A stream of UTF-8 with its name, whatever the file's encoding; `-` is stdin, which is kept
    aside until its end unless `live`, so that it can be read twice.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    if path == "-" and live:
        yield sys.stdin.buffer, "stdin"
        return
    try:
        source = sys.stdin.buffer if path == "-" else Path(path).open("rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        remedy = say(
            "ファイル名か、標準入力なら - を指定してください",
            "name a file, or - for standard input",
        )
        raise unreadable(error, path, remedy=remedy) from None
    with source:
        if source.seekable() and path != "-":
            yield as_utf8(source, path), path
            return
        with tempfile.TemporaryFile() as aside:
            shutil.copyfileobj(source, aside)
            place = "stdin" if path == "-" else path
            yield as_utf8(aside, place), place


def judged_lines(
    stream: BinaryIO,
    place: str,
    speakers: Speakers,
    *,
    kind: Kind = "auto",
    one_talk: bool = False,
    live: bool = False,
) -> Iterator[Judged]:
    """Each line with its verdict, as the input goes on; lines of others are passed over.

    one_talk: the lines before are the history of a line that gives none of its own; a plain
    script is always one talk. live: begin before the input has been read to its end.

    Raises:
        InputError: at the row that cannot be used; unless `live`, before the first verdict.
    """
    if not live:
        for _ in read_lines(stream, place, speakers, kind=kind):
            pass
        stream.seek(0)
    before: deque[str] = deque(maxlen=_HISTORY)
    for line in read_lines(stream, place, speakers, kind=kind, by_row=live):
        history = line.history
        if history is None:
            history = tuple(before) if one_talk or line.in_script else ()
        if line.character is not None:
            yield line, rules_of(line.character).check(line.text, history)
        before.append(line.text)
