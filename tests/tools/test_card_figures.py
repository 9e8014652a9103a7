"""tools/card_figures.py: figures between the marks are those that their commands print."""

from __future__ import annotations

import re

import pytest

from checkout import tool

FIGURES = tool("card_figures")
MARK = r"(?s)<!-- (figures|printed): (.+?) -->(.*?)<!-- /"
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
    marks = [mark for page in FIGURES.pages() for mark in re.findall(MARK, page.read_text("utf-8"))]
    assert {kind for kind, *_ in marks} == {"figures", "printed"}
    for kind, commands, text in marks:
        assert list(FIGURES.numbers(text)) or kind == "printed"
        assert {c.split()[0] for c in commands.split("&&")} <= {"python", "naisei"}


def test_what_a_command_prints_takes_the_place_of_what_stood_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FIGURES, "printed", lambda command: f"{command}: 0.5\n")
    page = "a\n<!-- printed: naisei x -->\n0.4\n<!-- /printed -->\nb"
    now = FIGURES.remade(page)
    assert now == page.replace("0.4", "naisei x: 0.5")
    assert FIGURES.remade(now) == now
    quoted = "<!-- figures: naisei y && naisei z -->0.51, 0.5<!-- /figures -->"
    assert list(FIGURES.unprinted(quoted)) == ["not printed by naisei y && naisei z: 0.51"]


@pytest.mark.slow
def test_cards_say_what_their_commands_print(capfd: pytest.CaptureFixture[str]) -> None:
    assert FIGURES.main(["--check"]) == 0, capfd.readouterr().out
