"""What is quoted: the row that is named, the list of a heading, all days of a clause."""

# ruff: noqa: E501  (documents and questions are read best on one line)

import pytest

from intent.corpus import write_index
from naisei.core import World, run
from naisei.intent.answering import extracted
from naisei.intent.effects import document_world
from naisei.intent.evidence import find
from naisei.intent.rules import Rules, Setting
from naisei.retrieval.index import Index

DOCUMENTS = {
    "vaccine.md": "# 日本脳炎の予防接種\n\n| 期 | 回 | 対象年齢 |\n|---|---|---|\n"
    "| 第1期初回 | 1回目と2回目 | 3歳以上7歳6か月未満 |\n| 第1期追加 | 3回目 | 3歳以上7歳6か月未満 |\n"
    "| 第2期 | 4回目 | 9歳から13歳まで |\n",
    "refund.md": "# 高額療養費について\n\n限度額を超えて支払った場合、申請により高額療養費を支給します。\n"
    "高額療養費に該当する月ごとに、世帯主の申請が必要です。手続きの際、領収書が必要です。\n\n"
    "## 申請について\n\n高額療養費に該当した場合、市からお知らせを郵送します。申請した月の翌月に振り込みます。\n\n"
    "### 申請に必要なもの\n\n- 郵送されたお知らせ\n- 受診者の保険証\n- 世帯主名義の通帳\n",
    "clinic.md": "# 診療所条例\n\n## (診療時間及び休診日)\n\n第5条 診療所の診療時間及び休診日は、次のとおりとする。\n\n"
    "(1) 診療時間 午前9時から午後5時まで\n\n(2) 休診日\n\n日曜日及び土曜日(第3土曜日を除く。)\n\n"
    "国民の祝日に関する法律に規定する休日\n\n12月31日から翌年1月3日までの日\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index.open(write_index(tmp_path_factory.mktemp("quoted"), DOCUMENTS)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "shown", "hidden"),
    [
        ("日本脳炎の第2期は何歳で受けますか", "| 第2期 | 4回目 | 9歳から13歳まで |", "第1期"),
        ("日本脳炎の第二期は何歳で受けますか", "9歳から13歳まで", "第1期"),
        ("日本脳炎の4回目は何歳で受けますか", "9歳から13歳まで", "第1期"),
        ("日本脳炎の2回目は何歳で受けますか", "第1期初回", "第2期"),
        ("高額療養費の申請に必要なものは何ですか", "受診者の保険証\n- 世帯主名義の通帳", "限度額"),
        ("高額療養費の申請には何が必要ですか", "郵送されたお知らせ", "振り込み"),
        ("診療所の休診日はいつですか", "(2) 休診日\n日曜日及び土曜日", "郵送"),
        ("診療所の休診日はいつですか", "12月31日から翌年1月3日までの日", "郵送"),
    ],
)
def test_the_named_row_list_or_clause_is_the_answer(index, query, shown, hidden):
    found = run(find(query, Setting()), document_world(World({}), index))
    written, band = extracted(query, found, Rules())
    assert band == "answer" and shown in written.text and hidden not in written.text


def test_a_row_that_no_table_has_is_not_answered_by_another(index):
    query = "日本脳炎の第3期は何歳で受けますか"
    found = run(find(query, Setting()), document_world(World({}), index))
    assert extracted(query, found, Rules())[1] != "answer"
