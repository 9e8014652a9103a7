"""The counts in ambigact40-open's data card: python tools/data_figures.py.

Prints that part of `src/naisei/data/ambigact40_open/README.md`: counts by split and by part,
hidden intents and plausible actions. What gives the intent away is measured by
`tools/leakage.py`, agreement with blind labellers by `tools/blind.py`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

import numpy as np

from naisei.clarify.data import load
from naisei.clarify.schemas import ActionSet, Instance

SPLITS = ("train", "dev", "test", "all")


def counts(instances: Sequence[Instance]) -> list[str]:
    """A row a split: instances, scenes, utterances, share with two or more plausible actions."""
    rows = []
    for split in SPLITS:
        some = [i for i in instances if split in ("all", i.split)]
        scenes, said = {i.scene_id for i in some}, {i.scene.utterance for i in some}
        many = sum(len(i.plausible) >= 2 for i in some) / len(some)
        rows.append(f"| {split} | {len(some)} | {len(scenes)} | {len(said)} | {many:.0%} |")
    return [row.replace("%", " %") for row in rows]


def parts(instances: Sequence[Instance]) -> list[str]:
    """A row a part: its letter, instances, scenes."""
    rows = []
    for letter in sorted({i.id[0] for i in instances}):
        some = [i for i in instances if i.id[0] == letter]
        rows.append(f"| {letter.upper()} | {len(some)} | {len({i.scene_id for i in some})} |")
    return rows


def golds(instances: Sequence[Instance], actions: ActionSet) -> dict[str, float]:
    """How the hidden intents are spread, and what knowing the plausible set would give."""
    of = Counter(i.gold for i in instances)
    by_split = {
        f"golds_in_{split}": len({i.gold for i in instances if i.split == split})
        for split in ("train", "dev", "test")
    }
    return {
        "fewest": min(of[a] for a in actions.ids),
        "most": max(of.values()),
        **by_split,
        "plausible": round(float(np.mean([len(i.plausible) for i in instances])), 2),
        "chance_in_plausible": round(float(np.mean([1 / len(i.plausible) for i in instances])), 3),
    }


def listed(instances: Sequence[Instance], field: str) -> str:
    """A label's values with their counts, the commonest first."""
    found = Counter(str(getattr(i, field)) for i in instances)
    return ", ".join(f"{k} {n}" for k, n in sorted(found.items(), key=lambda x: (-x[1], x[0])))


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    data = load("ambigact40-open", split="all")
    some = data.instances
    found = golds(some, data.actions)
    share = f"{found['chance_in_plausible']:.0%}".replace("%", " %")
    print(
        "| split | instances | scenes | utterances | with ≥ 2 plausible actions |",
        "|---|---|---|---|---|",
        *counts(some),
        "",
        f"It was written in {len(parts(some))} parts; an id begins with the letter of its part.",
        "",
        "| part | instances | scenes |",
        "|---|---|---|",
        *parts(some),
        "",
        f"Each action is the gold of {found['fewest']} to {found['most']} instances; "
        f"{found['golds_in_train']} of the {len(data.actions.ids)} occur as gold in train, "
        f"{found['golds_in_dev']} in dev, {found['golds_in_test']} in test. "
        f"Kinds: {listed(some, 'ambiguity')}. Speakers: {listed(some, 'speaker')}. "
        f"An utterance has {found['plausible']:.1f} plausible actions on average: whoever knew "
        f"the plausible set and drew from it would be right in {share} of first tries.",
        sep="\n",
    )


if __name__ == "__main__":
    main()
