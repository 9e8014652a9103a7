"""naisei relationship compare: the effect of injection on the speech, paired by place."""

import json
import math
from datetime import datetime
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.relationship.effect import effect
from naisei.relationship.schemas import AGENTS, Conversation, Line, Moment, Session, Stance
from naisei.relationship.vector import Reading, RelationVector

NEAR = ("ねえ、一緒に遊ぼうよ！あはは。", "うん、大好き！また飲みに行こうね。")
FAR = ("本日はお越しいただき、ありがとうございます。", "恐れ入ります。失礼いたします。")


def talk(key: str, said: tuple[str, str], intimacy: int, *, injected: bool) -> Conversation:
    """Two sessions of four lines, with one reading as each starts."""
    time = datetime(2026, 4, 6)
    reading = Reading(vector=RelationVector(Power=0, Intimacy=intimacy, TaskOriented=0))
    sessions = []
    for s in (1, 2):
        stance = Stance(reading=reading, session=s, turn=0)
        start = Moment(
            session=s,
            turn=0,
            at="session_start",
            next_speaker="a",
            injected=injected,
            stances={"a_to_b": stance, "b_to_a": stance},
        )
        lines = tuple(
            Line(
                id=f"D{s}:{t + 1}",
                session=s,
                turn=t,
                speaker=AGENTS[t % 2],
                text=said[t % 2],
                time=time,
                injected=injected,
            )
            for t in range(4)
        )
        sessions.append(Session(number=s, start=time, lines=lines, moments=(start,)))
    names = {"a": "A", "b": "B"}
    return Conversation(pair=key, language="ja", names=names, sessions=tuple(sessions))


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


def test_two_runs(naisei: Naisei, runs: tuple[Path, Path]) -> None:
    done = naisei("relationship", "compare", *runs, "--json")
    assert done.code == 0
    intimacy = done.result["dimensions"]["Intimacy"]
    assert intimacy["toward"]["value"] > 1
    # What is said in one dialogue hangs together.
    assert intimacy["toward"]["interval"] == [None, None] and done.result["notes"]
    assert done.result["injected"] == 7, "the very first utterance has no reading before it"


def test_the_wrong_order_and_no_run(naisei: Naisei, runs: tuple[Path, Path]) -> None:
    swapped = naisei("relationship", "compare", *runs[::-1])
    assert swapped.code == 2 and "first" in swapped.err
    assert naisei("relationship", "compare", runs[0], "nowhere").code == 2
    Path("empty").mkdir()
    assert naisei("relationship", "compare", runs[0], "empty").code == 2
