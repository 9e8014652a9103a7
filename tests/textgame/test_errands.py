"""The search for errands: never dearer than any order that a brute force finds."""

from __future__ import annotations

from collections import deque
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.textgame.game_state import HELD
from naisei.textgame.planner.explore import Errands, Job, plan_errands


def brute_force(e: Errands) -> int:
    """Fewest commands, one command a step, with nothing left out: places lie on a line."""
    n = len(e.jobs)
    start = (
        e.here,
        tuple(j.at for j in e.jobs),
        tuple(j.cut for j in e.jobs),
        tuple(j.cook_at is not None for j in e.jobs),
        e.knife_at,
        e.spare,
    )
    seen, queue = {start}, deque([(0, start)])
    last = max([e.here, e.goal, *(p for row in e.distance.values() for p in row)])
    while queue:
        cost, (here, at, cut, cook, knife, spare) = queue.popleft()
        if here == e.goal and not any(cut) and not any(cook) and all(p == HELD for p in at):
            return cost
        held = sum(p == HELD for p in at) + (knife == HELD) + spare
        after = [(here + d, at, cut, cook, knife, spare) for d in (-1, 1) if 0 <= here + d <= last]
        for i in range(n):
            put = lambda row, value, i=i: (*row[:i], value, *row[i + 1 :])  # noqa: E731
            if at[i] == HELD:
                after.append((here, put(at, here), cut, cook, knife, spare))
                if knife == HELD and cut[i]:
                    after.append((here, at, put(cut, False), cook, knife, spare))
                if cook[i] and e.jobs[i].cook_at == here:
                    after.append((here, at, cut, put(cook, False), knife, spare))
            elif at[i] == here and held < e.hands:
                after.append((here, put(at, HELD), cut, cook, knife, spare))
        if knife == HELD:
            after.append((here, at, cut, cook, here, spare))
        elif knife == here and held < e.hands:
            after.append((here, at, cut, cook, HELD, spare))
        if spare:
            after.append((here, at, cut, cook, knife, spare - 1))
        for state in after:
            if state not in seen:
                seen.add(state)
                queue.append((cost + 1, state))
    raise AssertionError("no way")


LINE = {a: {b: abs(a - b) for b in range(4)} for a in range(4)}


@st.composite
def errands(draw: st.DrawFn) -> Errands:
    places = st.integers(0, 3)
    n = draw(st.integers(1, 3))
    jobs = [
        Job(
            f"i{i}",
            draw(st.sampled_from([HELD, 0, 1, 2, 3])),
            draw(st.booleans()),
            draw(st.sampled_from([None, 0, 3])),
        )
        for i in range(n)
    ]
    knife = draw(st.sampled_from([HELD, 0, 2]))
    held = sum(job.at == HELD for job in jobs) + (knife == HELD)
    spare = draw(st.integers(0, 1))
    hands = max(n, 2, held + spare)
    return Errands(jobs, knife, spare, hands, draw(places), draw(places), LINE)


@given(errands())
def test_as_cheap_as_brute_force(e: Errands) -> None:
    found = plan_errands(e)
    assert found is not None
    # Things may be put down between two places of interest only by brute force; it never pays.
    assert found[0] == brute_force(e)


def test_the_knife_is_swapped_in_when_hands_are_full() -> None:
    jobs = [Job("carrot", HELD, cut=True), Job("onion", HELD)]
    found = plan_errands(Errands(jobs, 0, 0, 2, 0, 0, LINE))
    assert found is not None
    cost, plan = found
    assert cost == 5
    assert [step.kind for step in plan] == ["drop", "take", "cut", "drop", "take"]


def test_no_way_to_an_appliance_is_no_plan() -> None:
    apart = {0: {0: 0}, 1: {1: 0}}
    assert plan_errands(Errands([Job("egg", HELD, cook_at=1)], None, 0, 9, 0, 0, apart)) is None


@pytest.mark.parametrize(("cut", "cook"), list(product([False, True], repeat=2)))
def test_what_is_in_hand_is_done_on_the_spot(cut: bool, cook: bool) -> None:
    job = Job("carrot", HELD, cut=cut, cook_at=0 if cook else None)
    found = plan_errands(Errands([job], HELD, 0, 9, 0, 0, LINE))
    assert found is not None
    assert found[0] == cut + cook
