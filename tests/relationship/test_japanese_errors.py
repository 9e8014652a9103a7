"""Errors of relationship reflection in the reader's language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from both_languages import Wrong, said_in_both
from naisei.relationship.pairs import PersonasOptions, personas_command, shipped
from naisei.relationship.plot import draw

_WRONG: tuple[Wrong, ...] = (
    (lambda: personas_command(PersonasOptions(name="nobody")),
     "unknown pair 'nobody'", f"use one of {', '.join(shipped())}"),
    (lambda: draw([], [Path("a.xyz")]), "no picture format '.xyz'", "end the name in .png, .svg, "
     ".pdf"),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)
