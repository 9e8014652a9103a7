"""A disk that is full, and a lock, at statements of a log: told, nothing half, and it goes on.

All statements are tried by `python -m benchmarks.attack faults`.
"""

from __future__ import annotations

import pytest
from benchmarks.attack.faults import Fault, statements, tried


@pytest.fixture(scope="module")
def all_statements() -> int:
    return statements()


@pytest.mark.parametrize("part", [0.1, 0.4, 0.6, 0.7, 0.97])
@pytest.mark.parametrize("undoes", [False, True])
def test_the_same_process_goes_on(all_statements: int, part: float, undoes: bool) -> None:
    """With four in a row, ROLLBACK and opening again fail, too."""
    for length in (1, 4):
        fault = Fault("full", int(all_statements * part), length, undoes=undoes)
        assert tried(fault) == "", fault
        assert fault.at, "nothing failed"


def test_a_statement_that_is_refused_as_locked_is_tried_again(all_statements: int) -> None:
    for first in range(30, 38):
        fault = Fault("busy", first)
        assert tried(fault) == "", fault
