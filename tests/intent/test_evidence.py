"""Whether the documents hold an answer, and what a question back may offer."""

import pytest

from naisei.core import Evidence, Where
from naisei.intent.effects import Weigh, WeighHandler, Weights
from naisei.intent.evaluating import topics
from naisei.intent.evidence import coverage, newest_first, sufficient
from naisei.intent.rules import Rules
from naisei.retrieval.build import build
from naisei.retrieval.index import Index


def hit(name, heading, path="a.md", **meta):
    more = {"path": path, "title": path, "headings": [path, heading], **meta}
    return Evidence(id=name, text="休暇の申請", score=1.0, meta=more)


@pytest.mark.parametrize(
    ("distance", "meaning", "query", "held"),
    [
        (3.0, True, "経費の締切", True),
        (1.0, True, "経費の締切", False),
        (1.0, True, "休暇の申請", True),
        (3.0, False, "経費の締切", False),
        (3.0, False, "休暇の締切", True),
        (None, False, "休暇の締切", True),
        (None, False, "経費の締切", False),
    ],
)
def test_what_is_held_against_questions_off_the_subject(distance, meaning, query, held):
    weights = Weights(
        idf={"休暇": 1.0, "申請": 1.0, "経費": 1.0, "締め切り": 1.0},
        distance=distance,
        meaning=meaning,
    )
    assert sufficient(query, [hit("1", "申請")], weights, Rules()) is held


def test_nothing_found_is_nothing_held():
    assert not sufficient("休暇", [], Weights(distance=9.0, meaning=True), Rules())


@pytest.mark.parametrize("embedder", [None, "ngram"])
def test_a_question_of_the_subject_lies_further_than_one_off_it(tmp_path, embedder):
    (tmp_path / "docs").mkdir()
    for n, word in enumerate(["休暇", "経費", "会議室", "駐車場", "天気"]):
        text = f"# {word}の規程\n\n{word}の申請は三日前までに課長へ行う。\n"
        (tmp_path / "docs" / f"{n}.md").write_text(text, encoding="utf-8")
    build(tmp_path / "index", tmp_path / "docs", embedder=embedder)
    with Index.open(tmp_path / "index") as index:
        weigh = WeighHandler(index)
        near = weigh.perform(Weigh("駐車場の申請は何日前までですか"), Where("x"))
        far = weigh.perform(Weigh("好きな歌手は誰ですか"), Where("x"))
        assert index.frequencies(["駐車", "申請"])["申請"] == 5
    assert near.meaning is (embedder is not None) and near.distance is not None
    assert near.distance > (far.distance or 0.0)


def test_topics_are_documents_where_several_fit_and_sections_of_the_one_meant():
    hits = [
        hit("1", "申請", "a.md"),
        hit("2", "日数", "a.md"),
        hit("3", "精算", "b.md"),
        hit("4", "旧", "c.md", superseded_by="a.md"),
    ]
    covers = dict.fromkeys("1234", 1.0)
    assert topics(hits, 6, covers=covers) == ("a.md", "b.md › 精算")
    assert topics(hits, 6, covers=covers, within="a.md") == ("申請", "日数")
    assert topics(hits, 6, covers=covers, used=["A.md"]) == ("b.md › 精算",)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("旅費の上限はいくらですか", "231"),
        ("2022年度の旅費の上限はいくらでしたか", "123"),
        ("旧規程の旅費の上限は", "123"),
        ("2019年の旅費は", "231"),
    ],
)
def test_an_outdated_edition_comes_last_unless_it_is_asked_for(query, order):
    hits = [
        hit("1", "上限", superseded_by="new.md", date="2022-04-01"),
        hit("2", "上限", "new.md", date="2024-04-01"),
        hit("3", "宿泊", "copy.md", duplicate_of="new.md"),
    ]
    assert "".join(h.id for h in newest_first(query, hits)) == order


def test_what_rules_call_a_thing_is_held_for_its_everyday_name():
    idf = {"ボーナス": 2.0, "支給": 1.0}
    found = Evidence(id="1", text="賞与の支給日", score=1.0, meta={"title": "給与"})
    assert coverage(("ボーナス", "支給"), idf, found) == pytest.approx(1 / 3)
    assert coverage(("ボーナス", "支給"), idf, found, loosely=True) == pytest.approx(1.0)
    assert coverage(("車検", "支給"), {"車検": 1.0, "支給": 1.0}, found, loosely=True) == 0.5
