"""LoCoMo's file is read as published; slips are mended on record; recall is what it says."""

import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from benchmarks.locomo_data import Sample, found_ids, read_locomo, session_time
from benchmarks.locomo_recall import measure, recall_tables, stream_of

from benchmarks import locomo
from naisei.core import InputError
from naisei.models.embedders import NgramEmbedder


def row(**more: Any) -> dict[str, Any]:
    """Two sessions as the file has them, with a later one that is a date only."""
    talk = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "My violin broke on Monday."},
            {
                "speaker": "Bob",
                "dia_id": "D1:2",
                "text": "Look!",
                "img_url": ["https://example.invalid/a.jpg"],
                "blip_caption": "a photo of a lighthouse",
                "query": "lighthouse",
            },
        ],
        "session_10_date_time": "12:05 am on 2 June, 2023",
        "session_10": [
            {"speaker": "Bob", "dia_id": "D10:1", "clean_text": "I adopted a grey parrot."},
            {"speaker": "Ann", "dia_id": "D10:2", "text": "Lovely weather today."},
        ],
        "session_11_date_time": "1:00 pm on 9 June, 2023",
    }
    questions = [
        {"question": "What broke?", "answer": "violin", "evidence": ["D1:1"], "category": 4},
        {"question": "Which parrot?", "answer": 1, "evidence": ["D10:1"], "category": 2},
    ]
    return {"sample_id": "conv-1", "conversation": talk, "qa": questions, **more}


def written(folder: Path, data: Any) -> Path:
    file = folder / "locomo.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def read(folder: Path, *rows: dict[str, Any]) -> list[Sample]:
    return read_locomo(written(folder, list(rows)))


def test_turns_have_times_and_captions(tmp_path: Path) -> None:
    (sample,) = read(tmp_path, row())
    assert [(t.id, t.session, t.time) for t in sample.turns] == [
        ("D1:1", 1, datetime(2023, 5, 8, 13, 56)),
        ("D1:2", 1, datetime(2023, 5, 8, 13, 57)),
        ("D10:1", 10, datetime(2023, 6, 2, 0, 5)),
        ("D10:2", 10, datetime(2023, 6, 2, 0, 6)),
    ]
    assert sample.turns[1].caption == "a photo of a lighthouse"
    assert sample.turns[2].text == "I adopted a grey parrot."
    assert [q.category for q in sample.questions] == ["single-hop", "temporal"]
    assert sample.notes == ["conv-1: 1 dates of sessions that are not there"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("D8:6; D9:17", ["D8:6", "D9:17"]),
        ("D9:1 D4:4 D4:6", ["D9:1", "D4:4", "D4:6"]),
        ("D:11:26", ["D11:26"]),
        ("D30:05", ["D30:5"]),
        ("D", []),
        (None, []),
    ],
)
def test_ids_are_found_however_they_are_written(text: Any, ids: list[str]) -> None:
    assert found_ids(text) == ids


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("12:00 pm on 31 December, 2022", datetime(2022, 12, 31, 12, 0)),
        ("2023-05-08T13:56:00+09:00", datetime(2023, 5, 8, 13, 56)),
        ("1:56 pm on 31 February, 2023", None),
        ("1:56 pm on 8 Foo, 2023", None),
        ("yesterday", None),
        (8, None),
    ],
)
def test_dates_of_sessions(text: Any, time: datetime | None) -> None:
    assert session_time(text) == time


def test_slips_are_mended_and_told(tmp_path: Path) -> None:
    talk = row()["conversation"]
    del talk["session_1"][0]["dia_id"]
    talk["session_10"][1]["dia_id"] = "D10:1"
    talk["session_10"].append({"speaker": "Ann", "dia_id": "D10:3", "text": " "})
    del talk["session_10_date_time"]
    asked = [
        {"question": "Both?", "evidence": ["D1:1; D10:1", "D9:9"], "category": 1},
        {"question": "None?", "evidence": [], "category": 3},
        {"question": "", "evidence": ["D1:1"], "category": 3},
    ]
    (sample,) = read(tmp_path, row(conversation=talk, qa=asked))
    assert [t.id for t in sample.turns] == ["D1:1", "D1:2", "D10:1", "D10:1#2"]
    assert sample.turns[2].time == datetime(2023, 5, 9, 13, 57)
    assert [(q.evidence, q.dangling) for q in sample.questions] == [
        (("D1:1", "D10:1"), ("D9:9",)),
        ((), ()),
    ]
    told = "\n".join(sample.notes)
    for part in (
        "session_1[0]: no dia_id; taken as D1:1",
        "session_10: no readable date and time",
        "session_10[1]: D10:1 comes again; taken as D10:1#2",
        "session_10[2]: no text; left out",
        "qa[0]: evidence 'D1:1; D10:1' read as D1:1, D10:1",
        "qa[0]: evidence D9:9 points at no turn",
        "qa[2]: no question; left out",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "no conversation"),
        ([{"qa": []}], "no object with a conversation"),
        ([row(conversation={"session_1": []})], "no utterance"),
        ("x", "no object with a conversation"),
    ],
)
def test_what_is_no_locomo_is_refused(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_locomo(written(tmp_path, data))


def test_broken_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[{", encoding="utf-8")
    with pytest.raises(InputError, match="no JSON"):
        read_locomo(tmp_path / "broken.json")
    with pytest.raises(InputError, match="no such file"):
        read_locomo(tmp_path / "none.json")


def test_recall_is_the_share_of_the_evidence_found(tmp_path: Path) -> None:
    asked = [
        {"question": "violin broke Monday lighthouse", "evidence": ["D1:1", "D1:2"], "category": 1},
        {"question": "grey parrot", "evidence": ["D10:1", "D77:1"], "category": 4},
        {"question": "nothing", "evidence": ["D77:1"], "category": 4},
    ]
    samples = read(tmp_path, row(qa=asked))
    found = measure(samples, NgramEmbedder(), [1, 2])
    assert found.per_k["dense"] == {1: [0.5, 1.0], 2: [1.0, 1.0]}
    assert found.categories == ["multi-hop", "single-hop"]
    assert found.without == {"single-hop": 1}
    beside, *tables = recall_tables(found, [1, 2])
    assert beside.columns == ("category", "questions", "query", "park", "bm25", "dense", "recency")
    alone = next(table for table in tables if table.title == "dense")
    plain = tables[0]
    assert plain.columns[:3] == ("category", "questions", "recall@1")
    assert alone.rows[-1][:3] == ("all", 2, 0.75)
    assert alone.rows[0][:3] == ("multi-hop", 1, 0.5)
    bare = stream_of(samples[0], captions=False)
    assert "lighthouse" not in bare["D1:2"].text


def test_the_command_tells_what_it_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, [row()])
    asked = [str(file), "--embedder", "ngram", "--k", "1"]
    assert locomo.main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["questions"] == 2
    all = told["rankings"]["dense"][-1]
    assert all["recall@1"] == 1.0
    assert all["recall@1 low"] is None is all["recall@1 high"], "one conversation has no spread"
    assert locomo.main(asked) == 0
    assert "recall@1" in capsys.readouterr().out
    assert locomo.main([str(tmp_path / "nothere")]) == 2


def test_the_zip_and_a_folder_of_files_read_as_the_one_file_does(tmp_path: Path) -> None:
    (one,) = read(tmp_path, row())
    talk = row()
    apart = json.dumps({**talk["conversation"], "qa": talk["qa"]})
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "conv-1.json").write_text(apart, "utf-8")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("many/conv-1.json", apart)
        archive.writestr("__MACOSX/many/._conv-1.json", b"\x00\x05")
        archive.writestr("README.md", "about")
    assert read_locomo(tmp_path / "all.zip") == [one] == read_locomo(tmp_path / "many")
    data = (tmp_path / "all.zip").read_bytes()
    (tmp_path / "all.zip").write_bytes(data[:60] + b"\xff" * 20 + data[80:])
    with pytest.raises(InputError, match="zip cannot be unpacked"):
        read_locomo(tmp_path / "all.zip")


def test_progress_moves_within_a_conversation(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    measure(read(tmp_path, row()), NgramEmbedder(), [1], progress=lambda *at: told.append(at))
    assert told == [("conv-1", 6, 8), ("conv-1", 8, 8)]  # four lines, two of them go on in a talk
