"""Sketch of relationship reflection on the core: both directions at once, then injected.

Source: the relationship-reflection document, §2 (steps 1–6). Each direction is a flow; the
two run side by side and return what to remember, which is written after they are gathered.
"""

import asyncio
import random
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from naisei.core import (
    Chat,
    Evidence,
    Flow,
    Gather,
    Handler,
    MemoryLog,
    Observation,
    Remember,
    Say,
    Search,
    Where,
    World,
    arun,
    play,
    run,
    system,
    user,
)

Degree = Annotated[int, Field(ge=-3, le=3)]


class Questions(BaseModel):
    power: str
    intimacy: str
    task: str


class Vector(BaseModel):
    power: Degree
    intimacy: Degree
    task: Degree


# --- the sketch ----------------------------------------------------------------------


def reflect(src: str, dst: str) -> Flow[Vector]:
    recent = yield from Search("", k=10, source="recent")  # step 1
    lines = "\n".join(e.text for e in recent)
    asked = yield from Chat("reflector", [user(f"{src}→{dst}\n{lines}")], Questions)  # step 2
    found = yield from Gather([Search(q, k=5, source="stream") for _, q in asked])  # step 3
    best: dict[str, Evidence] = {}
    for evidence in (e for result in found for e in result):
        if evidence.id not in best or best[evidence.id].score < evidence.score:
            best[evidence.id] = evidence
    ranked = sorted(best.values(), key=lambda e: (-e.score, e.id))
    grounds = "\n".join(f"{n}. {e.text}" for n, e in enumerate(ranked, 1))  # step 4
    prompt = [system(f"{src}から{dst}への態度"), user(f"{asked}\n{grounds}")]
    return (yield from Chat("reflector", prompt, Vector))  # step 5


def converse(a: str, b: str, turns: int, *, inject: bool = True) -> Flow[list[dict[str, Vector]]]:
    course = []
    stance = {a: "", b: ""}
    for n in range(turns):
        speaker, other = (a, b) if n % 2 == 0 else (b, a)
        prompt = [system(f"{speaker}として話す。{stance[speaker] if inject else ''}"), user(other)]
        line = yield from Chat("speaker", prompt)
        yield from Say(line, speaker)
        yield from Remember({"by": speaker, "text": line}, memory="stream")
        ab, ba = yield from Gather([reflect(a, b), reflect(b, a)])
        for src, vector in ((a, ab), (b, ba)):
            yield from Remember({"by": src, "vector": vector.model_dump()}, memory="relations")
            stance[src] = f"態度: {vector}"  # step 6
        course.append({a: ab, b: ba})
    return course


# --- a memory, and the tests ---------------------------------------------------------


class Stream(Handler):
    """Remembers, and is searched: the same state behind two kinds of effect."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.relations: list[Any] = []

    def perform(self, effect: Remember | Search, where: Where) -> Any:
        if isinstance(effect, Remember):
            (self.items if effect.memory == "stream" else self.relations).append(effect.item)
            return None
        kept = list(enumerate(self.items))[-effect.k :]
        shared = [len(set(effect.query) & set(i["text"])) for _, i in kept]
        return [
            Evidence(id=str(n), text=f"[{i['by']}] {i['text']}", score=s)
            for (n, i), s in zip(kept, shared, strict=True)
        ]

    def restore(self, effect: Remember | Search, result: Any, where: Where) -> None:
        if isinstance(effect, Remember):
            self.perform(effect, where)


def model(effect: Chat[Any]) -> Any:
    text = "".join(m.content for m in effect.messages)
    if effect.schema is Questions:
        return Questions(power="敬意は？", intimacy="親しい？", task="仕事の話？")
    if effect.schema is Vector:
        return Vector(
            power=2 if text.startswith("高橋から") else -2, intimacy=len(text) % 4, task=-1
        )
    return f"おはようございます、{effect.messages[-1].content}さん。{len(text)}"


async def jittery(effect: Chat[Any]) -> Any:
    await asyncio.sleep(random.random() * 0.002)
    return model(effect)


def world(stream: Stream, chat: Any = model) -> World:
    return World({Chat: chat, Remember: stream, Search: stream, Say: lambda _: None})


def test_steps_of_one_direction() -> None:
    found = [Evidence(id="1", text="本の話", score=0.2)]
    again = [Evidence(id="1", text="本の話", score=0.9), Evidence(id="2", text="挨拶", score=0.5)]
    questions = Questions(power="p", intimacy="i", task="t")
    vector = Vector(power=-2, intimacy=1, task=-2)
    played = play(reflect("田中", "高橋"), [found, questions, found, again, [], vector])
    assert played.result == vector
    last = played.effects[-1]
    assert isinstance(last, Chat)
    assert "1. 本の話\n2. 挨拶" in last.messages[-1].content


def test_values_outside_the_scale_cannot_be_recorded() -> None:
    with pytest.raises(ValueError, match="less than or equal to 3"):
        Vector(power=4, intimacy=0, task=0)


@pytest.mark.parametrize("inject", [True, False])
def test_directions_stay_apart_and_reach_the_prompt_only_when_injected(inject: bool) -> None:
    log = MemoryLog()
    stream = Stream()
    course = run(converse("高橋", "田中", 3, inject=inject), world(stream), log=log)
    assert all(c["高橋"].power == 2 and c["田中"].power == -2 for c in course)
    assert [r["by"] for r in stream.relations] == ["高橋", "田中"] * 3
    third = [e for e in log.events if e.kind == "chat" and e.request["role"] == "speaker"][2]  # type: ignore[index,call-overload]
    assert ("power=2" in str(third.request)) is inject


def test_resume_at_every_event_rebuilds_the_stream() -> None:
    whole = MemoryLog()
    expected_stream = Stream()
    expected = asyncio.run(arun(converse("高橋", "田中", 2), world(expected_stream), log=whole))
    for kept in range(len(whole.events) + 1):
        log, stream = MemoryLog(), Stream()
        log.events = whole.events[:kept]
        result = asyncio.run(arun(converse("高橋", "田中", 2), world(stream, jittery), log=log))
        assert result == expected
        assert vars(stream) == vars(expected_stream)
        assert {e.where: e.result for e in log.events} == {e.where: e.result for e in whole.events}


def test_a_direction_may_not_write_while_the_other_runs() -> None:
    from naisei.core import Act, FlowError

    def writing() -> Flow[Observation]:
        return (yield from Act("write"))

    def both() -> Flow[list[Any]]:
        return (yield from Gather([writing(), reflect("a", "b")]))

    with pytest.raises(FlowError, match="inside a gathered flow"):
        run(both(), world(Stream()))
