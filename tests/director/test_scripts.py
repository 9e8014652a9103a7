"""Who speaks which line of a script; bad rows are named with their line and a remedy."""

import json
from pathlib import Path

import pytest

from both_languages import refused
from naisei.director.report import script_lines
from naisei.director.scripts import ScriptLine, Speakers, lines_of
from naisei.transcripts import parse_transcripts


def read(text: str, place: str = "f", *, speakers: Speakers | None = None) -> list[ScriptLine]:
    found = parse_transcripts(text, place, nameless=True)
    return lines_of(found, place, speakers or Speakers())


def seen(lines: list[ScriptLine]) -> list[tuple[int, str, str]]:
    return [(n.number, n.character.id if n.character else "-", n.text) for n in lines]


def test_jsonl() -> None:
    text = (
        '{"speaker": "yana", "text": "えー！"}\r\n\n'
        '{"speaker": "あゆ", "text": "はい\\nです", "history": ["a", {"text": "b"}]}'
    )
    lines = read(text)
    assert seen(lines) == [(1, "yana", "えー！"), (3, "ayu", "はい\nです")]
    assert [line.history for line in lines] == [None, ("a", "b")]


def test_csv_and_tsv() -> None:
    text = 'id,Speaker,text\n1,やな,"えー！\n""ほんと""？"\n\n2,ayu,はい\n'
    assert seen(read(text)) == [(2, "yana", 'えー！\n"ほんと"？'), (5, "ayu", "はい")]
    assert seen(read("text\tspeaker\nえー、ほんと\tyana\n")) == [(2, "yana", "えー、ほんと")]
    assert seen(read("話者;発話\nやな;えー、ほんと\n")) == [(2, "yana", "えー、ほんと")]
    big = "あ" * 20_000
    assert read(f"speaker,text\nyana,{big}\n")[0].text == big


def test_plain_scripts() -> None:
    text = (
        "# 題\nやな：えー！\n　それ、ほんと？\n（二人が笑う）\n\nAYU: はい: そうです\n"
        "やな「よし！」\n【あゆ】：では。\n  やな: うん\n"
    )
    assert seen(read(text)) == [
        (2, "yana", "えー！\nそれ、ほんと？"),
        (6, "ayu", "はい: そうです"),
        (7, "yana", "よし！"),
        (8, "ayu", "では。"),
        (9, "yana", "うん"),
    ]


def test_the_first_given_character_speaks_what_names_nobody(tmp_path: Path) -> None:
    own = tmp_path / "ken.toml"
    own.write_text(
        'schema = "naisei.character.v1"\nid = "ken"\nnames = ["ケン"]\npersona = "船乗り"\n',
        encoding="utf-8",
    )
    speakers = Speakers([own, "yana"])
    assert seen(read("行くぜ。\n（ト書き）\nおう。\n", speakers=speakers)) == [
        (1, "ken", "行くぜ。"),
        (3, "ken", "おう。"),
    ]
    named = "第一話\n行く、海へ。\nケン「おう。」\n　海が見える。\nやな「うん」\n"
    assert seen(read(named, speakers=speakers)) == [(3, "ken", "おう。"), (5, "yana", "うん")]


def test_others_are_passed_over_on_request() -> None:
    text = "ナレーション：夜。\nやな：えー！\n"
    assert seen(read(text, speakers=Speakers(skip_others=True))) == [
        (1, "-", "夜。"),
        (2, "yana", "えー！"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"speaker": "yana", "text": "a"}\n{"speaker": "yana", "text"\n', 2, "no JSON"),
        ('{"speaker": "yana", "text": "a"}\n{"speaker": "yana"}\n', 2, "text"),
        ('{"speaker": "yana", "text": 3}\n', 1, "text"),
        ('{"speaker": 1, "text": "a"}\n', 1, "speaker"),
        ('{"text": "a"}\n', 1, "no speaker"),
        ('{"speaker": "bob", "text": "a"}\n', 1, "'bob'"),
        ('{"speaker": "yana", "text": "a", "history": "b"}\n', 1, "history"),
        ('{"speaker": "yana", "text": "a", "history": [1]}\n', 1, "history"),
        ("speaker,text\nyana,a\nyana\n", 3, "cells"),
        ('speaker,text\nyana,"a\n', 2, "CSV"),
        ("やな：えー！\nボブ：やあ\n", 2, "ボブ"),
    ],
)
def test_bad_rows_are_named(text: str, line: int, said: str) -> None:
    error = refused(lambda: read(text, "talk.txt"))
    assert error.place == f"talk.txt:{line}"
    assert said in error.message and error.remedy


def test_conversations_of_one_file_have_their_own_history() -> None:
    rows = [{"id": n, "turns": [["やな", "えー！"], ["あゆ", "はい。"]]} for n in "ab"]
    lines = read(json.dumps(rows, ensure_ascii=False), "t.json")
    assert [line.talk for line in lines] == [0, 0, 1, 1]


def test_a_head_without_the_columns_and_a_file_that_is_not_there_are_refused() -> None:
    error = refused(lambda: read("id,text\nyana,a\n", "talk.csv"))
    assert error.place == "talk.csv:1" and "no columns speaker" in error.message
    assert refused(lambda: script_lines("nothing.txt", Speakers())).place == "nothing.txt"


@pytest.mark.parametrize("text", ["", "\n\n", "# 題だけ\n"])
def test_nothing_in_nothing_out(text: str) -> None:
    assert read(text) == []
