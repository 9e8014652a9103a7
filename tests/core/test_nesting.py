"""Flow handlers: an effect performed by a flow, whose own effects are logged below it."""

from typing import Any

import pytest

from naisei.core import (
    AskUser,
    Chat,
    Effect,
    Flow,
    FlowHandler,
    FunctionHandler,
    Gather,
    Handler,
    InstrumentFailure,
    MemoryLog,
    Performed,
    Remember,
    ReplayDivergence,
    Search,
    Usage,
    Where,
    World,
    run,
    user,
)


class Simulator(FlowHandler):
    """Asks a model twice and remembers what it was asked: state of its own, and in a memory."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def respond(self, effect: AskUser, where: Where) -> Flow[str]:
        self.asked.append(effect.question)
        yield from Remember(effect.question, memory="simulator")
        draft = yield from Chat("simulator", [user(effect.question)])
        return (yield from Chat("simulator", [user("shorter: " + draft)]))


class Notes(Handler):
    def __init__(self) -> None:
        self.notes: list[Any] = []

    def perform(self, effect: Remember, where: Where) -> None:
        self.notes.append(effect.item)

    def restore(self, effect: Remember, result: None, where: Where) -> None:
        self.notes.append(effect.item)


class Model(Handler):
    def __init__(self, *failing: int) -> None:
        self.failing, self.calls = failing, 0

    def perform(self, effect: Chat[str], where: Where) -> Any:
        self.calls += 1
        if self.calls in self.failing:
            raise InstrumentFailure(f"call {self.calls}", Usage(role=effect.role, attempts=2))
        return Performed(f"<{effect.messages[-1].content}>", Usage(effect.role, calls=1))


def forbidden(_: Any) -> Any:
    raise AssertionError("performed on replay")


def built(model: Any) -> tuple[World, Simulator, Notes]:
    simulator, notes = Simulator(), Notes()
    return World({AskUser: simulator, Remember: notes, Chat: model}), simulator, notes


def dialogue() -> Flow[list[str]]:
    out = []
    for question in ("q1", "q2"):
        try:
            out.append((yield from AskUser(question)))
        except InstrumentFailure as failed:
            out.append(f"! {failed}")
    return out


EXPECTED = ["<shorter: <q1>>", "<shorter: <q2>>"]


def test_nested_effects_are_logged_under_the_effect() -> None:
    log = MemoryLog()
    assert run(dialogue(), built(Model())[0], log=log) == EXPECTED
    assert [(e.where.step, e.kind) for e in log.events[:4]] == [
        ("0.0", "remember"),
        ("0.1", "chat"),
        ("0.2", "chat"),
        ("0", "ask"),
    ]
    # Costs are those of the nested effects, and counted once.
    assert [e.usage is not None for e in log.events] == [e.kind == "chat" for e in log.events]
    assert all(e.seconds == 0.0 for e in log.events if e.kind == "ask")


def test_changed_nested_flows_diverge_instead_of_calling_a_model() -> None:
    class Longer(Simulator):
        def respond(self, effect: AskUser, where: Where) -> Flow[str]:
            answer = yield from super().respond(effect, where)
            return (yield from Chat("simulator", [user("longer: " + answer)]))

    class Other(Simulator):
        def respond(self, effect: AskUser, where: Where) -> Flow[str]:
            return (yield from super().respond(effect, where)) + "!"

    class Shorter(Simulator):
        def respond(self, effect: AskUser, where: Where) -> Flow[str]:
            yield from Remember(effect.question, memory="simulator")
            return (yield from Chat("simulator", [user(effect.question)]))

    log = MemoryLog()
    world = built(Model())[0]
    run(dialogue(), world, log=log)
    quiet = world.having({Chat: forbidden})
    for changed in (Longer(), Other(), Shorter()):
        with pytest.raises(ReplayDivergence):
            run(dialogue(), quiet.having({AskUser: changed}), log=log)


def test_a_log_with_a_simulator_replays_under_a_plain_handler() -> None:
    log = MemoryLog()
    run(dialogue(), built(Model())[0], log=log)
    assert run(dialogue(), World({Effect: forbidden}), log=log) == EXPECTED


def test_state_may_not_be_changed_below_an_unordered_gathered_effect() -> None:
    class Counted(FlowHandler):
        def respond(self, effect: Search, where: Where) -> Flow[list[Any]]:
            yield from Remember(effect.query)
            return []

    def flow() -> Flow[list[Any]]:
        return (yield from Gather([Search("a"), Search("b")]))

    world = World({Search: Counted(), Remember: FunctionHandler(forbidden)})
    with pytest.raises(Exception, match="gather"):
        run(flow(), world)
