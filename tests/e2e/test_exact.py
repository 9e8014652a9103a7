"""A model of known behaviour: every figure equals the one worked out by hand to 1e-12."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from commandline import Done, Naisei
from e2e.helpers import lines, write_rows
from naisei.runs.directory import RunDirectory
from naisei.runs.report import stored_summary

# What happens (α = 0.9, two questions a trial, three trials, TUR):
#   a, gold 3: asks once, executes 3.                                  t* = 1, s = 2
#   b, gold 5: executes 1; reflects; executes 5.                       t* = 2, s = 1
#   c, gold 7: executes 1; reflects; executes 2; reflects; asks twice,
#              executes 7.                                             t* = 3, s = 3
#   d, gold 9: executes 1, 2, 4, reflecting twice.                     no success
#   e, gold 3: the model talks and never gives JSON.                   unscored
GOLD = {"a": 3, "b": 5, "c": 7, "d": 9, "e": 3}
WORDS = {"a": "あお", "b": "きいろ", "c": "みどり", "d": "しろ", "e": "くろ"}
QUESTION = "のどが渇いていますか？"
#: Input and output tokens of a decision in trial 1, 2, 3, and of a reflection.
DECIDE = {1: (100, 10), 2: (130, 11), 3: (170, 13)}
REFLECT = (200, 50)


def _rule(word: str, trial: int, reply: Any, **more: Any) -> dict[str, Any]:
    """An agent's reply in a trial: memos are numbered, and the agent reads the latest."""
    contains = [WORDS[word]] + ([f"メモ{trial - 1}です"] if trial > 1 else [])
    spent = dict(zip(("input", "output"), DECIDE[trial], strict=True))
    given = {"contains": contains, "in": "conversation", "schema": "Decision", "tokens": spent}
    return {**given, "reply": reply, **more}


def _does(action: int) -> dict[str, Any]:
    return {"thought": "これだ", "choice": "execute", "question": "", "action": action}


def _asks(guess: int) -> dict[str, Any]:
    return {"thought": "迷う", "choice": "clarify", "question": QUESTION, "action": guess}


def script() -> list[dict[str, Any]]:
    spent = dict(zip(("input", "output"), REFLECT, strict=True))
    memo = {"in": "conversation", "schema": "", "tokens": spent}
    return [
        # Reflections: the second rewrites the first.
        {**memo, "contains": "メモ1です", "reply": "メモ2です"},
        {**memo, "contains": "試行の記録", "reply": "メモ1です"},
        # Later trials first, since a rule of an earlier one would fit them as well.
        _rule("c", 3, _asks(6), turn=0),
        _rule("c", 3, _asks(6), turn=1),
        _rule("c", 3, _does(7), turn=2),
        _rule("d", 3, _does(4)),
        _rule("b", 2, _does(5)),
        _rule("c", 2, _does(2)),
        _rule("d", 2, _does(2)),
        _rule("a", 1, _asks(3), turn=0),
        _rule("a", 1, _does(3), turn=1),
        _rule("b", 1, _does(1)),
        _rule("c", 1, _does(1)),
        _rule("d", 1, _does(1)),
        {"contains": WORDS["e"], "in": "conversation", "reply": "うまく言えません"},
    ]


@pytest.fixture
def done(naisei: Naisei, tmp_path: Path) -> Done:
    said = [
        {"id": name, "utterance": f"{WORDS[name]}い空だなあ。", "gold": gold}
        for name, gold in GOLD.items()
    ]
    write_rows(tmp_path / "data.jsonl", said)
    write_rows(tmp_path / "model.jsonl", script())
    flags = ["--model", "scripted:model.jsonl", "--memory", "tur", "--run-dir", "run"]
    return naisei("clarify", "run", "--data", "data.jsonl", *flags, "--trials", 3, "--json")


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-12, rel=0)


def test_success(done: Done) -> None:
    assert done.code == 0, done.err
    found = done.result["metrics"]
    assert (done.result["n"], done.result["n_unscored"], done.result["n_pending"]) == (4, 1, 0)
    assert found["pass@1"] == near(1 / 4)
    assert found["pass@3"] == near(3 / 4)
    assert found["dpass@1"] == near(0.9 / 4)
    assert found["dpass@3"] == near((0.9 + 1 + 0.9**2) / 4)
    assert found["pass@5"] is None and "3 trial" in done.result["reasons"]["pass@5"]
    assert found["dpass@5"] is None and found["pass^3"] is None
    assert done.result["usd"] == 0


def test_asking(done: Done) -> None:
    found = done.result["metrics"]
    assert found["questions"] == near(3 / 4)
    assert found["questions_first_trial"] == near(1 / 4)
    # First guesses: a is right (and asked), b, c and d are wrong (and did not ask).
    assert found["over_asking"] == near(1.0)
    assert found["under_asking"] == near(1.0)
    assert found["presence_questions"] == near(0.0)
    assert found["repeated_actions"] == near(0.0)


def test_tokens_as_in_table_3(done: Done) -> None:
    decide, reflect = {t: sum(n) for t, n in DECIDE.items()}, sum(REFLECT)
    total = {
        "a": 2 * decide[1],
        "b": decide[1] + reflect + decide[2],
        "c": decide[1] + decide[2] + 3 * decide[3] + 2 * reflect,
        "d": decide[1] + decide[2] + decide[3] + 2 * reflect,
    }
    found = done.result["metrics"]
    assert found["tokens_reflection_success"] == near((0 + reflect + 2 * reflect) / 3)
    assert found["tokens_reflection_all"] == near((0 + reflect + 2 * reflect + 2 * reflect) / 4)
    assert found["tokens_total_success"] == near((total["a"] + total["b"] + total["c"]) / 3)
    assert found["tokens_total_all"] == near(math.fsum(total.values()) / 4)


def test_the_ledger_and_the_table_by_role(done: Done, naisei: Naisei) -> None:
    reflector = done.result["tokens"]["reflector"]
    assert (reflector["input"], reflector["output"]) == (5 * 200, 5 * 50)
    assert reflector["calls"] == reflector["attempts"] == 5
    shown = json.loads(naisei("runs", "show", "run", "--json").out)
    assert shown["metrics"] == done.result["metrics"]
    with RunDirectory.look(Path("run")) as run:
        tables = {table.title: table.rows for table in stored_summary(run).summary.tables}
    by_role = {row[0]: row[1:] for row in tables["tokens per instance by role"]}
    read = {t: n for t, (n, _) in DECIDE.items()}
    won = (2 * read[1] + read[1] + read[2] + read[1] + read[2] + 3 * read[3]) / 3
    assert by_role["agent"][0] == near(won)
    assert by_role["reflector"] == tuple(near(v) for v in (200, 50, 250, 62.5))


def test_an_unscored_instance_is_named_with_its_reason(done: Done) -> None:
    rows = {row["instance"]: row for row in lines(Path("run/results.jsonl"))}
    assert rows["e"]["result"] is None and "no usable reply" in rows["e"]["failure"]
    assert all(rows[name]["failure"] is None for name in "abcd")
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "no usable reply" in page
    assert "1 of 5" in done.err


def test_independent_trials(naisei: Naisei, tmp_path: Path) -> None:
    """pass^k and the unbiased pass@k of repetitions: 2 of 3 succeed on a, none on b."""
    write_rows(
        tmp_path / "data.jsonl",
        [{"id": n, "utterance": f"{WORDS[n]}い空だなあ。", "gold": 3} for n in "ab"],
    )
    right = {**_does(3)}
    write_rows(
        tmp_path / "model.jsonl",
        [
            {"contains": WORDS["a"], "in": "conversation", "reply": right},
            {"reply": _does(1)},
        ],
    )
    flags = ["--model", "scripted:model.jsonl", "--independent", "--trials", 3, "--run-dir", "run"]
    done = naisei("clarify", "run", "--data", "data.jsonl", *flags, "--json")
    found = done.result["metrics"]
    assert done.code == 0 and done.result["n"] == 6
    assert [found[f"pass@{k}"] for k in (1, 3)] == [near(0.5), near(0.5)]
    assert [found[f"pass^{k}"] for k in (1, 3)] == [near(0.5), near(0.5)]
    assert found["dpass@1"] is None and found["pass^5"] is None
