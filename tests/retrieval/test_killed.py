"""Killed while indexing, two at once, and readers while it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from retrieval.counting import Counting
from retrieval.documents import written
from waiting import until

#: Indexes slowly, and says how far it has come: by file, then by batch embedded.
SLOW = """
import sys, time
from naisei.models.embedders import NgramEmbedder
from naisei.retrieval.build import build

class Slow(NgramEmbedder):
    name = "counting"
    def __init__(self):
        super().__init__(dim=64)
    def embed(self, texts, kind="query"):
        print("embed", flush=True)
        time.sleep(0.05)
        return super().embed(texts, kind)

def progress(done, of):
    print("file", done, flush=True)
    time.sleep(0.002)

build(sys.argv[1], sys.argv[2], embedder=Slow(), progress=progress)
print("done", flush=True)
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    text = "# 規程{0}\n\n第{0}号の備品は倉庫に置く。"
    return written(tmp_path / "docs", {f"{n}.md": text.format(n) for n in range(150)})


def start(at: Path, docs: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, str(at), str(docs)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("when", ["file 3", "file 140", "embed", "embed embed"])
def test_killed_the_old_index_answers_and_a_new_run_completes(
    docs: Path, tmp_path: Path, when: str
) -> None:
    at, model = tmp_path / "index", Counting()
    (docs / "old.md").write_text("# 旧館\n\n旧館の鍵は守衛室にある。", encoding="utf-8")
    for path in list(docs.glob("?*.md")):
        if path.name != "old.md":
            path.rename(path.with_suffix(".later"))
    build(at, docs, embedder=model)
    for path in docs.glob("*.later"):
        path.rename(path.with_suffix(".md"))
    process = start(at, docs)
    assert process.stdout is not None
    left = when.split(" ")
    left = [when] if left[0] == "file" else left
    for line in process.stdout:
        if left and line.strip() == left[0]:
            left.pop(0)
        if not left:
            os.kill(process.pid, signal.SIGKILL)
            break
    assert process.wait() == -signal.SIGKILL
    with Index.open(at, embedder=model) as index:
        assert len(index) == 1 and index.generation == 1
        assert index.search("旧館の鍵", k=1)[0].chunk.path == "old.md"
        model.passages.clear()
        report = build(at, docs, embedder=model)
        assert (report.documents, report.generation) == (151, 2)
        if when == "file 140":  # two batches of 64 had been written
            assert report.parsed <= 151 - 128
        if when == "embed embed":  # one batch had been
            assert report.embedded == len(model.passages) == 150 - 64
        assert index.search("第77号の備品", k=1)[0].chunk.path == "77.md"
        assert len(index) == 151


def test_the_second_indexer_says_so_or_waits(docs: Path, tmp_path: Path) -> None:
    at = tmp_path / "index"
    process = start(at, docs)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("file")
    with pytest.raises(InputError, match=r"another process|ほかのプロセス"):
        build(at, docs, embedder=None)
    threading.Thread(target=process.stdout.read).start()
    report = build(at, docs, embedder=Counting(), wait=60)
    assert process.wait() == 0
    assert (report.generation, report.unchanged, report.embedded) == (2, 150, 0)


def test_a_reader_sees_one_generation_at_a_time(tmp_path: Path) -> None:
    docs, at, model = tmp_path / "docs", tmp_path / "index", Counting()

    def write(generation: int) -> None:
        text = f"\n\n第{generation}世代の本文。"
        written(docs, {f"{n}.md": f"# 規程{n}{text}" for n in range(8)})

    write(1)
    build(at, docs, embedder=model)
    seen: list[set[str]] = []
    wanted: list[int] = []
    stop = threading.Event()

    def read() -> None:
        with Index.open(at, embedder=Counting()) as index:
            while not stop.is_set():
                seen.append({hit.chunk.text for hit in index.search("世代の本文", k=8)})

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for generation in range(2, 8):
        write(generation)
        build(at, docs, embedder=model)
        wanted.append(len(seen) + 3)
        until(lambda: len(seen) >= wanted[-1])
    stop.set()
    for reader in readers:
        reader.join()
    assert len(seen) > 10
    assert all(len(texts) == 1 for texts in seen)
    assert len(set.union(*seen)) > 2
