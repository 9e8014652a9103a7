"""Where documents lie, and their indexes: built once, opened once, closed when nobody reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from pathlib import Path
from weakref import WeakValueDictionary

from starlette.exceptions import HTTPException

from naisei.intent.contacts import Contacts, load_contacts
from naisei.lang import say
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.types import IndexReport
from naisei.web.options import WebOptions
from naisei.web.pages.documents.config import Shelf

__all__ = ["contacts_of", "documents_in", "index_path", "rebuild", "shared_index"]

#: Index folder → (the open index, how many read it).
_OPEN: dict[Path, tuple[Index, int]] = {}
_LOCKS: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def index_path(shelf: Shelf, folder: Path, options: WebOptions) -> Path:
    """Where the index of a shelf is. folder: the visitor's own.

    Raises:
        HTTPException: the server has no documents of its own.
    """
    if shelf == "own":
        return folder / "documents-index"
    if shelf == "handbook":
        return options.state / "handbook-index"
    if options.documents is not None:
        return options.state / "server-index"
    if options.index is None:
        raise HTTPException(
            422, say("このサーバーには資料がありません", "this server has no documents")
        )
    return options.index


def documents_in(folder: Path) -> Path:
    """The visitor's folder of uploads, made if need be."""
    found = folder / "documents"
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found


async def rebuild(shelf: Shelf, folder: Path, options: WebOptions) -> IndexReport | None:
    """Bring the index of a shelf up to date; `None` for one that is made elsewhere.

    Raises:
        InputError: there is nothing to index.
    """
    target = index_path(shelf, folder, options)
    async with _LOCKS.setdefault(str(target), asyncio.Lock()):
        if shelf == "server":
            if options.documents is None:
                return None
            return await asyncio.to_thread(build, target, options.documents, wait=60)
        if shelf == "own":
            return await asyncio.to_thread(build, target, documents_in(folder), wait=60)
        return await asyncio.to_thread(_handbook, target)


def _handbook(target: Path) -> IndexReport:
    with as_file(files("naisei.data") / "handbook") as documents:
        # By words alone: vectors of the whole handbook would keep a person waiting for a minute.
        return build(target, documents, embedder=None, wait=60)


@asynccontextmanager
async def shared_index(path: Path) -> AsyncIterator[Index]:
    """The index of a folder, the same for all who read it now.

    Raises:
        InputError: there is none.
    """
    async with _LOCKS.setdefault(f"open {path}", asyncio.Lock()):
        held = _OPEN.get(path)
        if held is None:
            index = await asyncio.to_thread(Index.open, path)
            _OPEN[path] = (index, 1)
        else:
            index = held[0]
            _OPEN[path] = (index, held[1] + 1)
    try:
        yield index
    finally:
        readers = _OPEN[path][1] - 1
        if readers:
            _OPEN[path] = (index, readers)
        else:
            del _OPEN[path]
            index.close()


def contacts_of(shelf: Shelf) -> Contacts:
    """Whom to ask, where the shelf comes with such a file."""
    if shelf != "handbook":
        return Contacts()
    with as_file(files("naisei.data") / "handbook" / "contacts.toml") as path:
        return load_contacts(path)
