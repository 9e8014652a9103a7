"""A sitting in the terminal, with a real process and its notes on disk."""

import json
import os
import subprocess
import sys


def sitting(tmp_path, lines, *flags):
    environment = {
        **os.environ,
        "NAISEI_LANG": "ja",
        "NAISEI_DATA": str(tmp_path),
        "PYTHONIOENCODING": "utf-8",
    }
    return subprocess.run(
        [sys.executable, "-m", "naisei", "clarify", "chat", "--agent", "random", *flags],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=60,
        check=False,
    )


def test_notes_are_kept_per_person_between_sittings(tmp_path):
    first = sitting(tmp_path, ["ちょっと休憩しようかな", "いいえ", "はい", ""], "--user", "花子")
    assert first.returncode == 0, first.stderr
    assert "覚えておきます" in first.stdout
    kept = json.loads((tmp_path / "people" / "花子.json").read_text(encoding="utf-8"))
    assert [o["right"] for o in kept["outcomes"]] == [False, True]

    again = sitting(tmp_path, [""], "--user", "花子")
    assert "ちょっと休憩しようかな" in again.stdout
    other = sitting(tmp_path, [""], "--user", "太郎")
    assert "ちょっと休憩しようかな" not in other.stdout


def test_leaving_in_the_middle_keeps_what_was_answered(tmp_path):
    left = sitting(tmp_path, ["寒いな", "いいえ"], "--user", "a")
    assert left.returncode == 0, left.stderr
    kept = json.loads((tmp_path / "people" / "a.json").read_text(encoding="utf-8"))
    assert len(kept["outcomes"]) == 1


def test_damaged_notes_and_impossible_names_are_one_message(tmp_path):
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "x.json").write_text("{", encoding="utf-8")
    damaged = sitting(tmp_path, [""], "--user", "x")
    assert damaged.returncode == 2 and "x.json" in damaged.stderr
    assert "Traceback" not in damaged.stderr
    assert (tmp_path / "people" / "x.json").read_text(encoding="utf-8") == "{"
    assert sitting(tmp_path, [""], "--user", "../x").returncode == 2
