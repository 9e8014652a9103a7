"""Folding, brackets and word borders of spoken lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.director.wording.cues import stands_alone, topics
from naisei.japanese.folding import Origin, fold, mask, mend_marks, pairs
from naisei.japanese.sentences import count_sentences, sentences_from, utterance_sentences


@pytest.mark.parametrize(
    ("raw", "folded"),
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
def test_folding(raw: str, folded: str) -> None:
    assert fold(raw) == folded
    assert fold(folded) == folded


def test_spans_lead_back_to_the_given_text() -> None:
    raw = "えー!!  別居｡｡ｶﾞ"
    folded = fold(raw)
    assert folded == "えー！ 別居。ガ"
    start = folded.index("別居")
    assert Origin(raw).span(start, start + 2) == "別居"
    assert Origin(raw).span(2, 3) == "!!"
    assert Origin(raw).span(len(folded) - 1, len(folded)) == "ｶﾞ"


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


@given(st.text(alphabet="あ海。！？\n…」）,. 〓", max_size=40))
def test_counts_and_rests_are_those_of_the_sentences(text: str) -> None:
    spans = utterance_sentences(text)
    assert count_sentences(text) == len(spans)
    for number in range(len(spans)):
        assert sentences_from(text, number) == (spans[number][0], spans[-1][1])
    assert sentences_from(text, len(spans)) == (len(text), len(text))


def paired_one_by_one(text: str) -> tuple[tuple[int, int], ...]:
    """As `pairs` defines it, bracket after bracket."""
    opened: list[tuple[str, int]] = []
    found: list[tuple[int, int]] = []
    for at, mark in enumerate(text):
        if mark in "「（":
            opened.append((mark, at))
        elif mark in "」）" and (opener := "「（"["」）".index(mark)]) in [m for m, _ in opened]:
            while opened[-1][0] != opener:
                opened.pop()
            start = opened.pop()[1]
            found = [pair for pair in found if pair[0] < start] + [(start, at + 1)]
    return tuple(found)


@given(st.text(alphabet="「」（）あ", max_size=16))
def test_runs_of_brackets_are_paired_as_one_by_one(text: str) -> None:
    assert pairs(text) == paired_one_by_one(text)


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
