"""A folder into an index: only what changed is read, cut and embedded."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from filelock import FileLock, Timeout

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder
from naisei.retrieval.chunking import CHUNKING, Chunking, pieces
from naisei.retrieval.folder import walk
from naisei.retrieval.generation import write_generation
from naisei.retrieval.likeness import signature
from naisei.retrieval.limits import LIMITS, LoadLimits
from naisei.retrieval.load import parsed, read_bytes
from naisei.retrieval.store import Store, recipe
from naisei.retrieval.types import IndexReport, Skipped
from naisei.retrieval.unreadable import Unreadable

__all__ = ["build"]

#: Documents written at once: what a killed run loses at most.
_BATCH = 64
LOCK = "index.lock"


def build(
    index_dir: Path | str,
    docs_dir: Path | str,
    *,
    embedder: str | Embedder | None = "auto",
    chunking: Chunking = CHUNKING,
    limits: LoadLimits = LIMITS,
    wait: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
    embedding: Callable[[int, int], None] | None = None,
) -> IndexReport:
    """Index the documents below a folder, or bring the index up to date.

    Readers see the index as it was until the very end. A killed run leaves it so; the next
    takes over what had been read and embedded.

    Args:
        index_dir: made if it is not there; may lie inside `docs_dir`.
        embedder: a name as for `open_embedder`, or an embedder; None for words alone.
        wait: seconds to wait for another indexer of the same index.
        progress: is told (files done, files in all).
        embedding: is told (chunks embedded, chunks to embed), as soon as that begins.

    Raises:
        InputError: no such folder, another indexer at work, too many files.
        InstrumentFailure: from the embedder; what was embedded before is kept.
    """
    began = time.perf_counter()
    index_dir, docs_dir = Path(index_dir), Path(docs_dir)
    if not docs_dir.is_dir():
        raise InputError(
            say("そのようなフォルダーはありません", "no such folder"),
            place=str(docs_dir),
            remedy=say("資料のフォルダーを指定してください", "name a folder of documents"),
        )
    model = open_embedder(embedder) if isinstance(embedder, str) else embedder
    index_dir.mkdir(parents=True, exist_ok=True)
    with _alone(index_dir, wait), closing(Store(index_dir, create=True)) as store:
        how = recipe(chunking, limits)
        before = store.members(store.generation())
        now: dict[str, int] = {}
        skipped: list[Skipped] = []
        added: list[str] = []
        changed: list[str] = []
        read = 0
        files, left_out = walk(docs_dir, limits=limits, beside=index_dir)
        skipped += left_out
        for done, (name, path) in enumerate(files):
            if progress is not None:
                progress(done, len(files))
            try:
                data = read_bytes(path, name, limits)
                digest = hashlib.sha256(data).hexdigest()
                number = store.find(name, digest, how)
                if number is None:
                    document = parsed(name, data, limits)
                    made = pieces(document, chunking)
                    number = store.add(document, made, how, signature(document.passages))
                    read += 1
                    if read % _BATCH == 0:
                        store.db.commit()
            except Unreadable as error:
                skipped.append(Skipped(path=name, why=error.why))
                continue
            now[name] = number
            if name not in before:
                added.append(name)
            elif before[name][1] != digest:
                changed.append(name)
        store.db.commit()
        if progress is not None:
            progress(len(files), len(files))
        report = IndexReport(
            added=tuple(added),
            changed=tuple(changed),
            removed=tuple(sorted(before.keys() - now.keys())),
            unchanged=len(now) - len(added) - len(changed),
            skipped=tuple(sorted(skipped, key=lambda s: s.path)),
            documents=len(now),
            parsed=read,
            embedder=model.name if model else None,
        )
        numbers = list(now.values())
        return write_generation(store, index_dir, numbers, model, report, began, embedding)


def _alone(index_dir: Path, wait: float) -> FileLock:
    lock = FileLock(index_dir / LOCK)
    try:
        lock.acquire(timeout=wait)
    except Timeout:
        raise InputError(
            say("ほかのプロセスがこの索引を更新中です", "another process is indexing here"),
            place=str(index_dir),
            remedy=say("終わるのを待ってください", "wait until it is done"),
        ) from None
    return lock
