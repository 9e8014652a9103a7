"""Reading dialogues: the shapes of JSON, CSV of any spreadsheet, transcripts, and bad ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.relationship.dialogues import read_dialogue

SAID = [("高橋", "田中さん、おはよう。"), ("田中", "おはようございます、高橋さん。")]


def written(path: Path, value: Any) -> Path:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


DICTS = [{"speaker": s, "text": t} for s, t in SAID]


@pytest.mark.parametrize(
    "value",
    [
        DICTS,
        [[s, t] for s, t in SAID],
        [f"{s}: {t}" for s, t in SAID],
        {"dialogue": DICTS},
        {"turns": [{"話者": s, "発話": t} for s, t in SAID]},
        {"messages": [{"name": s, "content": t} for s, t in SAID]},
        {"conversation": {"speaker_a": "高橋", "session_1": DICTS}},
        {
            "speakers": [{"id": "A", "name": "高橋"}, {"id": "B", "name": "田中"}],
            "turns": [{"speaker": i, "text": t} for i, (_, t) in zip("AB", SAID, strict=True)],
        },
        {"name": "高橋", "partner": "田中", "session_1": DICTS},
    ],
)
def test_shapes_of_json(tmp_path: Path, value: Any) -> None:
    read = read_dialogue(written(tmp_path / "d.json", value))
    assert [(x.speaker, x.text) for x in read.lines] == SAID and read.speakers == ("高橋", "田中")


def test_a_direction_before_the_words_of_a_script_is_not_spoken(tmp_path: Path) -> None:
    script = "平井：（被り気味）ここ、見て\n田中：（笑）はい\n平井：（間）\n田中：うん（ほんと）\n"
    read = read_dialogue(written(tmp_path / "s.txt", script))
    assert [x.text for x in read.lines] == [
        "ここ、見て", "（笑）はい", "（間）", "うん（ほんと）"]  # fmt: skip
    chat = "[10:30] 平井：（私なら）行くね\n[10:31] 田中：うん\n"
    assert read_dialogue(written(tmp_path / "c.txt", chat)).lines[0].text == "（私なら）行くね"


def test_one_of_several_dialogues(tmp_path: Path) -> None:
    several = [{"id": "x1", "turns": DICTS}, {"id": "x2", "turns": DICTS[::-1]}]
    path = written(tmp_path / "d.json", several)
    assert [(x.speaker, x.text) for x in read_dialogue(path, dialogue="x2").lines] == SAID[::-1]
    for wrong in (None, "x3"):
        with pytest.raises(InputError) as caught:
            read_dialogue(path, dialogue=wrong)
        assert "x1, x2" in (caught.value.remedy or "")


def test_an_agent_file_brings_the_sides_of_its_agents(tmp_path: Path) -> None:
    head = {"agent": "agent_b", "name": "田中", "partner": "高橋", "persona": "新人"}
    read = read_dialogue(written(tmp_path / "agent_b.json", {**head, "session_1": DICTS}))
    assert read.speakers == ("高橋", "田中") and read.personas == {"田中": "新人"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "utf-16"])
@pytest.mark.parametrize(
    ("head", "mark"), [("speaker,text", ","), ("話者\t発話", "\t"), ("Speaker;Text", ";")]
)
def test_csv_of_spreadsheets(tmp_path: Path, encoding: str, head: str, mark: str) -> None:
    body = [f'{s}{mark}"{t}"' for s, t in SAID]
    path = tmp_path / "d.csv"
    path.write_bytes("\r\n".join([head, *body, ""]).encode(encoding))
    assert [(x.speaker, x.text) for x in read_dialogue(path).lines] == SAID


def test_csv_with_sessions_and_other_columns(tmp_path: Path) -> None:
    text = 'no,session,text,speaker\n1,1,"はい、\n二行",高橋\n2,第2回,いいえ,田中\n3,,そう,高橋\n'
    read = read_dialogue(written(tmp_path / "d.csv", text))
    assert [(x.session, x.turn, x.speaker) for x in read.lines] == [
        (1, 0, "高橋"),
        (2, 0, "田中"),
        (2, 1, "高橋"),
    ]
    assert read.lines[0].text == "はい、\n二行"


def test_a_transcript(tmp_path: Path) -> None:
    text = (
        "# 朝\n（雨）\n高橋 さおり: おはよう。\n田中：おはようございます。\n　雨ですね。\n\n"
        "【高橋 さおり】：https://a.b を見て\n[10:31] 田中: 12:30に行きます\n"
        "高橋 さおり「いいよ」\n"
    )
    read = read_dialogue(written(tmp_path / "d.txt", text))
    assert read.speakers == ("高橋 さおり", "田中")
    assert [x.text for x in read.lines] == [
        "おはよう。",
        "おはようございます。\n雨ですね。",
        "https://a.b を見て",
        "12:30に行きます",
        "いいよ",
    ]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("d.txt", "", "no utterance"),
        ("d.txt", "\n# だれも\n", "no utterance"),
        ("d.txt", "A: はい\nA: うん", "one speaker"),
        ("d.txt", "A: はい\nB: うん\nC: ええ", "3 speakers"),
        ("d.txt", "名前がない行", "no speaker"),
        ("d.txt", "A: はい\nB: うん\n: だれ", "no speaker"),
        ("d.json", "{", "no JSON"),
        ("d.json", "[]", "no utterance"),
        ("d.json", '{"a": 1}', "no dialogue"),
        ("d.json", '[{"speaker": "A"}]', "without speaker and text"),
        ("d.json", '[{"speaker": "A", "text": 3}]', "without speaker and text"),
        ("d.csv", "a,b\n1,2", "columns speaker and text"),
        ("d.csv", "speaker,text\nA\n", "1 cells"),
        ("d.csv", "speaker,text\nA,1,000円\nB,はい\n", "3 cells"),
    ],
)
def test_what_cannot_be_used_is_one_message(
    tmp_path: Path, name: str, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_LANG", "en")
    with pytest.raises(InputError, match=told):
        read_dialogue(written(tmp_path / name, text))


def test_choosing_two_of_three(tmp_path: Path) -> None:
    path = written(tmp_path / "d.txt", "A: はい\nB: うん\nC: ええ\nA: では")
    read = read_dialogue(path, speakers=("C", "A"))
    assert read.speakers == ("C", "A") and read.left_out == 1
    assert [x.speaker for x in read.lines] == ["A", "C", "A"]
    for wrong in (("A", "X"), ("A", "A"), ("A",)):
        with pytest.raises(InputError):
            read_dialogue(path, speakers=wrong)


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"\xff\x00\x81")
    for name in ("x.txt", "none.txt", "."):
        with pytest.raises(InputError):
            read_dialogue(tmp_path / name)
