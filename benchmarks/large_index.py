"""An index of up to a million chunks, made by rule: how long indexing and a search take, and what
memory they need; in the folder, and published in PostgreSQL.

    python -m benchmarks.large_index --chunks 1000000 [--store postgresql://…] [--queries 200]

Words are drawn from the bundled city's own chunks, as often as they stand there; vectors are drawn
at random (384 numbers, as the bundled embedder's); there are no vectors of sentences. A question
is some words of a chunk, with a vector near that chunk's. A process that searches is a new one.
Tells, as one line of JSON: seconds to fill the tables (no part of indexing documents), to make the
generation, to publish it; of searches the median, the 95th percentile and the first (ms); how often
the chunk that was asked for is among the ten; peak memory of the process and what of it is its
own, without files that are mapped (MB, 10⁶ bytes).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import numpy as np

from naisei.postgres import Stored, without_password
from naisei.retrieval.build import build, write_generation
from naisei.retrieval.editions import signature
from naisei.retrieval.index import Index
from naisei.retrieval.published import publish
from naisei.retrieval.seal import of_row
from naisei.retrieval.store import Store
from naisei.retrieval.types import Document, IndexReport, Passage

DIM, IN_DOCUMENT, WORDS = 384, 100, 30


def vectors(first: int, count: int) -> np.ndarray:
    """Of these chunks: unit vectors, the same each time."""
    drawn = np.random.default_rng(first).standard_normal((count, DIM), dtype=np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


class ByRule:
    """An embedder that knows the vectors of the questions."""

    name, dim = "rule", DIM

    def __init__(self, told: dict[str, np.ndarray] | None = None) -> None:
        self._told = told or {}

    def embed(self, texts: list[str], kind: str = "passage") -> np.ndarray:
        return np.stack([self._told[text] for text in texts])


def city_words() -> list[str]:
    """Every search word of the city's chunks, as often as it stands there."""
    with tempfile.TemporaryDirectory() as folder:
        build(folder, Path(str(files("naisei") / "data" / "city")), embedder=None)
        with closing(Store(Path(folder))) as store:
            return [
                word
                for (text,) in store.db.execute("SELECT tokens FROM chunks")
                for word in text.split()
            ]


def fill(folder: Path, chunks: int) -> tuple[float, float]:
    """Make the index; seconds for the tables, and for the generation."""
    words = np.array(city_words())
    rng = np.random.default_rng(7)
    began = time.perf_counter()
    documents = []
    with closing(Store(folder, create=True)) as store:
        store.db.execute("PRAGMA synchronous = OFF")
        for number, first in enumerate(range(0, chunks, IN_DOCUMENT)):
            count = min(IN_DOCUMENT, chunks - first)
            drawn = rng.choice(words, (count, WORDS))
            texts = [" ".join(row) for row in drawn]
            passages = (Passage(text=texts[0]),)
            document = Document(
                path=f"d{number:06}.md",
                title=f"資料 {number}",
                format="md",
                sha256=f"{number:064}",
                passages=passages,
            )
            own = store.add(document, [], "rule", signature(passages))
            keys = [(first + n).to_bytes(32) for n in range(count)]
            store.db.executemany(
                "INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (*row, of_row(*row))
                    for n, (t, k) in enumerate(zip(texts, keys, strict=True))
                    for row in [(own, f"{document.path}#{n}", "[]", None, t, t, k)]
                ],
            )
            kept = zip(keys, vectors(first, count), strict=True)
            store.keep("rule", ((key, vector, b"") for key, vector in kept))
            documents.append(own)
        store.db.commit()
        filled = time.perf_counter() - began
        began = time.perf_counter()
        report = IndexReport(documents=len(documents))
        write_generation(store, folder, documents, ByRule(), report, began)
        return filled, time.perf_counter() - began


def search(folder: Path, index: Path, chunks: int, queries: int) -> dict[str, float]:
    """In this process. index: the folder that the questions are made from."""
    rng = np.random.default_rng(11)
    asked: list[tuple[str, str]] = []
    told: dict[str, np.ndarray] = {}
    with closing(Store(index)) as store:
        for row in map(int, rng.integers(0, chunks, queries)):
            ((name, text),) = store.db.execute(
                "SELECT name, text FROM chunks WHERE id = ?", (row + 1,)
            ).fetchall()
            first = row - row % IN_DOCUMENT
            near = vectors(first, min(IN_DOCUMENT, chunks - first))[row - first]
            near = near + rng.standard_normal(DIM).astype(np.float32) * 0.03
            query = " ".join(rng.choice(text.split(), 4, replace=False))
            told[query] = near / np.linalg.norm(near)
            asked.append((query, name))
    seconds, hits = [], 0
    with Index.open(folder, embedder=ByRule(told), groups=None) as index:  # type: ignore[arg-type]
        for query, name in asked:
            began = time.perf_counter()
            found = index.search(query, k=10)
            seconds.append(time.perf_counter() - began)
            hits += any(hit.chunk.id == name for hit in found)
    rest = np.array(seconds[1:]) * 1000
    return {
        "first_ms": round(seconds[0] * 1000, 1),
        "median_ms": round(float(np.median(rest)), 1),
        "p95_ms": round(float(np.percentile(rest, 95)), 1),
        "found": round(hits / queries, 3),
        # Not `ru_maxrss`: that is the parent's where it is greater.
        "peak_mb": memory("VmHWM"),
        "own_mb": memory("RssAnon"),
    }


def memory(field: str) -> int:
    """Of this process, MB; Linux alone tells."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(round(int(line.split()[1]) * 1024 / 1e6) for line in lines if field in line)


def searched(folder: Path, index: Path, chunks: int, queries: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.large_index", "--chunks", str(chunks)]
    more = ["--queries", str(queries), "--search", str(folder), str(index)]
    done = subprocess.run([*command, *more], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--store")
    parser.add_argument("--keep", type=Path, help="the folder of the index; made if not there")
    parser.add_argument("--search", type=Path)
    parser.add_argument("index", nargs="?", type=Path)
    args = parser.parse_args()
    if args.search is not None:
        print(json.dumps(search(args.search, args.index, args.chunks, args.queries)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch) / "index"
        out: dict[str, object] = {"chunks": args.chunks}
        if not folder.exists():
            filled, made = fill(folder, args.chunks)
            out |= {"fill_s": round(filled, 1), "generation_s": round(made, 1)}
            out["indexing_peak_mb"] = round(
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
            )
        out["disk_mb"] = round(
            sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6
        )
        out["folder"] = searched(folder, folder, args.chunks, args.queries)
        print(json.dumps(out), flush=True)
        if args.store:
            began = time.perf_counter()
            publish(folder, args.store, "large")
            out["publish_s"] = round(time.perf_counter() - began, 1)
            there = Path(scratch) / "there"
            there.mkdir()
            Stored(store=without_password(args.store), name="large").write(there)
            out["database"] = searched(there, folder, args.chunks, args.queries)
            print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
