"""Our stores pass the kit of stores; broken ones do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from naisei.runs.log import RunLog
from naisei.testing import Kit, StoreKit
from testing_stores import BROKEN, broken, in_a_database, in_a_file


class TestFile(StoreKit):
    def opener(self) -> Callable[..., RunLog]:
        return in_a_file


class _Given(StoreKit):
    def __init__(self, opener: Callable[..., RunLog]) -> None:
        self._opener = opener

    def opener(self) -> Callable[..., RunLog]:
        return self._opener


@pytest.mark.slow
def test_database(request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue("postgres").database()
    assert _Given(partial(in_a_database, address)).failures() == {}


#: The cases that must tell, by the store that is broken so.
TELLING = {
    "Late": "test_writes_are_visible_to_other_objects",
    "Sorted": "test_events_round_trip",
    "Forgiving": "test_a_step_is_stored_once",
    "Open": "test_an_episode_has_one_writer",
    "Generous": "test_outcomes_and_costs",
    "Rounding": "test_events_round_trip",
}


class _Quick(_Given):
    """Without the case that needs another process."""

    def cases(self) -> dict[str, Callable[[], None]]:
        found = super().cases()
        del found["test_appended_events_survive_a_kill"]
        return found


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_store_fails(kind: type[RunLog]) -> None:
    failures = _Quick(broken(kind)).failures()
    assert TELLING[kind.__name__] in failures
    sound = {"test_a_new_log_is_empty", "test_notes"}
    assert not sound & {*failures}, "a kit that fails everything tells nothing"


@pytest.mark.slow
def test_a_store_that_stores_late_loses_what_it_promised_to_a_kill() -> None:
    case = _Given(broken(BROKEN[0])).cases()["test_appended_events_survive_a_kill"]
    with pytest.raises(AssertionError, match="stored"):
        case()


def test_whatever_a_case_raises_is_its_failure() -> None:
    class Mine(Kit):
        def test_one(self) -> None:
            raise KeyError("x")

        def test_two(self) -> None:
            """Passes."""

    assert Mine().failures() == {"test_one": "KeyError: 'x'"}
