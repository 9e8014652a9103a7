"""CITATION.cff has what readers of the Citation File Format need, and names the papers' sources."""

from __future__ import annotations

import tomllib

import yaml

from checkout import ROOT
from naisei import __version__

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
SOURCES = ROOT / "src" / "naisei" / "data" / "sources"


def test_it_has_the_keys_that_the_format_requires() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= CITATION.keys()
    assert CITATION["version"] == __version__
    for reference in CITATION["references"]:
        assert {"type", "title", "authors"} <= reference.keys()


def test_every_source_that_can_be_reproduced_is_a_reference() -> None:
    cited = {reference["title"] for reference in CITATION["references"]}
    for file in SOURCES.glob("*.toml"):
        bibtex = tomllib.loads(file.read_text("utf-8"))["bibtex"]
        plain = bibtex.replace("{", "").replace("}", "")
        assert any(title in plain for title in cited), file.name
