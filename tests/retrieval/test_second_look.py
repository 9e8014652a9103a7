"""The second look: chunks ranked by their nearest sentence, and indexes that have none yet."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from naisei.core import InputError
from naisei.retrieval.build import build
from naisei.retrieval.chunking import sentence_units
from naisei.retrieval.index import Index
from naisei.retrieval.types import Chunk
from naisei.retrieval.vectors import packed
from retrieval.counting import Counting
from retrieval.documents import written


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("一つの文だけ。", []),
        ("一つめ。二つめ。", ["一つめ。", "二つめ。"]),
        ("First one. Second one.", ["First one.", "Second one."]),
        ("| 対象 | 日数 |\n| 本人 | 5日 |\n| 子 | |", ["対象 本人、日数 5日", "対象 子"]),
        ("説明。\n| 一行だけ | 表 |", ["説明。", "一行だけ、表"]),
        ("| a | b |\n| c |\n| d | e |", ["c", "a d、b e"]),
        ("", []),
    ],
)
def test_what_a_chunk_says(text: str, sentences: list[str]) -> None:
    assert sentence_units(text) == sentences


def test_eight_bits_change_cosines_by_little() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    blob = packed(rows)
    scales = np.frombuffer(blob[:200], "<f4")
    back = np.frombuffer(blob[200:], np.int8).reshape(50, 384) * scales[:, None]
    assert np.abs(back @ rows.T - rows @ rows.T).max() < 0.003
    assert packed(np.zeros((1, 4), np.float32))[4:] == bytes(4)
    assert packed(np.zeros((0, 4), np.float32)) == b""


class Marked:
    """Texts lie at the angle that they name, `<degrees>`; of several, at the mean of them."""

    name, dim = "marked", 2

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        rows = []
        for text in texts:
            angles = [float(a.split(">")[0]) for a in text.split("<")[1:]]
            at = np.deg2rad(np.mean(angles))
            rows.append([np.cos(at), np.sin(at)])
        return np.array(rows, dtype=np.float32)


def test_a_sentence_that_answers_brings_its_chunk_up(tmp_path: Path) -> None:
    files = {
        "whole.txt": "<30> が全体の話。",
        "part.txt": "<0> は答え。\n<120> は別の話。",
        "far.txt": "<90> は遠い。\n<100> も遠い。",
    }
    docs = written(tmp_path / "docs", files)
    build(tmp_path / "index", docs, embedder=Marked())
    with Index.open(tmp_path / "index", embedder=Marked()) as index:
        hits = index.search("<0>", mode="dense")
        assert [h.chunk.path for h in hits] == ["part.txt", "whole.txt", "far.txt"]
        assert hits[0].cosine == pytest.approx(0.5, abs=1e-3)  # that of the chunk as a whole
        only = index.search("<0>", mode="dense", filters={"path": "[wf]*"})
        assert [h.chunk.path for h in only] == ["whole.txt", "far.txt"]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    text = "# 規程{0}\n\n第{0}号の備品は倉庫に置く。鍵は{0}番の棚にある。"
    return written(tmp_path / "docs", {f"{n}.md": text.format(n) for n in range(4)})


def _kept(at: Path) -> int:
    with sqlite3.connect(at / "index.sqlite") as db:
        return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_sentences_are_embedded_once_and_go_with_their_document(docs: Path, tmp_path: Path) -> None:
    at, model = tmp_path / "index", Counting()
    build(at, docs, embedder=model)
    assert len(model.passages) == 4 * 3 and _kept(at) == 4
    model.passages.clear()
    (docs / "1.md").write_text("# 規程1\n\n改めた。鍵はない。", encoding="utf-8")
    (docs / "2.md").unlink()
    report = build(at, docs, embedder=model)
    assert report.embedded == 1
    assert [p.split()[-1] for p in model.passages] == [
        "改めた。鍵はない。",
        "改めた。",
        "鍵はない。",
    ]
    build(at, docs, embedder=model)  # the generation before the last is cleared away
    assert _kept(at) == 3
    with Index.open(at, embedder=model) as index:
        assert index.search("鍵はない", k=1)[0].chunk.path == "1.md"


def test_an_index_of_a_later_version_is_left_alone(docs: Path, tmp_path: Path) -> None:
    at = tmp_path / "index"
    build(at, docs, embedder=None)
    with sqlite3.connect(at / "index.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    for use in (lambda: Index.open(at), lambda: build(at, docs, embedder=None)):
        with pytest.raises(InputError, match="another version"):
            use()
    with sqlite3.connect(at / "index.sqlite") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)


def test_a_chunk_by_its_id(docs: Path, tmp_path: Path) -> None:
    (docs / "a#b.md").write_text("# 印\n\nシャープのある名前。", encoding="utf-8")
    build(tmp_path / "index", docs, embedder=None)
    with Index.open(tmp_path / "index") as index:
        for query in ("第2号の備品", "シャープのある名前"):
            found: Chunk = index.search(query, k=1)[0].chunk
            assert index.chunk(found.id) == found
        for missing in ("", "#", "2.md", "2.md#0-00000000", f"x/{found.id}", "' OR 1=1 --"):
            assert index.chunk(missing) is None
        gone = index.search("第2号の備品", k=1)[0].chunk.id
        (docs / "2.md").unlink()
        build(tmp_path / "index", docs, embedder=None)
        assert index.chunk(gone) is None
