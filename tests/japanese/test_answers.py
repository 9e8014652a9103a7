"""Short answers to clarifying questions: where they stand, and what else they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.japanese.answers import HEDGED, Answer, Stance, understand

THIRSTY = "喉が渇いていらっしゃいますか？"


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("はい", Stance.YES),
        ("ええ、そうなんです。", Stance.YES),
        ("うん、まあそんなところ", Stance.YES),
        ("その通りです", Stance.YES),
        ("Yeah, exactly.", Stance.YES),
        ("いいえ、違います。", Stance.NO),
        ("いや、飲み物じゃなくて、部屋が散らかっていて", Stance.NO),
        ("そうじゃなくて、もう終わったから", Stance.NO),
        ("そういうわけではないです。鼻がむずむずします", Stance.NO),
        ("ううん、もう十分", Stance.NO),
        ("別にそうでもないかな", Stance.NO),
        ("Not really, I'm just cold.", Stance.NO),
        ("前者です", Stance.FIRST),
        ("どっちかというと最初のほうで", Stance.FIRST),
        ("どちらかというと後者ですかね", Stance.SECOND),
        ("The latter, I think.", Stance.SECOND),
        ("どちらでもないです", Stance.NEITHER),
        ("どちらも違いますね", Stance.NEITHER),
        ("Neither, really", Stance.NEITHER),
        ("両方ですね", Stance.BOTH),
        ("うーん、よくわからないな", Stance.UNSURE),
        ("I'm not sure", Stance.UNSURE),
        ("【回答できません】", Stance.REFUSED),
        ("それはちょっと答えられません", Stance.REFUSED),
        ("I cannot answer that.", Stance.REFUSED),
        ("", Stance.REFUSED),
        ("喉がからからで", Stance.OPEN),
        ("お腹はいっぱいだよ", Stance.OPEN),
    ],
)
def test_stance(text: str, stance: Stance) -> None:
    assert understand(text).stance is stance


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("渇いていますね", Stance.YES),
        ("渇いてません", Stance.NO),
        ("あんまり渇いていないかな", Stance.NO),
        ("部屋が散らかっていて", Stance.OPEN),
    ],
)
def test_an_echo_of_the_question_is_a_yes_or_a_no(text: str, stance: Stance) -> None:
    assert understand(text, THIRSTY).stance is stance


def test_what_is_denied_is_kept_apart_from_what_is_said() -> None:
    found = understand("いや、飲み物じゃなくて、部屋が散らかっていて")
    assert found.content == "部屋が散らかっていて"
    assert found.denied == "飲み物じゃなくて"


def test_a_denied_echo_says_nothing_for_its_words() -> None:
    assert understand("喉は渇いてないけど、鼻が出て", THIRSTY).content == "鼻が出て"


def test_polarity_words_are_no_content() -> None:
    assert understand("はい、そうです。") == Answer(Stance.YES)


def test_a_hedge_lowers_certainty() -> None:
    assert understand("たぶんそうかもしれません").certainty == HEDGED
    assert understand("はい、喉が渇きました").certainty == 1.0


@given(st.text(max_size=60), st.text(max_size=30))
def test_never_raises(text: str, question: str) -> None:
    found = understand(text, question)
    assert 0 < found.certainty <= 1
