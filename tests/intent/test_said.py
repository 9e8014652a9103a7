"""What is read from the person's words: choices, answers that hold none, what must be kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.intent.dialogue import Dialogue, chosen
from naisei.japanese.answers import at_a_loss, none_of_them
from naisei.japanese.content_preservation import lost, missing, quantities
from naisei.japanese.query_analysis import analyse_query

OPTIONS = ("特別休暇規程", "年次有給休暇規程 › 申請の手続き", "休暇のよくある質問")
KANJI = "〇一二三四五六七八九"
UNITS = ("日", "円", "人", "時間", "回", "件")


def kinds(said, rewritten):
    return {gone.kind for gone in lost(said, rewritten)}


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("2", (1,)),
        ("２です", (1,)),
        ("②", (1,)),
        ("2番目です", (1,)),
        ("二つ目", (1,)),
        ("1と3", (0, 2)),
        ("特別休暇規程", (0,)),
        ("申請の手続きについて", (1,)),
        ("3日です", ()),
        ("7", ()),
        ("0", ()),
        ("", ()),
        ("子どもの休みです", ()),
    ],
)
def test_which_option_an_answer_names(answer, places):
    assert chosen(answer, OPTIONS) == places


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("2", "年次有給休暇規程 › 申請の手続き"),
        ("特別休暇規程です", "特別休暇規程"),
        ("特別休暇規程で、結婚のときは何日ですか", "特別休暇規程で、結婚のときは何日ですか"),
        ("1です。結婚のときは何日ですか", "特別休暇規程、結婚のときは何日ですか"),
        ("3.5日です", "3.5日です"),
        ("9、その他", "9、その他"),
    ],
)
def test_nothing_that_was_said_besides_a_choice_is_lost(answer, kept):
    assert Dialogue(utterance="休み").answered("?", answer, OPTIONS).exchanges[0].answer == kept


@pytest.mark.parametrize(
    ("earlier", "said", "held", "gone"),
    [
        ("駐車場の利用料はいくらですか", "それはいつまでに申し込むんですか", "駐車場", "いくら"),
        ("名刺の注文はいくらですか", "英語のは？", "いくら", "それ"),
        ("AP-40のフィルターはいくらですか", "AP-60だと？", "フィルターはいくら", "AP-40"),
        ("How much is a dog licence?", "When do I have to renew it?", "dog licence", "How much"),
        ("住民票はいくらですか", "図書館の休館日はいつですか", "図書館", "住民票"),
        ("How much is a dog licence?", "Is it possible to swim in June?", "swim", "dog"),
    ],
)
def test_a_request_that_points_back_takes_the_matter_and_asks_its_own(earlier, said, held, gone):
    (text,) = Dialogue(utterance=said, earlier=(earlier,)).full_messages
    assert text.endswith(said) and held in text and gone not in text


@given(st.text(max_size=30), st.lists(st.text(max_size=12), max_size=9))
def test_a_choice_is_always_among_the_options(answer, options):
    assert all(0 <= place < len(options) for place in chosen(answer, options))


@pytest.mark.parametrize(
    "answer",
    [
        "その中にはありません。",
        "どれでもないです",
        "いいえ、どれも違います",
        "None of these.",
        "neither",
    ],
)
def test_none_of_them(answer):
    assert none_of_them(answer) and not at_a_loss(answer)


@pytest.mark.parametrize(
    "answer",
    ["特にありません。", "わかりません", "よく分からないです", "なし", "", "…", "I don't know."],
)
def test_at_a_loss(answer):
    assert at_a_loss(answer) and not none_of_them(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "その中にはないです、有休の話です",
        "お金がありません",
        "いいえ、有給です",
        "時間がない",
        "いつまでか分かりません",
    ],
)
def test_an_answer_that_says_something(answer):
    assert not none_of_them(answer) and not at_a_loss(answer)


def test_what_says_nothing_is_not_searched_for():
    dialogue = Dialogue(utterance="休暇について").answered(
        "どれですか", "その中にはありません。", OPTIONS
    )
    assert dialogue.full_messages == ("休暇について",)
    assert dialogue.answered("では何ですか", "看護休暇です").full_messages == (
        "休暇について",
        "看護休暇です",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("今回の査定が思っていたより低くて、やる気が出ません。", True),
        ("査定の見直しを頼む期限はいつまでですか。やる気が出ません。", False),
        ("年次有給休暇 繰越 上限 日数 契約社員 アルバイト", False),
    ],
)
def test_a_situation_that_asks_nothing_is_a_worry(text, told):
    asking = analyse_query(text)
    assert (asking.told, asking.consultation) == (told, told)


@pytest.mark.parametrize(
    ("said", "rewritten", "kind"),
    [
        ("有休を3日取りたい", "有休を5日取る方法は？", "number"),
        ("宿泊費は1万2千円です", "宿泊費が13000円の場合は？", "number"),
        ("来週の会議です", "会議の予約方法は？", "date"),
        ("4月1日に入社します", "4月2日に入社する場合は？", "number"),
        ("VPNが使えません", "VPNの使い方は？", "negation"),
        ("Zoomではなく電話です", "Zoomと電話の使い方は？", "negation"),
        ("「ツツミ」で申請したい", "申請の方法は？", "entity"),
        ("看護休暇の日数です", "休みの日数は？", "entity"),
    ],
)
def test_what_a_rewriting_loses(said, rewritten, kind):
    assert kind in kinds(said, rewritten)


@pytest.mark.parametrize(
    ("said", "rewritten"),
    [
        ("有休を三日取りたい", "有休を3日取得する手続きは何ですか。"),
        ("令和6年の規程です", "2024年の規程はどれですか。"),
        ("教えていただけませんか", "教えてください。"),
        ("届けを出さなければなりませんか", "届けを出す必要はありますか。"),
        ("ＶＰＮの件です", "VPNについて教えてください。"),
    ],
)
def test_what_is_said_otherwise_is_kept(said, rewritten):
    assert lost(said, rewritten) == ()


@given(st.integers(1, 9999), st.integers(1, 9999), st.sampled_from(UNITS))
def test_a_changed_number_is_always_seen(one, other, unit):
    said, rewritten = f"休みは{one}{unit}ですか", f"休みは{other}{unit}ですか"
    assert ("number" in kinds(said, rewritten)) == (one != other)


@given(st.integers(2, 9), st.sampled_from(UNITS))
def test_kanji_and_digits_are_one_number(n, unit):
    assert quantities(f"{KANJI[n]}{unit}まで") == quantities(f"{n}{unit}まで")


@given(st.integers(1, 10**7), st.sampled_from(UNITS))
def test_grouping_and_width_do_not_count(n, unit):
    plain = f"{n}{unit}"
    wide = plain.translate({ord(str(d)): chr(0xFF10 + d) for d in range(10)})
    assert not missing(plain, f"{n:,}{unit}") and not missing(plain, wide)


@given(st.text(max_size=60))
def test_a_text_keeps_itself(text):
    assert lost(text, text) == ()


@given(
    st.sampled_from(["申請", "予約", "精算"]),
    st.sampled_from(["できません", "していません", "したくない", "しなかった"]),
)
def test_a_dropped_negation_is_always_seen(noun, ending):
    assert "negation" in kinds(f"{noun}{ending}", f"{noun}の方法を教えてください")
