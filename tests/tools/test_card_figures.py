"""tools/card_figures.py: figures between the marks are those that their commands print."""

from __future__ import annotations

import pytest

from checkout import tool

FIGURES = tool("card_figures")
PRINTED = "sign 0.8478 [0.681, 0.936] where told, 46 of 99; share 0.978; gap -0.0078"


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("0.85 [0.68, 0.94], 46 of 99", []),
        ("97.8 % and −0.008", []),
        ("99 のうち 46", []),
        ("v1.2 of e5-0.1 is no figure", []),
        ("0.82, 51 of 99", ["0.82", "51 of 99"]),
        ("97.1 %", ["97.1 %"]),
    ],
)
def test_a_figure_is_rounded_from_one_that_was_printed(text: str, lost: list[str]) -> None:
    assert FIGURES.missing(text, PRINTED) == lost


def test_pages_mark_their_figures_and_commands_are_known() -> None:
    found = list(FIGURES.blocks())
    assert len({page for page, *_ in found}) >= 5
    for _, commands, text in found:
        assert list(FIGURES.numbers(text))
        assert {c.split()[0] for c in commands.split("&&")} <= {"python", "naisei"}


@pytest.mark.slow
def test_cards_say_what_their_commands_print(capfd: pytest.CaptureFixture[str]) -> None:
    assert FIGURES.main([]) == 0, capfd.readouterr().out
