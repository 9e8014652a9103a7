"""tools/dialogue_agreement.py: the sheet hides labels, labels are read strictly, figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkout import tool
from naisei.core import InputError

TOOL = tool("dialogue_agreement")
ITEMS = TOOL.everything()
TRUTH = {name: TOOL.author(name, d) for name, d in ITEMS.items()}


def line(name: str, **changes: Any) -> dict[str, Any]:
    return {**TRUTH[name].model_dump(), **changes}


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    return path


def test_the_sheet_shows_every_dialogue_and_nothing_that_labels_it() -> None:
    shown = TOOL.sheet(ITEMS)
    for name, d in ITEMS.items():
        assert f"[{name}]" in shown
        assert d.id not in shown
        assert d.relationship not in shown
        assert all(turn.text in shown for turn in d.turns)
    for word in ("Power", "Intimacy", "TaskOriented", "asymmetric", "small_talk", "mixed"):
        assert word not in shown


def test_equal_labels_agree_wholly_and_turned_ones_against_chance() -> None:
    names = list(TRUTH)
    assert [m.value for m in TOOL.alphas([TRUTH, TRUTH])] == [1.0] * 4
    turned = {
        n: TRUTH[n].model_copy(update={"a_to_b": TRUTH[n].b_to_a, "b_to_a": TRUTH[n].a_to_b})
        for n in names
    }
    power = TOOL.alphas([TRUTH, turned])[0]
    assert power.value < -0.5
    assert power.n == 2 * len(names)
    assert TOOL.shares(TRUTH, turned)[-1].value == 0.0
    assert TOOL.shares(TRUTH, TRUTH)[-1].value == 1.0


def test_labels_are_read_strictly(tmp_path: Path) -> None:
    names = list(TRUTH)
    path = tmp_path / "one.jsonl"
    good = [line(n) for n in names]
    assert TOOL.read_labels(write(path, good), names) == TRUTH
    first = names[0]
    wrong = {"Power": 4, "Intimacy": 0, "TaskOriented": 0}
    for rows, told in (
        (good[1:], "1 items have no label"),
        ([*good, good[0]], "comes twice"),
        ([line(first, id="x")], "unknown id"),
        ([line(first, a_to_b=wrong)], "a_to_b.Power"),
        ([line(first, asymmetric=1)], "asymmetric"),
        ([line(first, note="?")], "note"),
    ):
        with pytest.raises(InputError, match=told):
            TOOL.read_labels(write(path, rows), names)


def test_both_verbs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert TOOL.main(["sheet", "--out", str(tmp_path / "s")]) == 0
    assert (tmp_path / "s" / "items.txt").read_text("utf-8") == TOOL.sheet(ITEMS)
    assert "asymmetric" in (tmp_path / "s" / "guide.md").read_text("utf-8")
    assert TOOL.main(["score", "--labels", str(tmp_path)]) == 2
    assert "no labels" in capsys.readouterr().err
    write(tmp_path / "one.jsonl", [line(n) for n in TRUTH])
    assert TOOL.main(["score", "--labels", str(tmp_path)]) == 0
    assert "| author, one | 1.000" in capsys.readouterr().out
