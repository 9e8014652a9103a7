"""Replay: nothing is performed twice, nothing diverges in silence, failures replay too."""

from typing import Any

import pytest

from naisei.core import (
    Act,
    AskUser,
    Chat,
    Effect,
    EffectFailed,
    Flow,
    FlowError,
    Gather,
    Handler,
    InstrumentFailure,
    MemoryLog,
    Observation,
    Performed,
    ReplayDivergence,
    Usage,
    Where,
    World,
    run,
    user,
)


class Counting(Handler):
    """Answers in capitals; fails on the calls told, counted from 1."""

    def __init__(self, *failing: int) -> None:
        self.failing, self.calls = failing, 0

    def perform(self, effect: Any, where: Where) -> Any:
        self.calls += 1
        if self.calls in self.failing:
            raise InstrumentFailure(f"call {self.calls}", Usage(attempts=3))
        text = effect.question if isinstance(effect, AskUser) else effect.messages[-1].content
        return Performed(text.upper(), Usage(calls=1, attempts=1, input_tokens=2))


def chat(text: str) -> Chat[str]:
    return Chat("agent", [user(text)])


def forbidden(_: Any) -> Any:
    raise AssertionError("performed on replay")


NOTHING = World({Effect: forbidden})


def two() -> Flow[list[str]]:
    return [(yield from chat("a")), (yield from chat("b"))]


def patient() -> Flow[list[str]]:
    out = []
    for text in "abc":
        try:
            out.append((yield from chat(text)))
        except InstrumentFailure as failed:
            out.append(f"! {failed}")
    return out


def test_caught_failure_is_logged_and_replayed() -> None:
    log = MemoryLog()
    assert run(patient(), World({Chat: Counting(2)}), log=log) == ["A", "! call 2", "C"]
    assert log.events[1].failure == ("InstrumentFailure", "call 2")
    assert log.events[1].usage == Usage(attempts=3)
    assert run(patient(), NOTHING, log=log) == ["A", "! call 2", "C"]


def test_uncaught_failure_is_not_logged_and_tried_again() -> None:
    log = MemoryLog()
    with pytest.raises(InstrumentFailure, match="call 2"):
        run(two(), World({Chat: Counting(2)}), log=log)
    assert len(log.events) == 1
    second = Counting()
    assert run(two(), World({Chat: second}), log=log) == ["A", "B"]
    assert second.calls == 1


def test_one_failure_object_raised_twice_is_two_failures() -> None:
    same = InstrumentFailure("down")

    def down(_: Any) -> str:
        raise same

    def flow() -> Flow[str]:
        try:
            yield from Gather([chat("a"), chat("b")])
        except InstrumentFailure as failed:
            return str(failed)
        return "no failure"

    log = MemoryLog()
    assert run(flow(), World({Chat: down}), log=log) == "down"
    assert [e.where.path for e in log.events] == [(0, 0, 0), (0, 1, 0)]
    assert run(flow(), NOTHING, log=log) == "down"


class Refused(InstrumentFailure):
    """A plug-in's own failure, with a constructor of its own."""

    def __init__(self, code: int) -> None:
        super().__init__(f"refused with {code}")


def test_a_plug_ins_failure_replays_as_itself() -> None:
    def refuse(_: Any) -> str:
        raise Refused(451)

    def flow() -> Flow[str]:
        try:
            return (yield from chat("a"))
        except Refused as failed:
            return str(failed)

    log = MemoryLog()
    assert run(flow(), World({Chat: refuse}), log=log) == "refused with 451"
    assert run(flow(), NOTHING, log=log) == "refused with 451"
    with pytest.raises(FlowError, match="unknown class: Gone"):
        EffectFailed.named("Gone", "away")


def test_divergence_names_both_effects() -> None:
    log = MemoryLog()
    run(two(), World({Chat: Counting()}), log=log)

    def other() -> Flow[str]:
        yield from chat("a")
        return (yield from AskUser("違いますか？"))

    with pytest.raises(ReplayDivergence) as caught:
        run(other(), NOTHING, log=log)
    assert "step 1" in str(caught.value)
    assert "chat" in caught.value.recorded and "'b'" in caught.value.recorded
    assert "ask" in caught.value.now and "違いますか" in caught.value.now


def test_leftover_events_are_an_error_that_names_them() -> None:
    log = MemoryLog()
    run(two(), World({Chat: Counting()}), log=log)
    with pytest.raises(ReplayDivergence, match=r"'b'.*ended before"):
        run(iter(chat("a")), NOTHING, log=log)


def test_gather_in_place_of_an_effect_and_back_diverges_before_anything_is_performed() -> None:
    def gathered() -> Flow[list[Any]]:
        return (yield from Gather([chat("a")]))

    single, several = MemoryLog(), MemoryLog()
    run(iter(chat("a")), World({Chat: Counting()}), log=single)
    run(gathered(), World({Chat: Counting()}), log=several)
    with pytest.raises(ReplayDivergence, match="a Gather of 1 parts"):
        run(gathered(), NOTHING, log=single)
    with pytest.raises(ReplayDivergence, match="holds a Gather or a flow"):
        run(iter(chat("a")), NOTHING, log=several)


def test_episodes_share_a_log_without_mixing() -> None:
    log = MemoryLog()
    for trial in (1, 2):
        where = Where("x", trial)
        run(two(), World({Chat: Counting()}), log=log, where=where)
        assert run(two(), NOTHING, log=log, where=where) == ["A", "B"]
    assert [e.where.episode for e in log.events] == ["x#1"] * 2 + ["x#2"] * 2


class Lamp(Handler):
    """An environment with state; `reachable` False means that it cannot be rebuilt."""

    def __init__(self, *, reachable: bool = True) -> None:
        self.on, self.reachable = False, reachable

    def perform(self, effect: Act, where: Where) -> Observation:
        self.on = not self.on
        return Observation(text="on" if self.on else "off")

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        if not self.reachable:
            raise InstrumentFailure("the lamp does not answer")
        if self.perform(effect, where) != result:
            raise ReplayDivergence(str(where), result.text, "another state")


def toggled() -> Flow[str]:
    try:
        yield from Act("toggle")
        return (yield from Act("toggle")).text
    except EffectFailed:
        return "caught"


def test_a_state_that_cannot_be_rebuilt_ends_the_episode_past_the_flow() -> None:
    log = MemoryLog()
    run(toggled(), World({Act: Lamp()}), log=log)
    before = list(log.events)
    with pytest.raises(InstrumentFailure, match="does not answer"):
        run(toggled(), World({Act: Lamp(reachable=False)}), log=log)
    assert log.events == before


def test_failure_raised_anew_by_a_gathered_flow_is_still_recorded() -> None:
    def rewording() -> Flow[str]:
        try:
            return (yield from chat("a"))
        except InstrumentFailure as failed:
            raise InstrumentFailure(f"reworded {failed}") from failed

    def flow() -> Flow[str]:
        try:
            yield from Gather([rewording()])
        except InstrumentFailure as failed:
            return str(failed)
        return "no failure"

    log = MemoryLog()
    assert run(flow(), World({Chat: Counting(1)}), log=log) == "reworded call 1"
    assert run(flow(), NOTHING, log=log) == "reworded call 1"
