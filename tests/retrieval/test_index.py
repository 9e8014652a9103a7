"""Building, searching, filtering; only what changed is touched."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import sqlite3
import threading
import unicodedata
from pathlib import Path

import pytest

from naisei.core import InputError, Search, Where
from naisei.intent.effects import SearchHandler
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.types import LoadLimits
from retrieval.counting import Counting
from retrieval.documents import written

FILES = {
    "休暇/規程.md": "---\ntitle: 休暇規程\ndepartment: 人事部\n施行日: 2024-04-01\n---\n"
    "# 休暇\n年次有給休暇は、入社6か月後に10日を付与する。\n## 看護休暇\n"
    "| 対象 | 日数 |\n|--|--|\n| 子ども1人 | 年5日 |\n| 子ども2人以上 | 年10日 |\n",
    "経費.txt": "第1条（締め日）\n経費は毎月25日までに精算する。\n\n"
    "第2条（宿泊）\n宿泊費は9,000円まで。\n",
    "vpn.html": "<title>VPN</title><h1>VPN接続</h1><p>社外からはサーバーにVPNでつなぐ。</p>",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return written(tmp_path / "docs", FILES)


def test_only_what_changed_is_read_and_embedded(docs: Path, tmp_path: Path) -> None:
    at, model = tmp_path / "index", Counting()
    first = build(at, docs, embedder=model)
    assert first.added == tuple(sorted(FILES)) and first.parsed == 3
    assert first.embedded == first.chunks == 6
    # The rows of the table and the lines of the front matter, each by itself.
    assert len(model.passages) == 6 + 2 + 2
    model.passages.clear()
    again = build(at, docs, embedder=model)
    assert (again.unchanged, again.parsed, again.embedded, model.passages) == (3, 0, 0, [])

    (docs / "経費.txt").write_text(FILES["経費.txt"].replace("9,000", "9,500"), encoding="utf-8")
    (docs / "vpn.html").unlink()
    third = build(at, docs, embedder=model)
    assert (third.changed, third.removed) == (("経費.txt",), ("vpn.html",))
    assert (third.parsed, third.unchanged) == (1, 1)
    # The first article has not changed: its text is embedded already.
    assert len(model.passages) == 1 and "9,500" in model.passages[0]
    with Index.open(at, embedder=model) as index:
        assert all(hit.chunk.path != "vpn.html" for hit in index.search("VPN サーバー", k=20))


def test_embedding_tells_how_far_it_is(docs: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    build(tmp_path / "index", docs, embedder=Counting(), embedding=lambda *at: told.append(at))
    assert told == [(0, 6), (6, 6)]
    build(tmp_path / "index", docs, embedder=Counting(), embedding=lambda *at: told.append(at))
    assert len(told) == 2  # nothing is left to embed


def test_every_way_of_searching_finds_a_row_with_its_header(docs: Path, tmp_path: Path) -> None:
    model = Counting()
    build(tmp_path / "index", docs, embedder=model)
    with Index.open(tmp_path / "index", embedder=model) as index:
        for mode in ("hybrid", "bm25", "dense"):
            hit = index.search("子どもの看護休暇は年何日？", k=1, mode=mode)[0]  # type: ignore[arg-type]
            assert "| 対象 | 日数 |\n| 子ども1人 | 年5日 |" in hit.chunk.text
            assert hit.chunk.headings == ("休暇", "看護休暇")
            assert hit.chunk.date == dt.date(2024, 4, 1)
            assert (hit.bm25 is None) == (mode == "dense")
            assert (hit.dense is None) == (mode == "bm25")
        assert index.search("", k=3) == [] and index.search("。。", mode="bm25") == []


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"path": "休暇/*"}, {"休暇/規程.md"}),
        ({"path": ["*.txt", "*.html"]}, {"経費.txt", "vpn.html"}),
        ({"format": "html"}, {"vpn.html"}),
        ({"date": {"from": "2024-01-01"}}, {"休暇/規程.md"}),
        ({"date": {"to": "2020-01-01"}}, set()),
        ({"headings": "宿泊"}, {"経費.txt"}),
        ({"department": "人事部"}, {"休暇/規程.md"}),
        ({"department": ["総務部"]}, set()),
    ],
)
def test_filters(docs: Path, tmp_path: Path, filters: dict[str, object], paths: set[str]) -> None:
    model = Counting()
    build(tmp_path / "index", docs, embedder=model)
    with Index.open(tmp_path / "index", embedder=model) as index:
        hits = index.search("休暇 経費 サーバー 宿泊", k=20, filters=filters)
        assert {hit.chunk.path for hit in hits} == paths


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"mode": "magic"},
        {"filters": {"nobody": "x"}},
        {"filters": {"date": "2024"}},
        {"filters": {"date": {"from": "いつか"}}},
        {"filters": {"path": 3.5j}},
        {"mode": "dense"},
    ],
)
def test_what_cannot_be_asked(docs: Path, tmp_path: Path, options: dict[str, object]) -> None:
    build(tmp_path / "index", docs, embedder=None)
    with Index.open(tmp_path / "index") as index, pytest.raises(InputError):
        index.search("休暇", **options)  # type: ignore[arg-type]


def test_the_newer_edition_comes_first(tmp_path: Path) -> None:
    text = (
        "# 出張旅費規程\n国内出張の日当は、社員{}円とする。宿泊費は実費とする。\n\n{}年4月1日改定"
    )
    files = {
        "旅費規程_2021.md": text.format("1,500", 2021),
        "旅費規程_2024.md": text.format("2,000", 2024),
        "議事録_2023-04.md": "# 議事録\n防災訓練を行う。",
        "議事録_2023-05.md": "# 議事録\n懇親会の幹事を決める。",
    }
    docs = written(tmp_path / "docs", files)
    build(tmp_path / "index", docs, embedder=Counting())
    with Index.open(tmp_path / "index", embedder=Counting()) as index:
        for query in ("出張の日当はいくら", "社員1,500円の日当"):
            first, second = index.search(query, k=2)
            assert first.chunk.path == "旅費規程_2024.md"
            assert second.chunk.meta["superseded_by"] == "旅費規程_2024.md"
            assert first.score > second.score
        assert index.search("2021年の日当は", k=1)[0].chunk.path == "旅費規程_2021.md"
        hits = index.search("議事録の訓練", k=9, filters={"path": "議事録*"})
        assert all("superseded_by" not in hit.chunk.meta for hit in hits)


def test_odd_files_are_reported_and_the_rest_is_indexed(docs: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# 外\n社外秘", encoding="utf-8")
    (docs / "link.md").symlink_to(outside)
    (docs / "folder").symlink_to(tmp_path)
    (docs / "nowhere.md").symlink_to(tmp_path / "x.md")
    (docs / "空.md").touch()
    (docs / "binary.txt").write_bytes(os.urandom(3000))
    (docs / "locked.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600)
    (docs / "古い.doc").write_bytes(b"x")
    (docs / "large.txt").write_text("長い。" * 1000, encoding="utf-8")
    decomposed = unicodedata.normalize("NFD", "ガイド　その １.md")
    (docs / decomposed).write_text("# 手引き\n名前が変わった形をしている。", encoding="utf-8")
    report = build(tmp_path / "index", docs, embedder=None, limits=LoadLimits(bytes=8000))
    skipped = {entry.path for entry in report.skipped}
    odd = {"空.md", "binary.txt", "locked.docx", "large.txt", "古い.doc"}
    assert skipped == {"link.md", "nowhere.md", *odd}
    assert all(entry.why for entry in report.skipped)
    assert set(report.added) == {*FILES, unicodedata.normalize("NFC", decomposed)}
    with Index.open(tmp_path / "index") as index:
        assert all("社外秘" not in hit.chunk.text for hit in index.search("社外秘", k=50))


def test_too_many_files(docs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2"):
        build(tmp_path / "index", docs, embedder=None, limits=LoadLimits(files=2))


def test_a_folder_that_lost_its_documents_leaves_the_index(docs: Path, tmp_path: Path) -> None:
    at = tmp_path / "index"
    build(at, docs, embedder=None)
    (tmp_path / "share").mkdir()
    with pytest.raises(InputError, match="--empty"):
        build(at, tmp_path / "share", embedder=None)
    with Index.open(at) as index:
        assert index.search("宿泊費")
    assert build(at, tmp_path / "share", embedder=None, empty=True).chunks == 0


def test_an_empty_folder_and_no_index(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    assert build(tmp_path / "index", tmp_path / "docs", embedder=Counting()).chunks == 0
    with Index.open(tmp_path / "index", embedder=Counting()) as index:
        assert index.search("休暇") == []
    with pytest.raises(InputError):
        Index.open(tmp_path / "nothing")
    with pytest.raises(InputError):
        build(tmp_path / "index", tmp_path / "nothing", embedder=None)


def test_the_handler_gives_evidence(docs: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", docs, embedder=None)
    with Index.open(tmp_path / "index") as index:
        found = SearchHandler(index).perform(Search("看護休暇", k=2, source="documents"), Where())
    assert found[0].id.startswith("休暇/規程.md#")
    assert found[0].meta["headings"] == ["休暇", "看護休暇"]
    assert found[0].meta["date"] == "2024-04-01" and found[0].meta["department"] == "人事部"


def test_an_index_may_be_closed_while_it_is_searched(docs: Path, tmp_path: Path) -> None:
    """A server stops while somebody's question is being answered: the search fails or is
    answered, and the process lives."""
    build(tmp_path / "index", docs)
    for _ in range(10):
        index, begun = Index.open(tmp_path / "index"), threading.Barrier(4)

        def search(index: Index = index, begun: threading.Barrier = begun) -> None:
            begun.wait()
            with contextlib.suppress(InputError, sqlite3.ProgrammingError):
                while index.search("休暇 宿泊費 サーバー", k=5):
                    pass

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        index.search("休暇")
        index.close()
        for thread in threads:
            thread.join()
