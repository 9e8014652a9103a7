"""Speech level, honorifics, address terms, and what a sentence does to the other."""

import pytest

from naisei.relationship.speech.cues import begs, cues
from naisei.relationship.speech.level import Sentence, casual, japanese_sentences, laughter
from naisei.relationship.speech.politeness import Level, addresses, honorifics, level, name_parts


def one(text: str) -> Sentence:
    (sentence,) = japanese_sentences(text)
    return sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("明日は行きますよね。", Level.POLITE),
        ("行きますけど……", Level.POLITE),
        ("取ってください", Level.POLITE),
        ("そうっすね", Level.POLITE),
        ("はい。", Level.POLITE),
        ("本当ですか？ｗｗ", Level.POLITE),
        ("行かないでしょうね", Level.POLITE),
        ("だますなよ", Level.PLAIN),
        ("励ますよ", Level.PLAIN),
        ("行くけど", Level.PLAIN),
        ("それ取って", Level.PLAIN),
        ("無理かな", Level.PLAIN),
        ("うん。", Level.PLAIN),
        ("眠いなあ（笑）", Level.PLAIN),
        ("明日の三時。", Level.NONE),
    ],
)
def test_level(text: str, expected: Level) -> None:
    assert level(one(text)) is expected


def test_quotations_and_stage_directions_are_not_the_speakers_manner() -> None:
    assert level(one("部長が「お待ちしております」って言ってた")) is Level.PLAIN
    assert honorifics(one("部長が「お待ちしております」って言ってた")) == []
    assert [s.text for s in japanese_sentences("行こう（と言いました）\n寝ます")] == [
        "行こう",
        "寝ます",
    ]
    assert japanese_sentences("") == japanese_sentences("Good morning!") == ()


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("先生がいらっしゃいました", {"respect"}),
        ("ご覧になりましたか", {"respect"}),
        ("資料を拝見しました", {"humble"}),
        ("明日伺います", {"humble"}),
        ("お待ちしております", {"humble"}),
        ("会議室でございます", {"courtesy"}),
        ("恐れ入りますが、お名前をお願いいたします", {"courtesy", "humble"}),
        ("おはようございます", set()),
        ("お願いします", set()),
        ("置いておいてください", set()),
        ("ごめんください", set()),
        ("いただきます！", set()),
    ],
)
def test_honorifics(text: str, cues: set[str]) -> None:
    assert {found.cue for found in honorifics(one(text))} == cues


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("田中さん、おはよう", "san"),
        ("田中先輩のおかげです", "title"),
        ("ケンタくんはどう？", "kun"),
        ("ケンタ、行くぞ", "bare"),
        ("ケンちゃん元気？", "chan"),
        ("部長、少しよろしいですか", "title"),
        ("校長先生、お話が", "title"),
        ("お母さん、これ見て", "elder"),
        ("お客様、こちらへ", "sama"),
        ("お前さあ", "rough_you"),
    ],
)
def test_address(text: str, form: str) -> None:
    assert [f for f, _ in addresses(text, to="田中 ケンタ", by="高橋 さおり")] == [form]


@pytest.mark.parametrize(
    "text", ["部長が言ってた", "母さんが来る日", "高橋です", "君島の海", "みなさん、どうも"]
)
def test_who_is_only_spoken_about_is_not_addressed(text: str) -> None:
    assert addresses(text, to="田中 ケンタ", by="高橋 さおり") == []


def test_a_name_of_one_character_may_be_a_word() -> None:
    assert addresses("森の中を歩いた", to="森 一郎") == []
    assert addresses("森、こっち", to="森 一郎") == [("bare", "森")]
    assert addresses("昨日は森さんと歩いた", to="森 一郎") == [("san", "森さん")]


def test_parts_of_names() -> None:
    assert set(name_parts("田中 ケンタ")) == {"田中", "ケンタ"}
    assert set(name_parts("高橋さおり")) >= {"高橋さおり"}
    assert name_parts("A") == name_parts("店員") == name_parts("部長") == ()


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("早く寝なさい", "command"),
        ("さっさとやれ", "command"),
        ("そこに触るな", "command"),
        ("それ取って", "command"),
        ("見ておいてね", "command"),
        ("書いてください", "request"),
        ("よくやった、その調子だ", "evaluation"),
        ("帰っていいよ", "grant"),
        ("承知しました", "comply"),
        ("今回は不採用とさせていただきます", "deciding"),
        ("閉店することにしました", "deciding"),
        ("お受けできません", "shut"),
        ("頼むよ、置いていかないでくれ", "plead"),
        ("初めまして、佐藤と申します", "stranger"),
        ("もう黙ってて", "hostile"),
    ],
)
def test_what_a_sentence_does(text: str, cue: str) -> None:
    assert cue in {found.cue for found in cues(one(text), begging=begs(text))}


def test_directness_is_ordered() -> None:
    forms = ("見せろ", "見せて", "見せていただけますか")
    most = [max((f.strength for f in cues(one(f)) if f.cue == "command"), default=0) for f in forms]
    assert most[0] > most[1] > most[2]


@pytest.mark.parametrize(
    "text",
    [
        *("おやすみなさい", "ごめんなさい", "いいなあ", "疲れてて", "手伝ってくれてありがとう"),
        *("待ってくれよ、頼むから", "行かないでくれ", "よろしくお願いします"),
    ],
)
def test_thanks_greetings_and_begging_are_no_orders(text: str) -> None:
    assert not {"command", "request"} & {f.cue for f in cues(one(text), begging=begs(text))}


def test_rapport() -> None:
    assert (
        laughter("それはないｗｗ") and laughter("楽しいね（笑）") and not laughter("www.a.jp です")
    )
    assert casual(one("行こうよ"))[-1].cue == "invitation"
    assert not casual(one("本日は十時に伺います"))
