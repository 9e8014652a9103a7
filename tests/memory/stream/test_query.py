"""What a question asks for is found: by words, by meaning, by who and when, and by what stands
beside it."""

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from naisei.memory.stream import Entry, Stream
from naisei.memory.stream.periods import about, periods_in, tells_time

NOW = datetime(2026, 4, 6, 20, 0)


def talk(*lines: tuple[int, str, str], importance: int = 5) -> Stream:
    """(days ago, speaker, text) each; lines of one day follow each other by the minute."""
    stream = Stream()
    for n, (days, speaker, text) in enumerate(lines):
        time = NOW - timedelta(days=days) + timedelta(minutes=n)
        stream.append(
            Entry(id=f"m{n}", time=time, speaker=speaker, text=text, importance=importance)
        )
    return stream


def first(stream: Stream, question: str, **given: Any) -> str:
    return stream.find([question], now=NOW, **given)[0].entry.text


FILLER = [(90 - n, "健", f"今日は{n}回目の散歩でした") for n in range(20)]


def test_words_find_what_was_said_long_ago() -> None:
    stream = talk((200, "真理", "陶芸教室で湯のみを焼いたよ"), *FILLER)
    assert first(stream, "真理はどこで陶芸をした？") == "陶芸教室で湯のみを焼いたよ"


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("今の仕事は何？", "仕事は図書館に変わった"),
        ("11月の仕事は何だった？", "仕事は花屋に決まった"),
    ],
)
def test_the_question_decides_whether_the_newest_or_the_one_of_a_time_is_meant(
    question: str, found: str
) -> None:
    stream = talk(
        (140, "真理", "仕事は花屋に決まった"), *FILLER, (3, "真理", "仕事は図書館に変わった")
    )
    assert first(stream, question) == found


def test_a_line_that_tells_a_time_answers_when() -> None:
    stream = talk(
        (60, "健", "引っ越しは大変だよね"), *FILLER, (30, "健", "引っ越しは先週の土曜だった")
    )
    assert first(stream, "引っ越しはいつだった？") == "引っ越しは先週の土曜だった"


def test_who_is_named_counts() -> None:
    stream = talk((9, "山本 真理", "猫を飼い始めた"), *FILLER, (8, "健", "猫を飼い始めた"))
    for name in ("真理", "健"):
        found = stream.find([f"{name}が飼っているのは？猫？"], now=NOW)[0].entry
        assert name in found.speaker


def test_an_answer_is_found_by_the_question_before_it() -> None:
    stream = talk(*FILLER, (5, "健", "旅行はどこへ行くの"), (5, "真理", "松江だよ"))
    found = stream.find(["旅行はどこ？"], now=NOW, k=2)
    assert [one.entry.text for one in found] == ["旅行はどこへ行くの", "松江だよ"]


def test_meaning_and_words_are_added_and_kinds_are_kept_apart() -> None:
    stream = talk((3, "健", "猫"), (2, "健", "犬"), (1, "健", "馬"))
    for n in range(3):
        stream.attach(f"m{n}", np.eye(3)[n])
    stream.append(Entry(id="felt", time=NOW, text="犬", kind="reflection"))
    found = stream.find(["犬"], np.eye(3)[[2]], now=NOW, kinds=["utterance"])
    assert {one.entry.text for one in found[:2]} == {"犬", "馬"}
    assert found[0].relevance.normalised == 1.0 and "felt" not in {o.entry.id for o in found}
    assert {one.entry.text: one.relevance.raw for one in found}["馬"] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="question"):
        stream.find([], now=NOW)


def test_a_line_means_what_it_says_after_the_one_before_it() -> None:
    stream = talk((5, "健", "何を飼い始めたの"), (5, "真理", "ポチだよ"), (3, "真理", "元気だよ"))
    assert stream.passages("m0") == ("[健] 何を飼い始めたの",)
    assert stream.passages("m1")[1] == "[健] 何を飼い始めたの\n[真理] ポチだよ"
    assert len(stream.passages("m2")) == 1, "another day is another talk"
    for n in range(3):
        stream.attach(f"m{n}", [1.0, 0.0, 0.0])
    stream.attach("m1", [1.0, 0.0, 0.0], context=[0.0, 1.0, 0.0])
    found = stream.find(["犬？"], [[0.0, 1.0, 0.0]], now=NOW)
    assert found[0].entry.id == "m1" and found[0].relevance.raw == 0.0


@pytest.mark.parametrize(
    ("text", "first_day", "last_day"),
    [
        ("先週の土曜は何をした", (2026, 4, 4), (2026, 4, 4)),
        ("去年の夏", (2025, 6, 1), (2025, 8, 31)),
        ("8月上旬に", (2025, 8, 1), (2025, 8, 12)),
        ("2025年6月3日", (2025, 6, 3), (2025, 6, 3)),
        ("3か月前", (2026, 1, 1), (2026, 1, 31)),
        ("on 8 May, 2023", (2023, 5, 8), (2023, 5, 8)),
        ("in July 2023", (2023, 7, 1), (2023, 7, 31)),
        ("last Friday", (2026, 4, 3), (2026, 4, 3)),
        ("two weeks ago", (2026, 3, 20), (2026, 3, 26)),
    ],
)
def test_times_are_read(text: str, first_day: Any, last_day: Any) -> None:
    (period,) = periods_in(text, NOW.date())
    assert (period.first, period.last) == (date(*first_day), date(*last_day))


def test_what_names_no_time_is_none() -> None:
    for text in (
        "May I ask you something?",
        "2月31日",
        "今度また",
        "1月号より30ページ長い本を三冊",
    ):
        assert [p for p in periods_in(text, NOW.date()) if p.first.year < 2025] == []
    asked = {"今どこ？": "now", "いつ？": "when", "先月は？": "time", "何が好き？": "fact"}
    assert {text: about(text) for text in asked} == asked
    assert tells_time("先週の土曜だった") and not tells_time("そうなんだ")


def test_what_has_faded_is_found_by_the_summary_that_stands_for_it() -> None:
    stream = talk(
        (100, "真理", "陶芸教室で湯のみを焼いた"), (100, "健", "いいね"), (2, "健", "陶芸？")
    )
    stream.rate("m0", 9)
    stream.append(
        Entry(id="S1", time=NOW, kind="summary", text="真理は陶芸を始めた", of=("m0", "m1"))
    )
    whole = [one.entry.id for one in stream.find(["陶芸"], now=NOW)]
    assert set(whole) == {"m0", "m1", "m2", "S1"}
    left = [one.entry.id for one in stream.find(["陶芸"], now=NOW, half_life=40)]
    assert set(left) == {"m0", "m2", "S1"}, "what is important fades later"
    gone = stream.faded(now=NOW, half_life=30)
    assert [entry.id for entry in gone] == ["m0", "m1"] and stream["S1"].of == ("m0", "m1")
    with pytest.raises(ValueError, match="not there"):
        stream.append(Entry(id="S2", time=NOW, kind="summary", text="…", of=("m77",)))
