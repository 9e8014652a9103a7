"""Search by words: people's words find the words that documents are written in."""

from pathlib import Path

import numpy as np
import pytest

from naisei.japanese.sentences import related, search_tokens, synonyms
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.words import WordIndex, write_words
from retrieval.documents import written


def test_related_words_go_both_ways_and_leave_out_what_was_asked() -> None:
    assert related(["ボーナス"]) == {"賞与": 1.0}
    assert "辞める" in related(["退職"]) and "退職" in related(["辞める"])
    assert related(["ボーナス", "賞与"]) == {}
    assert related(["時間"]) == {}  # a part of 時間外勤務 does not stand for 残業


def test_related_words_count_less_than_the_words_themselves(tmp_path: Path) -> None:
    texts = ["賞与は年二回支給する", "ボーナスは年二回支給する", "会議室は予約する"]
    write_words(tmp_path, [search_tokens(text) for text in texts])
    index = WordIndex(tmp_path, len(texts))
    asked = search_tokens("ボーナス")
    alone, more = index.scores(asked), index.scores(asked, synonyms(asked))
    assert alone[0] == 0 and alone[1] > 0
    assert 0 < more[0] < more[1] and more[2] == 0


def test_a_compound_asks_for_its_synonyms_as_a_whole() -> None:
    assert "交換" in related(search_tokens("取り替えてほしい"))
    assert "妻" in related(search_tokens("奥さんの分"))
    assert "妻" not in related(["奥"]) and "妻" not in related(["さん"])


def test_several_synonyms_in_one_text_count_as_one(tmp_path: Path) -> None:
    one, both = "会食の費用を支払う", "会食と懇親会の費用を支払う"
    write_words(tmp_path, [search_tokens(text) for text in (one, both, "会議室は予約する")])
    index = WordIndex(tmp_path, 3)
    scores = index.scores(["飲み会"], {("飲み会",): (("会食",), ("懇親",))})
    best = 0.9 * np.maximum(index.scores(["会食"]), index.scores(["懇親"]))
    assert scores == pytest.approx(best, rel=1e-5) and scores[1] > 0


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("ボーナスは何月ですか", "a.md"),
        ("会社を辞めるときは？", "b.md"),
        ("パソコンを落としました", "c.md"),
    ],
)
def test_everyday_words_find_the_rule(tmp_path: Path, asked: str, path: str) -> None:
    files = {
        "a.md": "# 賞与\n\n賞与は6月と12月に支給する。",
        "b.md": "# 退職\n\n退職は1か月前に申し出る。",
        "c.md": "# 紛失\n\n端末の紛失は直ちに報告する。",
    }
    build(tmp_path / "index", written(tmp_path / "docs", files), embedder=None)
    with Index.open(tmp_path / "index") as index:
        assert index.search(asked, k=1)[0].chunk.path == path
