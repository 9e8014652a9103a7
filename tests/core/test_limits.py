"""Limits and their meter: each kind stops, replays count the same, timing does not matter."""

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.core import (
    Chat,
    Effect,
    Flow,
    Gather,
    LimitReached,
    Limits,
    MemoryLog,
    Meter,
    Performed,
    Usage,
    World,
    arun,
    run,
    user,
)

COST = Usage(calls=1, input_tokens=3, output_tokens=2, usd=0.25)


def chat(text: str = "a") -> Chat[str]:
    return Chat("agent", [user(text)])


def until_limited() -> Flow[tuple[int, str]]:
    for n in range(20):
        try:
            yield from chat(str(n))
        except LimitReached as reached:
            return n, str(reached)
    return 20, ""


def model(effect: Chat[str]) -> Performed[str]:
    time.sleep(0.005)
    return Performed("x", COST)


def forbidden(_: Any) -> Any:
    raise AssertionError("performed on replay")


@pytest.mark.parametrize(
    ("limits", "allowed", "words"),
    [
        (Limits(steps=3), 3, "steps: 3 of 3"),
        (Limits(calls=2), 2, "calls: 2 of 2"),
        (Limits(tokens=11), 3, "tokens: 15 of 11"),
        (Limits(usd=0.5), 2, "usd: 0.5 of 0.5"),
        (Limits(calls=0), 0, "calls: 0 of 0"),
        (Limits(), 20, ""),
        (Limits(steps=100, calls=4), 4, "calls"),
    ],
)
def test_each_limit_stops_and_counts_the_same_on_replay(
    limits: Limits, allowed: int, words: str
) -> None:
    whole = MemoryLog()
    result = run(until_limited(), World({Chat: model}), log=whole, limits=limits)
    assert result[0] == allowed and words in result[1]
    for kept in range(len(whole.events) + 1):
        log = MemoryLog()
        log.events = whole.events[:kept]
        assert run(until_limited(), World({Chat: model}), log=log, limits=limits) == result
    assert run(until_limited(), World({Effect: forbidden}), log=whole, limits=limits) == result


def test_seconds_are_those_spent_performing_and_are_replayed_as_recorded() -> None:
    log = MemoryLog()
    n, words = run(until_limited(), World({Chat: model}), log=log, limits=Limits(seconds=0.02))
    assert 1 <= n <= 4 and "seconds" in words
    replay = run(until_limited(), World({Effect: forbidden}), log=log, limits=Limits(seconds=0.02))
    assert replay == (n, words)


def test_a_bound_in_usd_that_cannot_be_kept_counts_as_reached() -> None:
    def unpriced(effect: Chat[str]) -> Performed[str]:
        return Performed("x", Usage(calls=1))

    n, words = run(until_limited(), World({Chat: unpriced}), limits=Limits(usd=9.0))
    assert n == 1 and "price" in words
    cached = World({Chat: lambda _: Performed("x", Usage(cached=True))})
    assert run(until_limited(), cached, limits=Limits(usd=9.0)) == (20, "")


def test_an_uncaught_limit_ends_the_episode_and_is_not_logged() -> None:
    log = MemoryLog()
    with pytest.raises(LimitReached):
        run(two(), World({Chat: model}), log=log, limits=Limits(calls=1))
    assert len(log.events) == 1
    assert run(two(), World({Chat: model}), log=log) == ["x", "x"]


def two() -> Flow[list[str]]:
    return [(yield from chat("a")), (yield from chat("b"))]


def gathered() -> Flow[list[Any]]:
    first = yield from Gather([until_limited(), chat("a"), until_limited()])
    return [*first, (yield from until_limited())]


@given(st.integers(2, 30), st.randoms(use_true_random=False), st.integers(0, 60))
def test_a_limit_in_a_gather_does_not_depend_on_timing(calls: int, random: Any, kept: int) -> None:
    def quick(effect: Chat[str]) -> Performed[str]:
        return Performed("x", COST)

    async def jittery(effect: Chat[str]) -> Performed[str]:
        for _ in range(random.randrange(4)):
            await asyncio.sleep(0)
        return Performed("x", COST)

    limits = Limits(calls=calls)
    expected = run(gathered(), World({Chat: quick}), limits=limits)
    log = MemoryLog()
    world = World({Chat: jittery})
    assert asyncio.run(arun(gathered(), world, log=log, limits=limits)) == expected
    # Whatever was lost, a resume finds the same limits.
    log.events = log.events[:kept]
    assert asyncio.run(arun(gathered(), world, log=log, limits=limits)) == expected


def test_what_was_gathered_counts_afterwards() -> None:
    def flow() -> Flow[tuple[int, str]]:
        yield from Gather([chat("a"), two()])
        return (yield from until_limited())

    assert run(flow(), World({Chat: model}), limits=Limits(calls=5))[0] == 2
    # Together they may overstep it; none is held against what the others use meanwhile.
    n, words = run(flow(), World({Chat: model}), limits=Limits(calls=2))
    assert n == 0 and "calls: 3 of 2" in words


usages = st.none() | st.builds(
    Usage,
    calls=st.integers(0, 3),
    input_tokens=st.integers(0, 9),
    output_tokens=st.integers(0, 9),
    usd=st.none() | st.integers(0, 8).map(lambda n: n / 8),
)


@given(st.lists(st.lists(usages, max_size=4), max_size=4), st.lists(usages, max_size=3))
def test_joined_copies_count_like_one_meter(branches: list[list[Any]], before: list[Any]) -> None:
    one, forked = Meter(), Meter()
    for usage in before:
        one.add(usage, 0.5)
        forked.add(usage, 0.5)
    copies = []
    for branch in branches:
        copies.append(forked.copy())
        for usage in branch:
            copies[-1].add(usage, 0.25)
            one.add(usage, 0.25)
    forked.join(copies)
    assert forked == one
