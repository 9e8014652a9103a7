"""When a document took effect."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from naisei.retrieval.loaders.blocks import Read

__all__ = ["Dated", "dated"]


@dataclass(frozen=True, slots=True)
class Dated:
    """date: when it took effect; source: where that stands, `front matter`, `text` or `name`;
    version: numbers after a v in its name, (2, 1) for v2.1."""

    date: dt.date | None = None
    source: str = ""
    version: tuple[int, ...] = ()


def dated(name: str, read: Read) -> Dated:
    return Dated()
