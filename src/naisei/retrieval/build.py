"""Indexes a folder; reads, splits and embeds only what changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import numpy as np
from filelock import FileLock, Timeout

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder
from naisei.retrieval.chunking import raw_chunks
from naisei.retrieval.editions import Relation, relations, signature
from naisei.retrieval.load import parsed_apart, unknown_format
from naisei.retrieval.loaders.blocks import SUFFIXES, read_bytes
from naisei.retrieval.permissions import FILE as PERMISSIONS
from naisei.retrieval.permissions import Permissions
from naisei.retrieval.seal import check, seal, telling
from naisei.retrieval.store import CHUNKS, FILE, Store, folder_of, recipe
from naisei.retrieval.types import LIMITS, IndexReport, LoadLimits, Skipped, Unreadable
from naisei.retrieval.vectors import embed_missing, write_spans, write_vectors
from naisei.retrieval.words import write_words
from naisei.sandbox import Sandbox


def walk(
    folder: Path, *, limits: LoadLimits, beside: Path | None = None
) -> tuple[list[tuple[str, Path]], list[Skipped]]:
    """([(name, path)] by name, skipped files). name: the path within the folder, with `/`,
    in NFC (macOS writes NFD). Hidden files and Office lock files (`~$…`) are silently ignored.
    Unsupported formats and links out of the folder are skipped.
    beside: a folder to ignore, such as the index's own.

    Raises:
        InputError: more files than the limit.
    """
    root = folder.resolve()
    apart = _identity(beside) if beside is not None else None
    found: dict[str, Path] = {}
    left_out: list[Skipped] = []
    for base, folders, files in os.walk(folder, followlinks=False):
        here = Path(base)
        folders[:] = sorted(
            f
            for f in folders
            if not f.startswith(".") and (apart is None or _identity(here / f) != apart)
        )
        for file in sorted(files):
            path = here / file
            if file.startswith((".", "~$")) or (here == folder and file == PERMISSIONS):
                continue
            given = path.relative_to(folder).as_posix()
            name = unicodedata.normalize("NFC", given)
            if why := _refused(path, root, given, name in found):
                left_out.append(Skipped(path=name.encode("utf-8", "replace").decode(), why=why))
                continue
            found[name] = path
            if len(found) > limits.files:
                raise InputError(
                    say(
                        f"資料が {limits.files:,} 件を超えています",
                        f"more than {limits.files:,} documents",
                    ),
                    place=str(folder),
                    remedy=say(
                        "小さいフォルダーに分けるか、件数の上限を上げてください",
                        "index a smaller folder, or raise the limit of files",
                    ),
                )
    return sorted(found.items()), left_out


def _identity(path: Path) -> tuple[int, int] | None:
    """A folder's identity, independent of its name; `None` if missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _refused(path: Path, root: Path, given: str, twice: bool) -> str:
    """Why this file is skipped; empty if it is read."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return say("ファイル名が UTF-8 ではありません", "its name is not UTF-8")
    if path.suffix.lower() not in SUFFIXES:
        return unknown_format()
    if twice:
        return say("同じ名前のファイルが別にあります", "another file has the same name in NFC")
    if path.is_symlink():
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return say("リンク先がありません", "a link to nowhere")
        if not target.is_relative_to(root):
            return say("フォルダーの外へのリンクです", "a link out of the folder")
        path = target
    if not path.is_file():
        return say("通常のファイルではありません", "not a regular file")
    return ""


#: Earlier generations kept for current readers.
_KEPT = 1


#: For each document, the groups that may see it, as JSON, and its URL.
Filing = tuple[str | None, str | None]


def write_generation(
    store: Store,
    index_dir: Path,
    documents: list[int],
    model: Embedder | None,
    report: IndexReport,
    began: float,
    progress: Callable[[int, int], None] | None = None,
    filing: Mapping[int, Filing] = MappingProxyType({}),
) -> IndexReport:
    """Embed missing texts, write the arrays, then switch in one transaction. filing: documents that
    are restricted or have a URL."""
    embedded = embed_missing(store, documents, model, progress) if model else 0
    related = relations(list(store.known(documents)))
    number = store.generation() + 1
    folder = folder_of(index_dir, number)
    shutil.rmtree(folder, ignore_errors=True)  # from a killed run
    folder.mkdir()
    chunks: list[tuple[int, int]] = []
    keys: list[bytes] = []

    def words() -> Iterator[list[str]]:
        for chunk, found in store.tokens(documents):
            chunks.append((chunk.id, chunk.document))
            keys.append(chunk.key)
            yield found

    if number > 1:  # reused files must be intact
        check(folder_of(index_dir, number - 1), store.digest(number - 1), whole=True)
    write_words(folder, words())
    np.save(folder / CHUNKS, np.array(chunks, dtype=np.int64).reshape(-1, 2))
    if model:
        write_vectors(store, folder, keys, model)
        write_spans(store, folder, keys, model)
    report = report.model_copy(
        update={
            "chunks": len(chunks),
            "embedded": embedded,
            "generation": number,
            "seconds": time.perf_counter() - began,
        }
    )
    with store.db:
        store.db.execute(
            "INSERT INTO generations VALUES (?, ?, ?)",
            (number, model.name if model else None, report.model_dump_json()),
        )
        store.db.executemany(
            "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?)",
            (
                (number, d, r.superseded_by, r.duplicate_of, *filing.get(d, (None, None)))
                for d in documents
                for r in [related.get(d, Relation())]
            ),
        )
        seal(folder, store.digest(number))
        _sync(folder)
    _clear(store, index_dir, number)
    return report


def _sync(folder: Path) -> None:
    """Flush to disk before the switch."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _clear(store: Store, index_dir: Path, number: int) -> None:
    """Remove unused generations and documents."""
    with store.db:
        store.db.execute("DELETE FROM generations WHERE id < ?", (number - _KEPT,))
        store.db.execute("DELETE FROM documents WHERE id NOT IN (SELECT document FROM members)")
        store.db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM chunks)")
    kept = {folder_of(index_dir, n) for n in range(number - _KEPT, number + 1)}
    for folder in index_dir.glob("generation-*"):
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)


#: Documents per transaction; a killed run loses at most this many.
_BATCH = 64
LOCK = "index.lock"


def build(
    index_dir: Path | str,
    docs_dir: Path | str,
    *,
    embedder: str | Embedder | None = "auto",
    limits: LoadLimits = LIMITS,
    permissions: Permissions | None = None,
    empty: bool = False,
    addresses: Callable[[str], str | None] | None = None,
    wait: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
    embedding: Callable[[int, int], None] | None = None,
) -> IndexReport:
    """Index the documents below a folder, or bring the index up to date.

    Readers see the old index until the end. The next run reuses the finished work of a killed
    one.

    Args:
        index_dir: created if missing; may be inside `docs_dir`.
        embedder: a name as for `open_embedder`, or an embedder; None for words alone.
        permissions: who may see what; by default from `permissions.toml` in `docs_dir`.
        empty: whether an index may lose all of its documents; else an empty folder (such as an
            unmounted share) leaves it unchanged.
        addresses: maps a document's name to its public URL for links; `None` if unpublished.
        wait: seconds to wait for another indexer of the same index.
        progress: called with (files done, total files).
        embedding: called with (chunks embedded, total to embed), from the start of embedding.

    Raises:
        InputError: no such folder, another indexer running, too many files, unreadable
            permissions, or an empty folder for a non-empty index.
        InstrumentFailure: from the embedder; finished vectors stay stored.
    """
    began = time.perf_counter()
    index_dir, docs_dir = Path(index_dir), Path(docs_dir)
    if not docs_dir.is_dir():
        raise InputError(
            say("そのようなフォルダーはありません", "no such folder"),
            place=str(docs_dir),
            remedy=say("資料のフォルダーを指定してください", "name a folder of documents"),
        )
    if permissions is None:
        own = docs_dir / PERMISSIONS
        permissions = Permissions.read(own) if own.exists() else Permissions()
    model = open_embedder(embedder) if isinstance(embedder, str) else embedder
    index_dir.mkdir(parents=True, exist_ok=True)
    with (
        _alone(index_dir, wait),
        telling(index_dir / FILE),
        closing(Store(index_dir, create=True)) as store,
        Sandbox(seconds=limits.seconds) as sandbox,
    ):
        how = recipe(limits)
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
                data = read_bytes(path, name, limits.bytes)
                digest = hashlib.sha256(data).hexdigest()
                number = store.find(name, digest, how)
                if number is None:
                    document = parsed_apart(name, data, limits, sandbox)
                    made = raw_chunks(document)
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
        if before and not now and not empty:
            raise _emptied(docs_dir, len(before))
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
            idle=permissions.idle(now),
        )
        filing: dict[int, Filing] = {}
        for name, number in now.items():
            groups = permissions.of(name)
            told = None if groups is None else json.dumps(groups, ensure_ascii=False)
            filing[number] = told, addresses(name) if addresses is not None else None
        numbers = list(now.values())
        return write_generation(store, index_dir, numbers, model, report, began, embedding, filing)


def _emptied(folder: Path, documents: int) -> InputError:
    return InputError(
        say(
            f"読める資料がありません。索引の {documents:,} 件はそのままにしました",
            f"holds no document that can be read; the {documents:,} in the index stay",
        ),
        place=str(folder),
        remedy=say(
            "共有フォルダーの接続を確かめてください。索引を空にするなら --empty",
            "look whether the share is mounted; --empty empties the index",
        ),
    )


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
