"""naisei relationship rate: by speech, by a model, repeated and resumed."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.relationship.rating import median_reading, stability
from naisei.relationship.series import read_series
from naisei.relationship.vector import Reading, RelationVector
from naisei.runs.frozen import Frozen

TALK = (
    "高橋: 佐藤くん、例の資料、明日の十時までに直しておいて。\n"
    "佐藤: はい、承知しました。高橋先輩、数字も確認したほうがよろしいでしょうか。\n"
    "高橋: そうだな、表も全部見直せ。わからなければ聞きに来い。\n"
    "佐藤: ありがとうございます。勉強になります。\n"
)
RULES = [
    {"schema": "Questions", "reply": ["敬意は？", "親しい？", "用件？"]},
    {
        "schema": "VectorReply",
        "regex": "佐藤 *から",
        "in": "conversation",
        "reply": {"Power": 3, "Intimacy": 0, "TaskOriented": 2},
    },
    {"schema": "VectorReply", "reply": {"Power": 2, "Intimacy": 1, "TaskOriented": "+3"}},
]


@pytest.fixture
def talk(english: Path) -> Path:
    path = english / "talk.txt"
    path.write_text(TALK, encoding="utf-8")
    rules = "".join(json.dumps(rule, ensure_ascii=False) + "\n" for rule in RULES)
    (english / "model.jsonl").write_text(rules, encoding="utf-8")
    return path


def vector(power: int, intimacy: int = 0, task: int = 0) -> RelationVector:
    return RelationVector(Power=power, Intimacy=intimacy, TaskOriented=task)


def test_by_speech_without_any_model(naisei: Naisei, talk: Path) -> None:
    done = naisei("relationship", "rate", talk, "--out", "o.json", "--csv", "o.csv", "--json")
    assert done.code == 0 and "佐藤 → 高橋" in done.err
    written = json.loads(Path("o.json").read_text("utf-8"))
    assert written == done.result
    turns = written["session_1_relationship_reflection_turns"]
    assert [t["turn"] for t in turns] == [0, 1, 2, 3]
    first = turns[0]["rr"]["a_to_b"] or {}
    assert first.get("Power") is None, "B has not spoken: no number, never a zero"
    last = turns[-1]["rr"]
    assert last["a_to_b"]["Power"] >= 1 and last["b_to_a"]["Power"] <= -1
    assert last["by_speaker"]["佐藤"]["toward"] == "高橋"
    assert last["by_speaker"]["佐藤"]["vector"] == last["b_to_a"]
    assert turns[-1]["next_speaker"] == "高橋" and turns[-1]["injected"] is False
    rows = list(csv.DictReader(Path("o.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 4 * 2 * 3
    assert rows[0]["dimension"] == "Power" and rows[0]["value"] == "" and rows[0]["reason"]
    series = read_series(Path("o.json"))
    assert series.points[-1].reads["a_to_b"].values["Power"] >= 1


def test_what_speech_cannot_do_is_said(naisei: Naisei, talk: Path) -> None:
    for flag in (["--repeats", "3"], ["--self-consistency", "3"]):
        done = naisei("relationship", "rate", talk, *flag)
        assert done.code == 2 and done.err.count("\n") <= 3 and flag[0] in done.err
    assert naisei("relationship", "rate", talk, "--rater", "model").code == 2
    assert naisei("relationship", "rate", talk, "--speakers", "高橋,鈴木").code == 2


def test_by_a_model_repeated(naisei: Naisei, talk: Path) -> None:
    flags = ["--model", "scripted:model.jsonl", "--embedder", "ngram", "--run-dir", "run", "--json"]
    done = naisei("relationship", "rate", talk, *flags, "--repeats", "2", "-q")
    assert done.code == 0
    assert done.result["n"] == 2 and done.result["metrics"]["reading_failures"] == 0
    assert done.result["metrics"]["Power.b_to_a"] == 3
    assert done.result["metrics"]["alpha.Power"] == 1, "the script does not vary, the sides differ"
    assert done.result["metrics"]["sd.Power"] == 0 and done.result["metrics"]["agreed.Power"] == 1
    held = json.loads(Path("run/agent_a.json").read_text("utf-8"))
    first, second, *_ = held["session_1_relationship_reflection_turns"]
    assert first["rr"]["b_to_a"] is None, "who has not spoken gets no vector"
    rr = second["rr"]
    assert rr["a_to_b"] == {"Power": 2, "Intimacy": 1, "TaskOriented": 3}, "+3 is read"
    assert len(rr["repeats"]["b_to_a"]) == 2
    assert read_series(Path("run")).points[1].reads["b_to_a"].repeats == 2


def test_a_rating_is_a_run_that_goes_on(naisei: Naisei, talk: Path) -> None:
    flags = ["--model", "scripted:model.jsonl", "--embedder", "none", "--run-dir", "run", "--json"]
    stopped = naisei("relationship", "rate", talk, *flags, "--max-tokens", "3000", "-q")
    assert stopped.code == 3 and stopped.result["n"] == 0
    talk.unlink()
    frozen = Frozen.read(Path("run/config.json"))
    assert len(frozen.config["lines"]) == 4, "the run holds the dialogue itself"
    done = naisei("runs", "resume", "run", "--json", "-q")
    assert done.code == 0 and done.result["n"] == 1
    assert done.result["tokens"]["reflector"]["calls"] == 7  # nobody reads the silent
    assert done.result["tokens"]["questioner"]["calls"] == 7


def test_votes_multiply_the_calls_and_failures_are_no_zeros(naisei: Naisei, talk: Path) -> None:
    bad = [RULES[0], {"schema": "VectorReply", "reply": {"Power": "high"}}]
    Path("bad.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in bad))
    flags = ["--model", "scripted:bad.jsonl", "--embedder", "none", "--self-consistency", "3"]
    done = naisei("relationship", "rate", talk, *flags, "--run-dir", "run", "--json", "-q")
    assert done.result["tokens"]["questioner"]["calls"] == 3 * 7
    assert done.result["metrics"]["reading_failures"] == 1
    assert done.result["metrics"]["Power.a_to_b"] is None
    held = json.loads(Path("run/agent_a.json").read_text("utf-8"))
    assert held["session_1_relationship_reflection_turns"][3]["rr"]["a_to_b"] is None


def test_the_median_of_votes() -> None:
    def reading(*power: int) -> Reading:
        return median_reading([Reading(vector=vector(p)) for p in power])

    assert reading(-3, 1, 2).vector == vector(1)
    assert reading(1, 2).vector == vector(2) and reading(-1, -2).vector == vector(-2)
    lost = Reading.failed("no answer")
    assert median_reading([lost, Reading(vector=vector(2)), lost]).vector == vector(2)
    assert median_reading([lost, lost]) == lost


def test_agreement_of_repetitions() -> None:
    def repeat(*powers: int | None) -> list[dict[Any, Any]]:
        return [{"a_to_b": None if p is None else vector(p), "b_to_a": None} for p in powers]

    found = {m.name: m for m in stability([repeat(1, -2, 3, None), repeat(2, -2, 3, 1)])}
    assert found["agreed.Power"].value == pytest.approx(2 / 3) and found["agreed.Power"].n == 3
    assert found["sd.Power"].value == pytest.approx(0.5 / 3)
    # By hand: D_o = 2·1/6 (ordered pairs in units of two), D_e over all pairs of 1 2 −2 −2 3 3.
    values = [1, 2, -2, -2, 3, 3]
    expected = sum((a - b) ** 2 for a in values for b in values) / (6 * 5)
    assert found["alpha.Power"].value == pytest.approx(1 - (2 / 6) / expected)
    assert found["alpha.Intimacy"].reason, "all are 0: chance agrees, too"
    assert all(m.reason for m in stability([repeat(1)]))
