"""Where an open index is read from: generations in a folder or a database."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from naisei.core import InputError
from naisei.lang import say
from naisei.retrieval.snapshot import Snapshot
from naisei.retrieval.store import Store


class Generations(Protocol):
    """The source of an index. Numbers grow with each generation."""

    def generation(self) -> int:
        """The newest complete generation. Raises `InputError` if none."""
        ...

    def snapshot(self, generation: int, groups: Collection[str] | None) -> Snapshot:
        """A generation as visible to these groups (`None`: all). Raises `Gone` if it was
        removed."""
        ...

    def close(self) -> None: ...


class FolderGenerations:
    """The generations of an index in a folder."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._store = directory, Store(directory)

    def generation(self) -> int:
        if (newest := self._store.generation()) == 0:
            raise InputError(
                say("索引がまだできあがっていません", "the index is not finished"),
                place=str(self._directory),
                remedy=say("もう一度索引を作ってください", "index the folder again"),
            )
        return newest

    def snapshot(self, generation: int, groups: Collection[str] | None) -> Snapshot:
        return Snapshot(self._store, self._directory, generation, groups)

    def close(self) -> None:
        self._store.close()
