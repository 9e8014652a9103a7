"""naisei relationship compare: the effect of injection on the speech, paired by place."""

import json
import math
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.relationship.dialogues import Dialogue, Utterance
from naisei.relationship.effect import Talk, effect
from naisei.relationship.vector import RelationVector

NEAR = ("ねえ、一緒に遊ぼうよ！あはは。", "うん、大好き！また飲みに行こうね。")
FAR = ("本日はお越しいただき、ありがとうございます。", "恐れ入ります。失礼いたします。")


def talk(key: str, said: tuple[str, str], intimacy: int, *, injected: bool) -> Talk:
    lines = tuple(Utterance(s, t, "AB"[t % 2], said[t % 2]) for s in (1, 2) for t in range(4))
    held = RelationVector(Power=0, Intimacy=intimacy, TaskOriented=0)
    vectors = {(s, t): (held, held) for s in (1, 2) for t in range(-1, 4)}
    places = frozenset((x.session, x.turn) for x in lines) if injected else frozenset()
    return Talk(key, Dialogue(key, ("A", "B"), lines, {}, vectors), places)


def test_speech_that_follows_the_vector() -> None:
    vector = {"p1": 3, "p2": -3, "p3": 3}
    first = {k: talk(k, NEAR if v > 0 else FAR, v, injected=True) for k, v in vector.items()}
    second = {k: talk(k, FAR if v > 0 else NEAR, v, injected=False) for k, v in vector.items()}
    second["p3"] = talk("p3", FAR[::-1], 3, injected=False)
    found = {line.dimension: line for line in effect(first, second).lines}["Intimacy"]
    assert found.toward.value > 1 and found.toward.low > 0, "near where near, far where far"
    assert found.shift.value == pytest.approx(found.first - found.second)
    assert found.follows > 0.8 > 0 > found.follows_without
    assert found.toward.n == 24


def test_the_same_speech_shows_no_effect() -> None:
    first = {k: talk(k, NEAR, 2, injected=True) for k in ("p1", "p2")}
    second = {k: talk(k, NEAR, 2, injected=False) for k in ("p1", "p2", "p9")}
    found = effect(first, second)
    for line in found.lines:
        assert line.shift.value == 0 and math.isnan(line.shift.low) and line.shift.reason
    assert math.isnan(found.lines[0].toward.value) and found.lines[0].toward.reason
    assert found.units == found.injected == 16 and any("p9" in note for note in found.notes)


def test_nothing_shared_is_one_message() -> None:
    with pytest.raises(InputError):
        effect({"p1": talk("p1", NEAR, 1, injected=True)}, {})


@pytest.fixture
def runs(naisei: Naisei, english: Path) -> tuple[Path, Path]:
    """Two runs of a speaker who is near when told so."""
    rules = [
        {"schema": "Questions", "reply": ["敬意は？", "親しい？", "用件？"]},
        {"schema": "VectorReply", "reply": {"Power": 0, "Intimacy": 3, "TaskOriented": -2}},
        {"schema": "Summary", "reply": {"summary": "話した。"}},
        {"schema": "", "contains": "Intimacy", "in": "conversation", "reply": NEAR[0]},
        {"schema": "", "reply": FAR[0]},
    ]
    text = "".join(json.dumps(rule, ensure_ascii=False) + "\n" for rule in rules)
    Path("model.jsonl").write_text(text, encoding="utf-8")
    flags = ["relationship", "run", "--relationship-reflection-every-turn", "--sessions", "2"]
    flags += ["--turns", "4", "--embedder", "none", "--model", "scripted:model.jsonl", "-q"]
    for name, more in (("with", []), ("without", ["--relationship-reflection-no-inject"])):
        assert naisei(*flags, *more, "--run-dir", name).code == 0
    return Path("with"), Path("without")


def test_two_runs_and_their_files(naisei: Naisei, runs: tuple[Path, Path]) -> None:
    done = naisei("relationship", "compare", *runs, "--json")
    assert done.code == 0
    intimacy = done.result["dimensions"]["Intimacy"]
    assert intimacy["toward"]["value"] > 1
    # What is said in one dialogue hangs together.
    assert intimacy["toward"]["interval"] == [None, None] and done.result["notes"]
    assert done.result["injected"] == 7, "the very first utterance has no reading before it"
    files = naisei("relationship", "compare", *(r / "agent_a.json" for r in runs), "--json")
    assert files.result["dimensions"] == done.result["dimensions"]


def test_the_wrong_order_and_no_run(naisei: Naisei, runs: tuple[Path, Path]) -> None:
    swapped = naisei("relationship", "compare", *runs[::-1])
    assert swapped.code == 2 and "first" in swapped.err
    assert naisei("relationship", "compare", runs[0], "nowhere").code == 2
    Path("empty").mkdir()
    assert naisei("relationship", "compare", runs[0], "empty").code == 2
