"""Every command that a tutorial or a how-to shows is run, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.console import matches, run_page, steps
from docs.pages import PAGES, ROOT

WITH_CONSOLE = [
    page
    for page in PAGES
    if page.parent.name in ("tutorial", "howto") and any(step.command for step in steps(page))
]
JAPANESE = [page for page in WITH_CONSOLE if "ja" in page.relative_to(ROOT).parts]
ENGLISH = [page for page in WITH_CONSOLE if page not in JAPANESE]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT / "docs"))


@pytest.mark.parametrize("page", JAPANESE, ids=_name)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    assert list(run_page(page, tmp_path, language="ja", slow=False)) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", JAPANESE, ids=_name)
def test_slow_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    assert list(run_page(page, tmp_path, language="ja", slow=True)) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", ENGLISH, ids=_name)
def test_commands_in_english(page: Path, tmp_path: Path) -> None:
    assert list(run_page(page, tmp_path, language="en", slow=True)) == []


@pytest.mark.parametrize("page", ENGLISH, ids=_name)
def test_both_languages_run_the_same(page: Path) -> None:
    """Names of files and of data, and words to the program, may differ; what is called may not."""
    other = ROOT / "docs" / "ja" / page.relative_to(ROOT / "docs")
    here, there = ([_called(s.command) for s in steps(p) if s.command] for p in (page, other))
    assert here == there


def _called(command: str) -> list[list[str]]:
    """The program and sub-commands of each part of a pipe."""
    parts = [part.split() for part in command.split("|")]
    return [words[:3] if words[0] == "naisei" else words[:1] for words in parts]


def test_a_page_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- file: a.txt -->\n```text\none\ntwo\n```\n\n```console\n$ cat a.txt\none\ntwo\n"
        "$ cat a.txt\n…\ntwo\n$ cat a.txt\none\n```\n\n"
        "<!-- exit: 3 -->\n```console\n$ exit 3\n$ exit 3\n```\n",
        encoding="utf-8",
    )
    wrong = list(run_page(page, tmp_path / "folder", language="ja", slow=False))
    assert [text.split(":")[1] for text in wrong] == ["14", "20"]
    assert matches("a … c", "a b c")
    assert not matches("a … c", "a b d")
    assert matches("…", "")
