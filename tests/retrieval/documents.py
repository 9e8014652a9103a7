"""Documents of the tests: written to a folder, or read from bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from naisei.retrieval.load import parsed
from naisei.retrieval.types import LIMITS, Document, LoadLimits


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder, with these files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def read(name: str, data: bytes | str, limits: LoadLimits = LIMITS) -> Document:
    return parsed(name, data.encode() if isinstance(data, str) else data, limits)


def lines(name: str, data: bytes | str) -> list[str]:
    return [line for one in read(name, data).passages for line in one.text.split("\n")]


def saved(made: Any) -> bytes:
    """The file of a Word document, a workbook or slides."""
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()
