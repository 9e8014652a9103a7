"""Folding, brackets and word borders of spoken lines."""

import pytest

from naisei.japanese.boundaries import stands_alone
from naisei.japanese.brackets import mask, pairs
from naisei.japanese.folding import Origin, fold, mend_marks
from naisei.japanese.topics import topics
from naisei.japanese.utterance import utterance_sentences


@pytest.mark.parametrize(
    ("given", "folded"),
    [
        ("！！！", "！"),
        ("!?", "！？"),
        ("ほんと!!?", "ほんと！？"),
        ("です｡", "です。"),
        ("a  b\u3000\u3000c\nd", "a b c\nd"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("が か\u3099", "が が"),
        ("1.5と3,000", "1.5と3,000"),
        ("うん…………", "うん…"),
        ("『はい』｢ええ｣(笑)", "「はい」「ええ」（笑）"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
    ],
)
def test_folding(given: str, folded: str) -> None:
    assert fold(given) == folded
    assert fold(folded) == folded


def test_spans_lead_back_to_the_given_text() -> None:
    given = "えー!!  別居｡｡ｶﾞ"
    folded = fold(given)
    assert folded == "えー！ 別居。ガ"
    start = folded.index("別居")
    assert Origin(given).span(start, start + 2) == "別居"
    assert Origin(given).span(2, 3) == "!!"
    assert Origin(given).span(len(folded) - 1, len(folded)) == "ｶﾞ"


def test_marks_are_mended_and_nothing_else() -> None:
    assert mend_marks("え！！ ｶﾅ…… ｡") == "え！ ｶﾅ…… 。"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a「b」c", "a「〓」c"),
        ("「a（b）c」", "「〓〓〓〓〓」"),
        ("「a", "「a"),
        ("a」b「c」", "a」b「〓」"),
        ("（「a）b」", "（〓〓）b」"),
    ],
)
def test_masking(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert len(masked) == len(text)


def test_pairs_are_outermost() -> None:
    assert pairs("「a「b」」（c）") == ((0, 6), (6, 9))


def test_sentences_of_a_line() -> None:
    text = "はい。。え？！\n\n…\nそう"
    assert [text[a:b] for a, b in utterance_sentences(text)] == ["はい。。", "え？！", "そう"]


def test_words_stand_alone_or_not() -> None:
    assert not stands_alone("さかな", 1, 3)
    assert stands_alone("大きさかな", 3, 5)
    assert not stands_alone("まだね", 1, 3)
    assert stands_alone("ひまだね", 2, 4)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("海について話す", ("海",)),
        ("ごはんは炊けた", ("ごはん",)),
        ("それは違う。今日は寒い。家では寝る。食べるのは好き。", ()),
        ("海は青く、海は広い", ("海",)),
        ("猫の話し方", ()),
        ("その話はもういい", ()),
        ("『星』の話をした", ("星",)),
    ],
)
def test_topics(text: str, found: tuple[str, ...]) -> None:
    folded = fold(text)
    assert topics(folded, mask(folded)) == found
