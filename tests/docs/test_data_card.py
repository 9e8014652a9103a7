"""The counts in the data card are those of the data."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from docs.pages import ROOT
from naisei.clarify.data import load

CARD = (ROOT / "src/naisei/data/ambigact40_open/README.md").read_text("utf-8")
DATA = load("ambigact40-open", split="all")


def _figures() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "data_figures", ROOT / "tools" / "data_figures.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_of_counts() -> None:
    figures = _figures()
    for row in [*figures.counts(DATA.instances), *figures.parts(DATA.instances)]:
        assert row in CARD.splitlines()


def test_counts_in_the_text() -> None:
    golds = _figures().golds(DATA.instances, DATA.actions)
    scenes = {i.scene_id for i in DATA.instances}
    for said in (
        f"{len(DATA)} instances in {len(scenes)} scenes",
        f"the gold of {golds['fewest']} to {golds['most']} instances",
        f"{golds['golds_in_train']} of the 40 occur as gold in train",
        f"{golds['golds_in_dev']} in dev",
        f"{golds['plausible']:.1f} plausible actions on average",
        f"{golds['chance_in_plausible']:.0%}".replace("%", " %") + " of first tries",
        f"commonest action: {golds['commonest']:.1%}".replace("%", " %"),
    ):
        assert said in CARD, said
