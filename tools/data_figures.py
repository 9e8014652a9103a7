"""The counts in ambigact40-open's data card: python tools/data_figures.py.

Prints the tables of `src/naisei/data/ambigact40_open/README.md` as Markdown: counts by split
and by part, hidden intents and plausible actions. What gives the intent away is measured by
`tools/leakage.py`, agreement with blind labellers by `tools/blind.py`.
"""

from __future__ import annotations

import argparse
import json
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
        "commonest": round(max(of.values()) / len(instances), 3),
    }


def kinds(instances: Sequence[Instance], field: str) -> dict[str, int]:
    return dict(sorted(Counter(str(getattr(i, field)) for i in instances).items()))


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    data = load("ambigact40-open", split="all")
    print("\n".join(counts(data.instances)), end="\n\n")
    print("\n".join(parts(data.instances)), end="\n\n")
    print(json.dumps(golds(data.instances, data.actions)))
    print(json.dumps(kinds(data.instances, "ambiguity")))
    print(json.dumps(kinds(data.instances, "speaker")))


if __name__ == "__main__":
    main()
