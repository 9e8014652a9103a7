"""Whether the documents hold an answer, and what a question back may offer."""

import pytest

from intent.corpus import write_index
from naisei.core import Evidence, Where, World, run
from naisei.intent.answering import extracted
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weigh, WeighHandler, Weights, document_world, evidence
from naisei.intent.evaluating import topics
from naisei.intent.evidence import SearchResult, coverage, find, is_held, newest_first, strength
from naisei.intent.extraction import quotes
from naisei.intent.flow import assist
from naisei.intent.rules import Rules, Setting
from naisei.japanese.sentences import search_tokens
from naisei.retrieval.index import Index
from retrieval.documents import read


def hit(name, heading, path="a.md", **meta):
    more = {"path": path, "title": path, "headings": [path, heading], **meta}
    return Evidence(id=name, text="休暇の申請", score=1.0, meta=more)


#: Of a collection in which questions off the subject reach 0.8 and headings 0.9.
WEIGHTS = Weights(
    idf={"休暇": 1.0, "申請": 1.0, "経費": 1.0, "締め切り": 1.0},
    ground=0.8,
    reach=0.9,
    meaning=True,
)


@pytest.mark.parametrize(
    ("cosine", "query", "expected"),
    [
        (0.87, "休暇の申請", "answer"),
        (0.83, "休暇の申請", "answer"),
        (0.98, "経費の締切", "nearest"),
        (0.79, "休暇の締切", "nearest"),
        (0.81, "経費の締切", "none"),
    ],
)
def test_an_answer_is_near_and_names_what_is_asked(cosine, query, expected):
    found = SearchResult(hits=(hit("1", "申請", cosine=cosine),), weights=WEIGHTS)
    assert extracted(query, found, Rules())[1] == expected


def test_nothing_found_is_nothing_held():
    assert not is_held("休暇", [], WEIGHTS, Rules())
    assert extracted("休暇", SearchResult(hits=(), weights=WEIGHTS), Rules())[1] == "none"


@pytest.mark.parametrize("embedder", [None, "ngram"])
def test_a_question_of_the_subject_is_nearer_than_one_off_it(tmp_path, embedder):
    words = ("休暇", "経費", "会議室", "駐車場", "天気")
    text = "# {0}の規程\n\n{0}の申請は三日前までに課長へ行う。\n"
    files = {f"{word}.md": text.format(word) for word in words}
    with Index.open(write_index(tmp_path, files, embedder)) as index:

        def value(query):
            hits = [evidence(h) for h in index.search(query, k=5)]
            return strength(query, hits, WeighHandler(index).perform(Weigh(query), Where("x")))

        assert value("駐車場の申請は何日前までですか") > value("好きな歌手は誰ですか") + 0.3
        assert index.frequencies(["駐車", "申請"])["申請"] == 5
        kept = list((tmp_path / "index").glob("generation-*/calibration.ja.json"))
    assert len(kept) == 1


def test_words_of_another_language_are_told_from_names_in_the_documents(tmp_path):
    text = "# 社外からの接続\n\nVPNに接続できないときはE-310と表示される。休暇は課長に申請する。\n"
    with Index.open(write_index(tmp_path, {"vpn.md": text})) as index:
        weigh = WeighHandler(index)
        foreign = [
            weigh.perform(Weigh(query), Where("x")).foreign
            for query in ("vpn E-310", "How many days of leave do I get?", "休暇は何日ですか")
        ]
    assert foreign == [None, "ja", None]


TABLE = """| 施設 | 市民 | 市外 |
| 温水プール | 500円 | 700円 |
| 体育館 | 300円 | 450円 |
| 弓道場 | 200円 | 300円 |
高校生以下は半額です。ただし、市外の人は除きます。
- 冬は閉まります
- 雨の日も使えます
使う日の3日前までに、窓口で申し込んでください。申し込みには身分証が要ります。"""


@pytest.mark.parametrize(
    ("query", "shown", "hidden"),
    [
        ("体育館はいくらですか", "| 体育館 | 300円 | 450円 |", "温水"),
        ("高校生は安くなりますか", "ただし、市外の人は除きます。", "弓道"),
        (
            "何日前までに申し込めばいいですか",
            "使う日の3日前までに、窓口で申し込んでください。",
            "半額",
        ),
    ],
)
def test_what_is_quoted_is_the_row_or_the_sentence_with_its_exception(query, shown, hidden):
    found = Evidence(id="1", text=TABLE, score=1.0, meta={"title": "使用料"})
    words = dict.fromkeys(search_tokens(query), 1.0)
    (quote,) = quotes(query, SearchResult(hits=(found,), weights=Weights(idf=words)))
    assert shown in quote.text and hidden not in quote.text


LEAVE = """年休は入社日に5日を前倒しで付与する。その後は、勤続年数に応じて次の日数を付与する。
| 勤続年数 | 付与日数 |
| 6か月 | 12日 |
| 1年6か月 | 13日 |
| 2年6か月 | 14日 |
| 3年6か月 | 16日 |
| 4年6か月 | 18日 |
| 5年6か月以上 | 20日 |
時間単位の年休は、年度ごとに5日分を上限とする。"""
FILM = (
    "割引は次のとおりとする。詳しくは窓口で聞く。\n学生・・・200円\n会員・・・300円\n" + "外。" * 80
)


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        (LEAVE, "年休は何日もらえますか", ("| 6か月 | 12日 |", "| 5年6か月以上 | 20日 |")),
        (LEAVE, "勤続3年6か月の年休は何日ですか", ("| 3年6か月 | 16日 |",)),
        (FILM, "割引は次のとおりいくらですか", ("学生・・・200円",)),
    ],
)
def test_a_number_that_is_asked_for_is_quoted_from_the_column_or_list_that_has_it(
    text, query, shown
):
    found = Evidence(id="1", text=text, score=1.0, meta={"title": "規程"})
    words = dict.fromkeys(search_tokens(query), 1.0)
    (quote,) = quotes(query, SearchResult(hits=(found,), weights=Weights(idf=words)))
    assert all(part in quote.text for part in shown)


def test_how_many_days_are_asked_for_finds_the_column_of_days(tmp_path):
    files = {
        "繰越し.md": "# 休暇 繰越し\n\n休暇は翌年に繰り越す。",
        "数.md": "# 休暇 数\n\n| 勤続 | 付与日数 |\n|-|-|\n| 1年 | 11 |\n",
    }
    with Index.open(write_index(tmp_path, files, None)) as index:
        assert index.search("休暇は何日ありますか", k=1)[0].chunk.path == "数.md"


@pytest.mark.parametrize(("cosine", "band"), [(0.25, "nearest"), (0.11, "none")])
def test_a_passage_in_another_language_is_pointed_to_and_never_the_answer(cosine, band):
    weights = Weights(idf={"leave": 1.0}, ground=0.1, reach=0.4, meaning=True, foreign="ja")
    found = SearchResult(hits=(hit("1", "休暇", cosine=cosine),), weights=weights)
    written, held = extracted("Can I get leave?", found, Rules())
    assert held == band and len(written.citations) == (band == "nearest")


def test_a_column_of_another_model_is_left_out_and_a_range_holds_the_value():
    text = "| 項目 | RK-10A | RK-10B |\n| 保温 | 12時間 | 24時間 |\n| 重さ | 3kg | 4kg |"
    found = Evidence(id="1", text=text, score=1.0, meta={"title": "仕様"})
    query = "RK-10Bの保温は何時間ですか"
    words = dict.fromkeys(search_tokens(query), 1.0)
    (quote,) = quotes(query, SearchResult(hits=(found,), weights=Weights(idf=words)))
    assert quote.text == "| 項目 | RK-10B |\n| 保温 | 24時間 |"
    text = (
        "| 勤続 | 係数 |\n| 3年以上5年未満 | 0.5 |\n| 5年以上10年未満 | 0.6 |\n| 10年以上 | 0.8 |"
    )
    found = Evidence(id="1", text=text, score=1.0, meta={"title": "退職金"})
    (quote,) = quotes(
        "勤続7年の係数は", SearchResult(hits=(found,), weights=Weights(idf={"係数": 1.0}))
    )
    assert quote.text.endswith("| 5年以上10年未満 | 0.6 |")


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


@pytest.mark.parametrize(
    ("query", "answers", "held"),
    [
        ("2023年度の林の売上は", True, "| 林 | 31 |"),
        ("2022年度の林の売上は", True, "| 林 | 29 |"),
        ("2021年度の林の売上は", False, "| 林 |"),
        ("2023年度の佐藤の売上は", False, "売上"),
    ],
)
def test_a_row_of_another_year_or_name_is_no_answer(query, answers, held):
    text = "| 2023年度 | 売上 |\n| 林 | 31 |\n\n| 2022年度 | 売上 |\n| 林 | 29 |"
    one = Evidence(id="1", text=text, score=1.0, meta={"title": "集計", "headings": ["集計"]})
    idf = dict.fromkeys(search_tokens(query), 1.0)
    best, *_ = quotes(query, SearchResult(hits=(one,), weights=Weights(idf=idf)))
    assert (best.answers, held in best.text) == (answers, True)


@pytest.mark.parametrize(
    ("text", "query", "language"),
    [
        ("# 休暇\n\n有給休暇は年20日とする。\n", "Is there a dress code?", "Japanese"),
        ("# Leave\n\nStaff take 20 days a year.\n", "服装の決まりはありますか", "英語"),
    ],
)
def test_a_question_in_another_language_is_told_to_ask_in_that_of_the_documents(
    tmp_path, text, query, language
):
    with Index.open(write_index(tmp_path, {"a.md": text}, None)) as index:
        reply = run(assist(Dialogue(utterance=query), Setting()), document_world(World({}), index))
    assert reply.band == "none" and language in reply.message


def test_front_matter_is_found_and_settings_of_a_generator_are_not(tmp_path):
    text = (
        "---\ntitle: 夏祭り\nendDate: 2026-08-09\nlocation: 中央公園\nlayout: post\n"
        "draft: false\n---\n# 夏祭り\n\n盆踊りがあります。\n"
    )
    with Index.open(write_index(tmp_path, {"a.md": text}, None)) as index:
        (first, _) = index.search("夏祭りの終了日と場所", k=2)
        reply = run(
            assist(Dialogue(utterance="夏祭りはいつまでですか"), Setting()),
            document_world(World({}), index),
        )
    assert "2026-08-09" in first.chunk.text and "中央公園" in first.chunk.text
    assert "post" not in first.chunk.text and "draft" not in first.chunk.text
    assert "2026-08-09" in reply.message
    (fact, _) = read("a.md", "---\nendDate: 2026-08-09\n---\nFestival.").passages
    assert fact.text == "end date: 2026-08-09"


def test_an_item_that_refers_back_is_quoted_with_the_item_before():
    kinds = ("通勤", "住宅", "家族", "夜勤", "寒冷地", "資格", "役職", "地域")
    items = [
        f"- {kind}手当は月に{n}千円を支給し、給与とともに振り込む。" for n, kind in enumerate(kinds)
    ]
    items[2:2] = ["- 異動した人は、翌日までに総務へ届ける。", "- その後は毎年4月に写しを出す。"]
    found = Evidence(id="1", text="\n".join(items), score=1.0, meta={"title": "手当"})
    query = "写しはいつ出しますか"
    idf = dict.fromkeys(search_tokens(query), 1.0)
    (quote,) = quotes(query, SearchResult(hits=(found,), weights=Weights(idf=idf)))
    assert quote.text.split("\n") == items[2:4]


MAIL = """From: encho@example.jp
Subject: =?utf-8?b?6Ieq5a6255So6LuK44Gu5Lqk6YCa6LK7?=
Date: Mon, 05 Oct 2026 09:10:00 +0900
Content-Type: text/plain; charset=utf-8

11月1日から自家用車の交通費を1キロにつき
20円から25円に引き上げます。

> 自家用車の交通費は30円にしてください。
"""
RULES = "# 出張の交通費\n\n自家用車は1キロにつき20円を払います。\n\n2024年4月1日施行\n"


def test_a_mail_that_says_otherwise_is_shown_with_its_date_and_its_sentence_whole(tmp_path):
    with Index.open(write_index(tmp_path, {"a.md": RULES, "b.eml": MAIL}, None)) as index:
        query = "出張の交通費は自家用車だといくらですか"
        reply = run(assist(Dialogue(utterance=query), Setting()), document_world(World({}), index))
    first, second = reply.message.index("20円を払い"), reply.message.index("20円から25円に")
    assert first < reply.message.index("2026-10-05") < second and "30円" not in reply.message
    (_, own, quoted) = read("b.eml", MAIL).passages
    assert (
        own.text.startswith("11月1日から自家用車の交通費を1キロにつき20円")
        and "30円" in quoted.text
    )


@pytest.mark.parametrize("wish", ["休みたいんだけど", "休みたいです", "休暇を取りたい"])
def test_a_wish_with_several_candidates_is_asked_back(tmp_path, wish):
    text = (
        "# 就業規則\n\n## 慶弔休暇\n\n休暇は5日とする。\n\n## 介護休暇\n\n休暇は年に10日とする。\n"
    )
    with Index.open(write_index(tmp_path, {"a.md": text}, None)) as index:
        reply = run(assist(Dialogue(utterance=wish), Setting()), document_world(World({}), index))
    assert reply.route == "ask" and len(reply.options) == 2


def test_a_passage_without_the_matter_of_the_question_is_no_answer():
    text = "社会保険料は、毎月20日までに振り込まなければならない。"
    found = Evidence(id="1", text=text, score=1.0, meta={"title": "休職", "cosine": 0.9})
    query = "給料はいつ振り込まれますか"
    weights = WEIGHTS.model_copy(update={"idf": dict.fromkeys(search_tokens(query), 1.0)})
    assert extracted(query, SearchResult(hits=(found,), weights=weights), Rules())[1] != "answer"


def test_all_steps_of_a_scale_are_quoted():
    steps = ["10日前までは無料です。", "9日前から3日前までは40%です。", "2日前からは100%です。"]
    text = "\n".join(["ご予約は窓口で受け付けます。" * 6, *steps, "ご利用をお待ちします。" * 6])
    found = Evidence(id="1", text=text, score=1.0, meta={"title": "取り消し"})
    query = "取り消しはいくらですか"
    idf = dict.fromkeys(search_tokens(query), 1.0)
    (quote,) = quotes(query, SearchResult(hits=(found,), weights=Weights(idf=idf)))
    assert quote.text.split("\n") == steps


def test_a_newer_document_of_another_matter_changes_nothing(tmp_path):
    files = {
        "leave.md": "# 年次有給休暇\n\n2024年4月1日施行\n\n有給休暇は10日を付与する。\n",
        "care.md": "# 育児のてびき\n\n2025年4月1日施行\n\n有給休暇のほか、子が1人なら5日休める。\n",
    }
    with Index.open(write_index(tmp_path, files, None)) as index:
        found = run(find("有給休暇は何日", Setting()), document_world(World({}), index))
    assert "より新しい" not in extracted("有給休暇は何日", found, Rules())[0].text
