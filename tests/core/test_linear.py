"""Readers of text of others take time in proportion to it."""

from __future__ import annotations

import os
from random import Random

import pytest

from linear import ENTRIES, UNITS, Entry, growth
from naisei.text_files import csv_cell

#: What was once not so, and is quick to try; all units are tried by the slow test.
_ONCE = {
    "japanese.dates.version_of": (".1", "1.2"),
    "japanese.dates.work_name": (".1",),
    "politeness.name_parts": ("（", "(", " "),
    "retrieval a.md": ("あ[", "[", "--\n", "<!--"),
    "retrieval title": (".1",),
    "terminal.visible": ("\x9d", "\x1b]"),
    "emphasis.markdown": ("--\n", "#\n"),
    "japanese.content_preservation.quantities": ("1",),
}


@pytest.mark.parametrize(
    ("entry", "unit"),
    [(entry, unit) for entry in ENTRIES for unit in _ONCE.get(entry.name, ())],
    ids=lambda given: repr(getattr(given, "name", given)),
)
def test_what_once_looked_back_again_and_again(entry: object, unit: str) -> None:
    assert growth(entry, unit) is None  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_reader_of_text_is_linear(entry: Entry) -> None:
    # All of them (LINEAR_ALL=1) take an hour.
    units = UNITS if os.environ.get("LINEAR_ALL") else Random(entry.name).sample(UNITS, 6)
    slow = [found for unit in units if (found := growth(entry, unit))]
    assert not slow


@pytest.mark.parametrize(
    ("given", "written"),
    [("=1+1", "'=1+1"), ("@a", "'@a"), ("\tx", "'\tx"), ("＝cmd|", "'＝cmd|")]
    + [(same, same) for same in ("-1.5", "+3", "1e9", "a=b", "", -2, None, "日当")],
)
def test_no_cell_is_a_formula(given: object, written: object) -> None:
    assert csv_cell(given) == written
