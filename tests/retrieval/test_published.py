"""An index in PostgreSQL finds what the one in the folder finds, and tells nobody more."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.postgres import Stored, without_password
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.published import publish
from retrieval.documents import written

ASKED = {
    "handbook": (
        "休暇の申請はいつまで",
        "出張の宿泊費",
        "育児休業 期間",
        "ボーナスの支給日",
        "the",
    ),
    "city": ("粗大ごみの出し方", "図書館の開館時間", "子ども 医療費 助成", "引っ越しの手続き"),
}


def at(folder: Path, name: str, address: str) -> Path:
    """A folder whose index is the one of this name in the database."""
    folder.mkdir()
    Stored(store=without_password(address), name=name).write(folder)
    return folder


def found(index: Index, query: str, **how: Any) -> list[tuple[Any, ...]]:
    hits = index.search(query, k=10, **how)
    return [(hit.chunk.id, hit.score, hit.bm25, hit.dense) for hit in hits]


@pytest.mark.parametrize("name", ["handbook", pytest.param("city", marks=pytest.mark.slow)])
def test_the_same_ten_as_in_the_folder(postgres: Any, tmp_path: Path, name: str) -> None:
    address = postgres.database()
    documents = Path(str(files("naisei") / "data" / name))
    build(tmp_path / "index", documents, embedder="ngram")
    with Index.open(tmp_path / "index", groups=None) as own:
        assert publish(tmp_path / "index", address, name) == len(own)
        with Index.open(at(tmp_path / "there", name, address), groups=None) as there:
            assert len(there) == len(own) and there.outline() == own.outline()
            for query in ASKED[name]:
                for mode in ("hybrid", "bm25", "dense"):
                    assert found(there, query, mode=mode) == found(own, query, mode=mode)
                assert there.possible(query) == own.possible(query)
                assert there.frequencies(query.split()) == own.frequencies(query.split())
                hit = own.search(query)[0] if own.search(query) else None
                if hit is not None:
                    assert there.chunk(hit.chunk.id) == own.chunk(hit.chunk.id) == hit.chunk
                    some = {"path": hit.chunk.path}
                    assert found(there, query, filters=some) == found(own, query, filters=some)
                    words = {"headings": hit.chunk.title}
                    assert found(there, query, filters=words) == found(own, query, filters=words)


OPEN = {
    "leave.md": "# 休暇規程\n\n## 申請\n\n休暇は3日前までに申請する。\n",
    "rooms.md": "# 会議室\n\n## 予約\n\n会議室は14日先まで予約できる。\n",
}
CLOSED = {
    "hr/salary.md": "# 役員報酬\n\n## 金額\n\n社長の報酬は月900万円、休暇の買い取りは無い。\n",
    "merger.md": "---\ngroups: [board]\n---\n# 合併の計画\n\n## 相手\n\nアサヒ商事と交渉する。\n",
}


@pytest.fixture
def guarded(postgres: Any, tmp_path: Path) -> Path:
    rules = {"permissions.toml": '[groups]\n"hr/**" = ["hr"]\n'}
    build(tmp_path / "index", written(tmp_path / "docs", OPEN | CLOSED | rules), embedder="ngram")
    address = postgres.database()
    publish(tmp_path / "index", address, "guarded")
    return at(tmp_path / "there", "guarded", address)


def test_who_is_in_no_group_is_told_nothing_of_the_rest(guarded: Path) -> None:
    closed = ("社長の報酬はいくら", "合併の相手", "アサヒ商事", "休暇の申請")
    with Index.open(guarded) as index:
        told = [index.search(q, k=10, mode=m) for q in closed for m in ("hybrid", "dense")]
        paths = {hit.chunk.path for hits in told for hit in hits}
        assert paths == {"leave.md", "rooms.md"} and len(index) == 2
        assert index.frequencies(["報酬", "アサヒ", "休暇"]) == {"報酬": 0, "アサヒ": 0, "休暇": 1}
        assert "報酬" not in json.dumps(index.outline(), ensure_ascii=False)
        assert index.possible("報酬") == 0
        board = index.seen_by({"board"})
        assert board.search("合併の相手")[0].chunk.path == "merger.md"
        assert index.seen_by({"hr"}).search("社長の報酬")[0].chunk.path == "hr/salary.md"
        hidden = board.search("合併の相手")[0].chunk.id
        assert index.chunk(hidden) is None and len(index.seen_by(None)) == 4


LATER = {"b.md": "# 大会議室\n\n会議室の鍵は総務にある。\n"}


def rooms(tmp_path: Path, postgres: Any) -> tuple[Path, str]:
    """A folder of one document, published under this name, and the database's address."""
    docs = written(tmp_path / "docs", {"a.md": "# 会議室\n\n会議室は予約できる。\n"})
    build(tmp_path / "index", docs, embedder=None)
    publish(tmp_path / "index", address := postgres.database(), "rooms")
    return docs, address


def test_readers_follow_a_new_generation(postgres: Any, tmp_path: Path) -> None:
    docs, address = rooms(tmp_path, postgres)
    with Index.open(at(tmp_path / "there", "rooms", address)) as index:
        assert [h.chunk.path for h in index.search("会議室")] == ["a.md"]
        written(docs, LATER)
        for _ in range(3):  # those before the last two are cleared away
            build(tmp_path / "index", docs, embedder=None)
            publish(tmp_path / "index", address, "rooms")
        assert {h.chunk.path for h in index.search("会議室")} == {"a.md", "b.md"}
        with pytest.raises(InputError, match="no vectors"):
            index.search("会議室", mode="dense")


KILLED = """
import os, sys
from pathlib import Path
from naisei.retrieval import published

files = published._files

def killed(*of):
    for n, one in enumerate(files(*of)):
        if n == 2:
            os.kill(os.getpid(), 9)
        yield one

published._files = killed
published.publish(Path(sys.argv[1]), sys.argv[2], "rooms")
"""


def test_killed_while_it_publishes_the_generation_before_answers(
    postgres: Any, tmp_path: Path
) -> None:
    docs, address = rooms(tmp_path, postgres)
    written(docs, LATER)
    build(tmp_path / "index", docs, embedder=None)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "index"), address]
    assert subprocess.run(command, check=False).returncode == -9
    with Index.open(at(tmp_path / "there", "rooms", address)) as index:
        assert [h.chunk.path for h in index.search("会議室")] == ["a.md"]
        publish(tmp_path / "index", address, "rooms")
        assert {h.chunk.path for h in index.search("会議室")} == {"a.md", "b.md"}


def test_processes_share_a_copy_and_a_folder_of_another_needs_none(
    postgres: Any, tmp_path: Path
) -> None:
    _, address = rooms(tmp_path, postgres)
    there = at(tmp_path / "there", "rooms", address)
    asked = (
        "import sys; from naisei.retrieval.index import Index;"
        "print(Index.open(sys.argv[1]).search('会議室')[0].chunk.path)"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", asked, str(there)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert {process.communicate()[0].strip() for process in processes} == {b"a.md"}
    (copy,) = (each for each in (there / "published").iterdir() if each.is_dir())
    assert not list(copy.glob("*.part"))
    refused = at(tmp_path / "refused", "rooms", address)
    (refused / "published").write_text("", encoding="utf-8")  # as where nobody may write
    with Index.open(refused) as index:
        assert index.search("会議室")[0].chunk.path == "a.md"


def test_no_such_index_is_one_message(postgres: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no index nothing"):
        Index.open(at(tmp_path / "there", "nothing", postgres.database()))


def test_indexing_publishes_and_the_assistant_answers_from_there(
    postgres: Any, tmp_path: Path, naisei: Any
) -> None:
    docs, index = written(tmp_path / "docs", {"a.md": OPEN["rooms.md"]}), tmp_path / "index"
    store = ("--publish", "--store", postgres.database())
    made = naisei("intent", "index", str(docs), "--index", str(index), "--embedder", "none", *store)
    assert made.code == 0, made.err
    (index / "index.sqlite").unlink()
    asked = naisei("intent", "ask", "会議室の予約はいつから", "--index", str(index), "--json")
    assert asked.code == 0, asked.err
    assert json.loads(asked.out.splitlines()[-1])["citations"][0]["path"] == "a.md"
    refused = naisei("intent", "index", str(docs), "--index", str(index), "--publish")
    assert refused.code == 2 and "no database" in refused.err
