"""Answers speak of what the question names; ranges, cases and kana find their rule."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from intent.corpus import write_index
from naisei.core import World, run
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import document_world
from naisei.intent.flow import assist
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.things import mentions, things
from naisei.retrieval.index import Index

DOCUMENTS = {
    "leave.md": "# 休職規程\n\n## 休職の期間\n\n1. 休職の期間は次のとおりとする。\n"
    "    - 勤続3年未満 … 2か月以内\n    - 勤続3年以上10年未満 … 6か月以内\n"
    "    - 勤続10年以上 … 9か月以内\n\n## 有給休暇\n\n使わなかった有給休暇は翌年まで繰り越せる。\n",
    "pay.md": "# 賃金規程\n\n## 正社員の通勤手当\n\n自転車で通うときは、1日220円を払う。\n\n"
    "## 臨時社員の通勤手当\n\n自転車で通うときは、1日110円を払う。\n",
    "trip.md": "# 出張規程\n\n## 保険\n\n社員が旅行するときの旅行保険の費用は会社が払う。\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.open(write_index(tmp_path_factory.mktemp("things"), DOCUMENTS, "fast")) as opened:
        yield opened


def _asked(index: Index, text: str) -> Reply:
    return run(assist(Dialogue(utterance=text), Setting()), document_world(World({}), index))


def test_compounds_are_named_as_a_whole() -> None:
    assert things("社員旅行の費用はいくらですか") == ("社員旅行",)
    assert not mentions("社員旅行", "社員が旅行するときの保険")
    assert mentions("ボーナス", "賞与を年2回支給する")


def test_what_no_document_names_is_said_to_be_nowhere(index: Index) -> None:
    reply = _asked(index, "食堂の営業時間は")
    assert (reply.route, reply.band, reply.citations) == ("search", "none", ())


def test_the_item_of_the_range_is_quoted(index: Index) -> None:
    reply = _asked(index, "勤続11年の休職の期間は何か月ですか")
    assert "9か月" in reply.answer and "2か月" not in reply.answer


def test_the_chapters_person_outweighs_shared_words(index: Index) -> None:
    reply = _asked(index, "臨時社員が自転車で通うと通勤手当はいくらですか")
    assert "110円" in reply.answer and "220円" not in reply.answer


def test_a_question_in_kana_is_looked_up_in_the_documents_spelling(index: Index) -> None:
    reply = _asked(index, "つかわなかったゆうきゅうきゅうかはくりこせますか")
    assert "有給休暇" in reply.query and "繰り越せる" in reply.message and reply.urgent is None


def test_a_compound_is_not_its_parts(index: Index) -> None:
    reply = _asked(index, "社員自転車旅行はいくらですか")
    assert reply.band != "answer" and "110円" not in reply.answer
