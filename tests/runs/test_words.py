"""Headings of tables in the reader's language; files for machines keep the English ones."""

from __future__ import annotations

import pytest
from rich.console import Console

from naisei.cli.printing import print_tables
from naisei.runs.tables import to_csv, to_markdown
from naisei.runs.task import Table
from naisei.runs.words import worded

TABLE = Table(
    "Difference from full (row − full)",
    ("metric", "difference", "low", "high", "n"),
    (("won", 0.5, 0.1, 0.9, 4),),
)


@pytest.mark.parametrize(
    ("heading", "japanese"),
    [
        ("Tokens by role", "役割別のトークン"),
        ("Difference from no-tur (row − no-tur)", "no-tur との差（各行 − no-tur）"),
        ("difference [95 %]", "差 [95 %]"),
        ("value low", "値 下限"),
        ("pass@1 high", "pass@1 上限"),
        ("recall@5", "recall@5"),
    ],
)
def test_a_heading_in_both_languages(
    heading: str, japanese: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_LANG", "ja")
    assert worded(heading) == japanese
    monkeypatch.setenv("NAISEI_LANG", "en")
    assert worded(heading) == heading


def test_only_what_is_looked_at_is_worded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAISEI_LANG", "ja")
    console = Console(record=True, width=80)
    with console.capture() as captured:
        print_tables([TABLE], console)
    assert "full との差" in captured.get() and "差 [95 %]" in captured.get()
    for text in (to_csv(TABLE), to_markdown(TABLE)):
        assert "metric" in text and "差" not in text
