"""The two languages of the site belong together, and their reference is complete."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import tool
from docs.pages import ROOT

DOCS = ROOT / "docs"
#: What the site is made of in both languages; the topics and design notes are English alone.
MIRRORED = sorted(
    path.relative_to(DOCS)
    for pattern in ("index.md", "footguns.md", "cli.md", "*/*.md")
    for path in DOCS.glob(pattern)
    if path.parent.name in ("docs", "tutorial", "howto", "papers", "reference")
)


@pytest.mark.parametrize("page", MIRRORED, ids=str)
def test_every_page_is_in_both_languages(page: Path) -> None:
    english, japanese = (DOCS / page).read_text("utf-8"), (DOCS / "ja" / page).read_text("utf-8")
    if page.name in ("index.md", "footguns.md", "configuration.md", "data.md", "hosting.md"):
        return  # laid out for their readers
    heads = [len(re.findall(r"^##+ ", _prose(text), re.MULTILINE)) for text in (english, japanese)]
    assert heads[0] == heads[1]


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["papers", "ja/papers"])
def test_figures_are_the_same_in_both_languages(page: str) -> None:
    """The tables of papers hold the same numbers, row by row."""
    for path in sorted((DOCS / page).glob("*.md")):
        other = DOCS / "papers" / path.name
        rows = [
            [re.findall(r"[+−]?\d+\.\d+", line) for line in p.read_text("utf-8").splitlines()
             if line.startswith("|")]
            for p in (path, other)
        ]  # fmt: skip
        assert rows[0] == rows[1], path.name


def test_every_variable_is_described() -> None:
    read = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\bNAISEI_[A-Z_]+\b", path.read_text("utf-8"))
    }
    for page in ("reference/environment.md", "ja/reference/environment.md"):
        assert set(re.findall(r"NAISEI_[A-Z_]+", (DOCS / page).read_text("utf-8"))) == read, page


def test_modules_of_the_reference_say_what_is_public() -> None:
    pages = sorted((DOCS / "reference" / "api").glob("*.md"))
    names = [
        name
        for page in pages
        for name in re.findall(r"automodule:: (\S+)", page.read_text("utf-8"))
    ]
    assert len(names) > 30
    for name in names:
        module = importlib.import_module(name)
        assert module.__doc__ and [n for n in vars(module) if not n.startswith("_")], name


def test_our_figures_are_those_of_the_topics() -> None:
    """A figure with an interval stands in the page that says how it was measured, too."""
    cards = [path for top in ("src", "plugins") for path in sorted((ROOT / top).rglob("README.md"))]
    measured = sorted(DOCS.glob("*.md")) + cards
    known = "\n".join(page.read_text("utf-8") for page in measured)
    stale = [
        f"{page.relative_to(ROOT)}: {figure}"
        for page in sorted(DOCS.glob("papers/*.md"))
        for figure in re.findall(r"[+−]?\d[\d.]* \[[^\]]*\d\]", page.read_text("utf-8"))
        if figure not in known
    ]
    assert stale == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning_or_a_broken_link(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs the extra docs")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build_docs.py"), "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    commands = tool("cli_reference").commands
    for language in ("en", "ja"):
        page = (tmp_path / language / "cli.html").read_text("utf-8")
        assert set(re.findall(r"<h[23]>([a-z -]+)<", page)) == {n for n, _, _ in commands()}
    search = (tmp_path / "ja" / "_static" / "language_data.js").read_text("utf-8")
    assert "splitQuery" in search
    index = (tmp_path / "ja" / "searchindex.js").read_text("utf-8")
    terms = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["terms"]
    assert {"関係", "係値", "値内", "内省"} <= set(terms)
