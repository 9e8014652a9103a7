"""Whole commands, and a server of pages, killed before some of their writes.

All are tried by `python -m benchmarks.attack commands talks`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.attack.commands import COMMANDS, tried, whole

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
]


@pytest.mark.parametrize("name", ["clarify run", "intent index", "emphasis train crf"])
def test_the_same_command_goes_on(name: str, tmp_path: Path) -> None:
    undisturbed = whole(COMMANDS[name], tmp_path)
    n = len(undisturbed.writes)
    assert n > 10
    for number in (n // 3, n // 2, n - 2):
        assert tried(undisturbed, [number, number // 2]) == "", undisturbed.writes[number]
