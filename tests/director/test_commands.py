"""naisei director check, report, characters: the real command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import Alone, Naisei
from naisei.director import check
from naisei.director.verdict import CHECK_NAMES
from servers.openai_server import OpenAIServer

ROWS = [
    {"speaker": "yana", "text": "えー！それ、ほんと？"},
    {"speaker": "あゆ", "text": "別居しているのですね。"},
    {"speaker": "ayu", "text": "つまり晴れるでしょう。", "history": ["天気は？"]},
]


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return path


def test_one_verdict_a_line(naisei: Naisei, tmp_path: Path) -> None:
    done = naisei("director", "check", jsonl(tmp_path / "a.jsonl", ROWS), "--json")
    assert done.code == 0 and len(done.objects) == 3
    for verdict in done.objects:
        assert [check["name"] for check in verdict["checks"]] == list(CHECK_NAMES)
        assert set(verdict["tone"]) == {"score", "marker", "vocab", "style", "weight"}
        assert isinstance(verdict["sentences"], int) and isinstance(verdict["topics"], int)
    assert [v["status"] for v in done.objects] == ["PASS", "RETRY", "PASS"]
    assert [v["line"] for v in done.objects] == [1, 2, 3]
    assert [v["speaker"] for v in done.objects] == ["yana", "あゆ", "ayu"]
    for verdict, row in zip(done.objects, ROWS, strict=True):
        expected = check(row["text"], character=row["speaker"], history=row.get("history", ()))
        assert {k: v for k, v in verdict.items() if k not in ("line", "speaker")} == (
            expected.to_json()
        )
    (found,) = [c for c in done.objects[1]["checks"] if c["name"] == "setting"]
    assert found["evidence"] == ["別居"] and found["reason"] and found["suggestion"]


def test_plain_scripts_and_standard_input_have_the_lines_before_as_history(alone: Alone) -> None:
    lines = [
        *(f"{who}：洗濯、どうする？" for who in ("やな", "あゆ") * 2),
        "やな：洗濯、どうする？",
    ]
    done = alone("director", "check", "-", "--json", stdin="\n".join(lines))
    assert [c["status"] for c in done.objects[4]["checks"] if c["name"] == "loop"] == ["WARN"]
    assert done.objects[3]["character"] == "ayu"
    shown = alone("director", "check", stdin="\n".join(lines))
    assert "WARN  やな: 洗濯、どうする？" in shown.out and "loop" in shown.out
    assert "5 lines: " in shown.err


@pytest.mark.parametrize(("row", "code"), [(0, 0), (1, 1)])
def test_the_exit_code_tells_a_bad_line_on_request(
    naisei: Naisei, tmp_path: Path, row: int, code: int
) -> None:
    path = jsonl(tmp_path / "a.jsonl", [ROWS[row]])
    assert naisei("director", "check", path).code == 0
    for level in ("retry", "warn"):
        assert naisei("director", "check", path, "--fail-on", level).code == code
    path.write_text("")
    empty = naisei("director", "check", path)
    assert empty.code == 2 and "a.jsonl" in empty.err and not empty.out


def test_csv_and_history_on_request(naisei: Naisei, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("speaker,text\n" + "yana,洗濯、かも！\n" * 5, "utf-8")
    for flags, status in ([], "PASS"), (["--one-talk"], "WARN"):
        done = naisei("director", "check", path, "--json", *flags)
        assert done.objects[4]["status"] == status


def test_bad_input_is_one_message_and_nothing_half_written(
    naisei: Naisei, alone: Alone, tmp_path: Path
) -> None:
    bad = [*ROWS, {"speaker": "bob", "text": "a"}]
    path = jsonl(tmp_path / "a.jsonl", bad)
    done = naisei("director", "check", path, "--json")
    assert (done.code, done.out) == (2, "")
    assert f"{path}:4: unknown speaker 'bob'" in done.err and "→ known: ayu, yana" in done.err
    done = alone("director", "check", "--json", stdin=path.read_text("utf-8"))
    assert (done.code, done.out) == (2, "") and "stdin:4" in done.err
    done = naisei("director", "report", path)
    assert done.code == 2 and list(tmp_path.iterdir()) == [path]
    for wrong in (["none.jsonl"], ["--character", "bob"]):
        done = naisei("director", "check", *wrong)
        assert done.code == 2 and "→" in done.err and "Traceback" not in done.err


def test_a_big_file_streams(naisei: Naisei, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", ROWS * 2000)
    done = naisei("director", "check", path, "--json")
    assert done.out.count("\n") == 6000
    assert json.loads(done.out.splitlines()[-1])["line"] == 6000


def test_a_model_clears_a_warning_or_bears_it_out(naisei: Naisei, tmp_path: Path) -> None:
    """Asked of lines that the rules let pass, in the character's language whatever the reader's."""
    script = tmp_path / "talk.txt"
    script.write_text(
        "やな: 遠足どこだっけ？\nあゆ: 姉さん、動物園です。\nあゆ: 別居しました。\n", "utf-8"
    )
    scores = {"frame": 5, "connection": 5, "density": 5, "naturalness": 5, "comment": "呼び方"}
    told = []
    for roleplay in (5, 3):
        reply = {"schema": "Scores", "reply": {**scores, "roleplay": roleplay}}
        model = jsonl(tmp_path / f"{roleplay}.jsonl", [reply])
        done = naisei("director", "check", script, "--json", "--judge", f"scripted:{model}")
        assert done.code == 0, done.err
        told.append([(v["status"], v["checks"][-1]["name"]) for v in done.objects])
    assert told == [
        [("PASS", "judge"), ("PASS", "judge"), ("RETRY", "script")],
        [("PASS", "judge"), ("RETRY", "judge"), ("RETRY", "script")],
    ]
    with OpenAIServer(keep=True) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "x"}
        naisei("director", "check", script, "--judge", "openai:m", **env)
        asked = json.dumps(server.requests, ensure_ascii=False)
    assert "姉さん" in asked and "姉のやなを「姉様」と呼び" in asked and "〜ます" in asked


def test_a_judge_that_fails_leaves_the_line_to_the_rules(naisei: Naisei, tmp_path: Path) -> None:
    model = jsonl(tmp_path / "bad.jsonl", [{"schema": "Scores", "reply": "?"}])
    rows = jsonl(tmp_path / "a.jsonl", ROWS)
    done = naisei("director", "check", rows, "--json", "--judge", f"scripted:{model}")
    assert done.code == 0 and "judge failed" in done.err
    assert [v["status"] for v in done.objects] == ["PASS", "RETRY", "PASS"]


def test_the_report_of_a_script(naisei: Naisei, tmp_path: Path) -> None:
    lines = ["やな：えー！それ、ほんと？", "あゆ：<b>別居</b>しているのですね。"] * 150
    (tmp_path / "talk.txt").write_text("\n".join(lines), "utf-8")
    done = naisei("director", "report", "talk.txt")
    assert done.code == 0
    folder = tmp_path / "talk-report"
    assert [Path(p).name for p in done.out.split()] == [p.name for p in (
        folder / "report.html", folder / "characters.csv", folder / "checks.csv",
        folder / "worst.csv")]  # fmt: skip
    page = (folder / "report.html").read_text("utf-8")
    assert "&lt;b&gt;" in page and "<b>別居" not in page
    assert "<script" not in page and "http://" not in page and "https://" not in page
    assert (
        "Noto Sans CJK JP" in page
        and page.count("<polyline") == 2
        and page.count('class="chart"') == 2
    )
    rows = (folder / "characters.csv").read_text("utf-8").splitlines()
    assert rows[0] == "character,n,PASS rate,PASS rate low,PASS rate high,WARN,RETRY"
    assert rows[2].startswith("あゆ,150,0.0,0.0,") and rows[2].endswith(",0,150")
    assert "setting" in (folder / "worst.csv").read_text("utf-8")


def test_a_report_on_nothing_is_refused(naisei: Naisei, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("# 題\n", "utf-8")
    done = naisei("director", "report", "talk.txt")
    assert done.code == 2 and "holds no line" in done.err


def test_characters(naisei: Naisei, tmp_path: Path) -> None:
    shown = naisei("director", "characters", "list").out
    assert "ayu" in shown and "yana" in shown
    shown = naisei("director", "characters", "show", "あゆ").out
    (tmp_path / "own.toml").write_text(shown, "utf-8")
    done = naisei("director", "characters", "check", "own.toml")
    assert done.code == 0 and "own.toml: fine" in done.out


BAD = """schema = "naisei.character.v1"
id = "Ken"
names = "ケン"
[tone]
markers = [
  "ぜ",
  { text = "だろ", att = "clause-end" },
]
[[setting]]
fact = "x"
contradicted_by = ["(", "別居"]
[[setting]]
fakt = "y"
contradicted_by = ["別居"]
[limits]
warn_rows = 9
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BAD, [":2: id: ", ":3: names: ", ": persona: ", ":7: tone.markers.1.att: ",
               "do you mean at?", ":11: setting.0.contradicted_by", ":13: setting.1.fakt: ",
               ":15: limits: warn_rows"]),
        ("a = [\n", ["bad.toml:2: is not TOML"]),
        ('x = """\nid = 1\n"""\n', ["bad.toml:1: x: unknown key", "schema"]),
        ("# nothing yet\n", ["schema: this key is needed"]),
        ("", ["bad.toml: is empty", "characters show yana"]),
    ],
)  # fmt: skip
def test_a_bad_profile_is_explained(
    naisei: Naisei, tmp_path: Path, text: str, said: list[str]
) -> None:
    (tmp_path / "bad.toml").write_text(text, "utf-8")
    done = naisei("director", "characters", "check", "bad.toml")
    assert done.code == 2 and "Traceback" not in done.err
    for part in said:
        assert part in done.err, done.err
    assert done.err.count("→") >= len(done.err.split("bad.toml")) - 1


def test_profiles_that_cannot_be_read(naisei: Naisei, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes("id = 'やな'".encode("cp932"))
    assert naisei("director", "characters", "check", "bad.toml").code == 2
    assert naisei("director", "characters", "check", "none.toml").code == 2
