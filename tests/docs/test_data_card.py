"""The figures in the data card are those of the data and of the labels."""

from __future__ import annotations

import json

import pytest

from checkout import tool
from docs.pages import ROOT
from naisei.clarify.data import load
from naisei.runs.task import Metric

CARD = (ROOT / "src/naisei/data/ambigact40_open/README.md").read_text("utf-8")
DATA = load("ambigact40-open", split="all")


FIGURES = tool("data_figures")


def test_counts_are_those_of_the_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["data_figures"])
    FIGURES.main()
    assert capsys.readouterr().out in CARD
    scenes = {i.scene_id for i in DATA.instances}
    assert f"{len(DATA)} instances in {len(scenes)} scenes" in CARD


LABELS = ROOT / "annotations" / "ambigact40_open"


def _cells(metric: Metric) -> str:
    return f"{metric.value:.1%} [{metric.low:.1%}, {metric.high:.1%}]".replace("%", " %")


def test_blind_labels_score_as_quoted() -> None:
    blind, folder = tool("blind"), LABELS / "blind-150"
    data = load(folder / "drawn.jsonl")
    assert len(data) == 150
    found = blind.report(
        data,
        blind.read_key(folder / "key.json", data),
        [folder / "pass1.jsonl", folder / "pass2.jsonl"],
    )
    columns = [line.split(" | ", 1)[1] for line in found.splitlines() if line.startswith("| gold")]
    alphas = [line.split(": ")[1] for line in found.splitlines() if line.startswith("- α")]
    assert len(columns) == 1
    assert len(alphas) == 4
    for said in (*columns, *alphas):
        assert said in CARD, said


@pytest.mark.parametrize("part", ["utterance", "surroundings"])
def test_readers_guesses_score_as_quoted(part: str) -> None:
    readers = tool("readers")
    key = json.loads((LABELS / "parts" / f"{part}.key.json").read_text("utf-8"))["items"]
    guesses = readers.read_guesses(LABELS / "parts" / f"{part}.jsonl", set(key), DATA.actions.ids)
    (_, one, three), *_ = readers.score(DATA, key, guesses)
    assert f"| {_cells(one)} | {_cells(three)} |" in CARD
