"""An index that has changed is told, never answered from."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.attack.flips import flip

from naisei.core import InputError
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from retrieval.counting import Counting


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole")
    (path / "docs").mkdir()
    for n in range(4):
        (path / "docs" / f"{n}.md").write_text(f"# 第{n}章\n\n{n}番の棚は{n}階です。\n", "utf-8")
    build(path / "index", path / "docs", embedder=Counting())
    return path / "index"


def _asked(at: Path) -> str:
    with closing(Index.open(at, embedder=Counting(), groups=["guest"])) as index:
        return f"{index.search('3番の棚')} {index.outline()} {index.chunk('2.md#0')}"


def _change(at: Path, change: str) -> None:
    with closing(sqlite3.connect(at / "index.sqlite")) as db:
        db.execute(change)
        db.commit()


def test_a_flipped_bit_of_an_array_is_told(tmp_path: Path, whole: Path) -> None:
    rng = random.Random(0)
    files = sorted(path for path in whole.glob("generation-*/**/*") if path.is_file())
    for path in files:
        at = tmp_path / path.name
        shutil.copytree(whole, at)
        flip(at / path.relative_to(whole), rng.randrange(path.stat().st_size * 8))
        with pytest.raises(InputError, match="damaged") as caught:
            _asked(at)
        assert caught.value.remedy


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE chunks SET text = replace(text, '3階', '8階')",
        "UPDATE chunks SET headings = '[\"別の章\"]'",
        "UPDATE chunks SET page = 7",
        "UPDATE chunks SET name = '1.md#9' WHERE id = 1",
        "DELETE FROM chunks WHERE id = 2",
        "UPDATE documents SET title = '別の題'",
        "UPDATE documents SET date = '1999-01-01'",
        "UPDATE members SET groups = '[\"guest\"]'",
        "DELETE FROM members WHERE document = 1",
        "UPDATE generations SET embedder = NULL",
    ],
)
def test_a_changed_row_is_told(tmp_path: Path, whole: Path, change: str) -> None:
    at = tmp_path / "index"
    shutil.copytree(whole, at)
    _change(at, change)
    with pytest.raises(InputError, match="damaged"):
        _asked(at)


def test_words_that_changed_are_not_taken_over(tmp_path: Path, whole: Path) -> None:
    at = tmp_path / "index"
    shutil.copytree(whole, at)
    _change(at, "UPDATE chunks SET tokens = '嘘' WHERE id = 3")
    with pytest.raises(InputError, match="damaged"):
        build(at, whole.parent / "docs", embedder=Counting())
