"""Documents that not everybody may find: nothing of them is left in what others are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError, Where
from naisei.intent.effects import Weigh, WeighHandler
from naisei.intent.indexing import describe
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.permissions import Permissions
from retrieval.documents import written

OPEN = {
    "leave.md": "# 休暇規程\n\n施行日: 2024年4月1日\n\n## 申請\n\n休暇は3日前までに申請する。\n",
    "rooms.md": "# 会議室\n\n## 予約\n\n会議室は14日先まで予約できる。\n",
}
CLOSED = {
    "hr/leave.md": "# 休暇規程\n\n施行日: 2025年4月1日\n\n## 申請\n\n休暇は役員室に申請する。\n",
    "hr/salary.md": "# 役員報酬\n\n## 金額\n\n社長の報酬は月900万円、休暇の買い取りは無い。\n",
    "merger.md": "---\ngroups: [board]\n---\n# 合併の計画\n\n## 相手\n\nアサヒ商事と交渉する。\n",
}
QUESTIONS = ("休暇の申請", "会議室の予約", "社長の報酬はいくら", "合併の相手", "アサヒ商事")


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    """The index of all documents with permissions, and one of the open documents alone."""
    docs = written(tmp_path / "docs", OPEN | CLOSED)
    (docs / "permissions.toml").write_text('[groups]\n"hr/**" = ["hr"]\n', encoding="utf-8")
    build(tmp_path / "whole", docs, embedder="ngram")
    build(tmp_path / "open", written(tmp_path / "only", OPEN), embedder="ngram")
    return tmp_path / "whole", tmp_path / "open"


def told(index: Index) -> Any:
    """All that somebody who asks could see of an index."""
    weigh = WeighHandler(index)
    out: list[object] = [len(index), index.outline(), index.frequencies(["報酬", "休暇", "会議"])]
    for query in QUESTIONS:
        hits = index.search(query, k=10)
        out += [hit.model_dump(mode="json") for hit in hits]
        weights = weigh.perform(Weigh(query), Where()).model_dump()
        out += [index.possible(query), weights]
    # By words a long text counts less beside the mean length, which is that of all texts.
    return json.loads(json.dumps(out), parse_float=lambda text: round(float(text), 1))


def test_who_is_in_no_group_is_told_what_an_index_of_the_rest_would_tell(
    both: tuple[Path, Path],
) -> None:
    with Index.open(both[0]) as restricted, Index.open(both[1]) as rest:
        assert told(restricted) == told(rest)
        hidden = "hr/salary.md#0"
        assert all(restricted.chunk(f"{hidden}{n}") is None for n in ("", "1"))
        describe(restricted)
    assert "役員" not in (both[0] / "description.txt").read_text(encoding="utf-8")


def test_groups_find_theirs_and_front_matter_is_another_lock(both: tuple[Path, Path]) -> None:
    with Index.open(both[0]) as index:
        paths = {}
        for groups in ((), ("hr",), ("board",), ("hr", "board"), None):
            seen = index.seen_by(groups)
            paths[groups] = {hit.chunk.path for q in QUESTIONS for hit in seen.search(q, k=10)}
        assert paths[()] == set(OPEN)
        assert paths[("hr",)] == {*OPEN, "hr/leave.md", "hr/salary.md"}
        assert paths[("board",)] == {*OPEN, "merger.md"}
        assert paths[("hr", "board")] == paths[None] == {*OPEN, *CLOSED}
        old = next(
            h for h in index.seen_by(["hr"]).search("休暇の申請") if h.chunk.path == "leave.md"
        )
        assert old.chunk.meta["superseded_by"] == "hr/leave.md"


def test_a_change_of_permissions_alone_holds_at_once(both: tuple[Path, Path]) -> None:
    docs = both[0].parent / "docs"
    with Index.open(both[0]) as index:
        assert not [h for h in index.search("社長の報酬") if h.chunk.path.startswith("hr/")]
        (docs / "permissions.toml").write_text('[groups]\n"hr/salary.md" = ["*"]\n"nowhere" = []\n')
        report = build(both[0], docs, embedder="ngram")
        assert report.parsed == 0 and report.idle == ("nowhere",)
        assert index.search("社長の報酬")[0].chunk.path == "hr/salary.md"


def test_the_last_pattern_decides_and_width_and_case_do_not_count() -> None:
    rules = Permissions(groups={"HR": ("hr",), "hr/leave/*": ("*",), "*.ＰＤＦ": ()})
    assert rules.of("hr/a.md") == ("hr",) and rules.of("ＨＲ/a/b.md") == ("hr",)
    assert rules.of("hr/leave/a.md") is None and rules.of("chr/a.md") is None
    assert rules.of("hr/leave/a.pdf") == ()


def test_a_broken_file_stops_indexing(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", OPEN)
    (docs / "permissions.toml").write_text('[group]\n"hr" = "hr"\n')
    with pytest.raises(InputError) as wrong:
        build(tmp_path / "index", docs, embedder=None)
    assert "permissions.toml" in str(wrong.value.place)
    assert not (tmp_path / "index").exists()
