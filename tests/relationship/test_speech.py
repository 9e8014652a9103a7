"""The estimator: signs on plain cases, mirrored power, and NaN where speech does not tell."""

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.lang import speaking
from naisei.relationship.curves import heard
from naisei.relationship.schemas import AGENTS, Conversation, Line, Session
from naisei.relationship.speech import SpeechEstimator, course, estimate, load_coefficients
from naisei.relationship.speech.features import utterance_cues
from naisei.relationship.standing import talk_standing
from naisei.relationship.vector import DIMENSIONS

SENIOR = [
    ("高橋", "佐藤くん、例の資料、明日の十時までに直しておいて。"),
    ("佐藤", "はい、承知しました。高橋先輩、三ページの数字も確認したほうがよろしいでしょうか。"),
    ("高橋", "そうだな、表も全部見直せ。わからなければ聞きに来ていいぞ。"),
    ("佐藤", "ありがとうございます。いつもご指導いただいて、勉強になります。"),
]
FRIENDS = [
    ("ゆい", "ねえ、昨日のライブ最高だったね！あはは、まだ耳がきーんってしてる。"),
    ("まな", "わかる、泣いちゃったもん。実は私、あの曲で失恋のこと思い出してさ。"),
    ("ゆい", "そっか……つらかったよね。今度一緒に温泉行こうよ、話聞くから。"),
    ("まな", "うん、行きたい！ゆい大好き。"),
]
STRANGERS = [
    ("客", "すみませんが、この近くに駅はありますでしょうか。"),
    ("女性", "はい、ございますよ。あちらの角を右に曲がってください。"),
    ("客", "ご丁寧にありがとうございます。失礼いたします。"),
    ("女性", "いえいえ、お気をつけて。"),
]


def test_a_senior_is_above_and_a_task_a_task() -> None:
    senior, junior = estimate(SENIOR, ("高橋", "佐藤"))
    assert senior["Power"].value > 1 and junior["Power"].value < -1
    assert senior["TaskOriented"].value > 0
    assert (senior["Power"].rounded or 0) >= 1


def test_friends_are_nearer_than_strangers_and_chat_is_no_task() -> None:
    near, _ = estimate(FRIENDS, ("ゆい", "まな"))
    far, _ = estimate(STRANGERS, ("客", "女性"))
    assert near["Intimacy"].value > 1 > 0 > far["Intimacy"].value
    assert near["TaskOriented"].value < -1
    assert abs(near["Power"].score) < 1


def test_power_is_mirrored_and_names_may_be_ids() -> None:
    lines = [("A" if s == "高橋" else "B", t) for s, t in SENIOR]
    a, b = estimate(lines, ("A", "B"), names={"A": "高橋", "B": "佐藤"})
    assert a["Power"].value == pytest.approx(-b["Power"].value)
    assert a["Power"].value == estimate(SENIOR, ("高橋", "佐藤"))[0]["Power"].value
    swapped, _ = estimate(lines, ("B", "A"), names={"A": "高橋", "B": "佐藤"})
    assert swapped["Power"].value == pytest.approx(b["Power"].value)


def test_reasons_rest_on_lines_that_hold_the_words() -> None:
    senior, _ = estimate(SENIOR, ("高橋", "佐藤"))
    signs = senior["Power"].signs
    assert signs and [s.share for s in signs] == sorted(
        (s.share for s in signs), key=abs, reverse=True
    )
    for sign in (s for name in DIMENSIONS for s in senior[name].signs):
        assert sign.words
        for at, words in sign.lines:
            assert all(word.removeprefix("…") in SENIOR[at][1] for word in words)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([("A", "はい"), ("B", "うん")], "too little"),
        ([("A", "Good morning, how are you?"), ("B", "Fine, thank you very much.")], "Japanese"),
        ([("A", "……"), ("B", "123")], "too little"),
        ([], "too little"),
    ],
)
def test_too_little_or_another_language_is_nan_with_a_reason(
    lines: list[tuple[str, str]], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_LANG", "en")
    for reading in estimate(lines, ("A", "B")):
        assert reading.vector is None
        for name in DIMENSIONS:
            assert math.isnan(reading[name].value) and why in reading[name].reason
            assert reading[name].rounded is None
            assert reading.to_json()[name]["value"] is None


def test_power_waits_for_both_while_intimacy_is_ones_own() -> None:
    (first, second), *_ = course(FRIENDS, ("ゆい", "まな"))
    assert math.isnan(first["Power"].value) and not math.isnan(first["Intimacy"].value)
    assert math.isnan(second["Intimacy"].value)


def test_unknown_speakers_are_errors() -> None:
    with pytest.raises(KeyError):
        SpeechEstimator(("A", "B")).add("C", "こんにちは")
    with pytest.raises(ValueError, match="two speakers"):
        SpeechEstimator(("A", "A"))


@given(st.lists(st.tuples(st.sampled_from("AB"), st.text(max_size=60)), max_size=8))
def test_any_text_gives_a_number_on_the_scale_or_a_reason(lines: list[tuple[str, str]]) -> None:
    for reading in estimate(lines, ("A", "B")):
        for name in DIMENSIONS:
            one = reading[name]
            assert (math.isnan(one.value) and one.reason) or -3 <= one.value <= 3


def test_what_is_near_nothing_is_not_told_but_keeps_its_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAISEI_LANG", "en")
    equal = [("A", "そっちは明日の天気、どう思う？"), ("B", "うーん、晴れると思うけどな、たぶん。")]
    power = estimate(equal, ("A", "B"))[0]["Power"]
    assert math.isnan(power.value) and power.rounded is None and "cannot be read" in power.reason
    assert abs(power.score) < load_coefficients().bands["Power"]


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("趣味は？", "shut"),
        ("お気遣いいただかなくて結構です。", "honorific"),
        ("こちらこそ、よろしくお願いします。", "request"),
        ("頼む、行かないでくれ。", "command"),
    ],
)
def test_cues_are_not_heard_where_they_are_not(text: str, never: str) -> None:
    assert never not in utterance_cues(text).words


def test_the_listed_parts_add_up_to_the_number() -> None:
    for lines in (SENIOR, FRIENDS, STRANGERS):
        for reading in estimate(lines, (lines[0][0], lines[1][0])):
            for one in reading.estimates.values():
                parts = one.base + sum(sign.share for sign in one.signs) + one.rest
                assert parts == pytest.approx(one.score)


def test_polite_endings_cite_polite_lines_and_their_lack_plain_ones() -> None:
    lines = [
        ("甲", "昨日は映画を見ました。"),
        ("乙", "いいですね、何を見たんですか。"),
        ("甲", "犬が出てくる話。泣いたよ。"),
        ("乙", "うん、あれは泣くよね。"),
    ]
    for talk, polite in ((lines[:2], True), (lines[2:], False)):
        for reading in estimate(talk, ("甲", "乙")):
            (sign,) = [s for s in reading["Intimacy"].signs if s.feature == "polite"]
            assert sign.much is polite and len(sign.lines) == 2


@pytest.mark.parametrize(
    ("decides", "begs", "lines"),
    [
        ("館長", "作家", [
            ("館長", "ご応募の絵は拝見しました。残念ですが、展示はお断りいたします。"),
            ("作家", "何でだよ。みんな褒めてくれたんだぞ。"),
            ("館長", "委員会で決まったことですので、変更はできかねます。"),
            ("作家", "頼むよ、隅っこでいいから掛けさせてくれ。"),
        ]),
        ("妹", "兄", [
            ("兄", "家を売るなんて聞いてないぞ。待ってくれよ。"),
            ("妹", "母さんの介護費のために、売ることにしました。"),
            ("兄", "お願いだから考え直してくれ。"),
            ("妹", "もう決めました。鍵を返してください。"),
        ]),
        ("駅長", "客", [
            ("客", "忘れ物取りに入るだけだって。通してよ。"),
            ("駅長", "規則ですので、切符のない方はお通しできません。"),
            ("客", "頼むよ、すぐそこなんだ。"),
            ("駅長", "係の者が取ってまいります。こちらでお待ちください。"),
        ]),
    ],
)  # fmt: skip
def test_who_decides_is_above_however_politely(
    decides: str, begs: str, lines: list[tuple[str, str]]
) -> None:
    above, below = estimate(lines, (decides, begs))
    assert above["Power"].value > 0 > below["Power"].value


def test_food_sleep_and_agreement_are_neither_feeling_nor_work_nor_rank() -> None:
    curry = [
        ("ゆい", "このカレー辛いね"),
        ("りく", "辛い辛い、でもうまい"),
        ("ゆい", "次は中辛で頼もう"),
        ("りく", "俺は辛いの平気"),
    ]
    night = [
        ("A", "よく眠れていますか？"),
        ("B", "はい、睡眠は六時間です。"),
        ("A", "洗濯やマッサージは夜にしますか？"),
        ("B", "はい、夜に回します。"),
    ]
    assert all(one["TaskOriented"].score < 0 for one in estimate(curry, ("ゆい", "りく")))
    for reading in estimate(night, ("A", "B")):
        assert math.isnan(reading["Power"].value) and not reading["TaskOriented"].value > 0


def test_yes_obeys_only_who_has_just_been_told() -> None:
    told = [("甲", "三時までに直して。"), ("乙", "はい、すぐやります。")]
    asked = [("甲", "三時は遅いですよね。"), ("乙", "はい、そう思います。")]
    for lines, obeys in ((told, True), (asked, False)):
        course = SpeechEstimator(("甲", "乙"))
        for line in lines:
            course.add(*line)
        assert ("comply" in course.side("乙").grounds) is obeys


def test_the_task_follows_the_latest_lines() -> None:
    work = [
        ("甲", "見積もりの数字を三時までに直して送ってください。"),
        ("乙", "承知しました。請求書の日付も確認しておきます。"),
    ]
    talk = [
        ("甲", "ところで、娘さんはもう歩いたの？"),
        ("乙", "うん、昨日三歩も。かわいくてさ。"),
        ("甲", "いいなあ、うちの猫と遊ばせたいよ。"),
        ("乙", "あはは、週末に連れていくね。"),
        ("甲", "ケーキ焼いて待ってる。"),
        ("乙", "やった、楽しみ。"),
        ("甲", "昔みたいに川でも遊ぼうか。"),
        ("乙", "いいねえ、花火も持っていこう。"),
    ]
    after = course([*work, *talk], ("甲", "乙"))
    assert after[1][0]["TaskOriented"].value > 1 and after[-1][0]["TaskOriented"].value < 0


def test_hostility_is_read_without_words_of_closeness() -> None:
    lines = [
        ("隆", "また勝手に触っただろ。"),
        ("誠", "触ってない。俺のせいにするな。"),
        ("隆", "嘘つけ。二度と近づくな。"),
        ("誠", "こっちこそ顔も見たくない。最低だ。"),
    ]
    assert all(one["Intimacy"].value < 0 for one in estimate(lines, ("隆", "誠")))


def test_polite_words_that_shut_out_are_cold_and_rough_ones_among_friends_warm() -> None:
    cold = [
        ("甲", "お忙しいところ恐れ入りますが、一緒に行きませんか。"),
        ("乙", "お気遣いいただかなくて結構です。失礼します。"),
        ("甲", "では、せめて駅までお送りしましょうか。"),
        ("乙", "要りません。どうぞご自由になさってください。"),
    ]
    warm = [
        ("甲", "ばーか、また寝坊したんだろ。パン買っといたから、ほれ、食えよ。"),
        ("乙", "うるさいな、お前も寝癖ひどいぞ、ばか。覚えてろよ。"),
        ("甲", "はは、昔からそうだよな。今度また飲みに行こうぜ。"),
        ("乙", "おう、お前のおごりな。"),
    ]
    assert estimate(cold, ("甲", "乙"))[1]["Intimacy"].value < 0
    assert all(one["Intimacy"].value > 0 for one in estimate(warm, ("甲", "乙")))


def test_a_talk_in_another_language_is_said_to_be_unread() -> None:
    said = ["Did you sleep well last night?", "Very well, thank you, and you?"]
    time = datetime(2026, 4, 6)
    lines = tuple(
        Line(id=f"D1:{n}", session=1, turn=n, speaker=who, text=text, time=time)
        for n, (who, text) in enumerate(zip(AGENTS, said, strict=True))
    )
    sessions = (Session(number=1, start=time, lines=lines),)
    names = {"a": "Ann", "b": "Bob"}
    talk = Conversation(pair="p", language="en", names=names, sessions=sessions)
    with speaking("en"):
        shown = talk_standing(talk, heard(talk))
    for standing in shown:
        (row,) = standing.under
        assert "Japanese" in row.text and "model" in row.text
