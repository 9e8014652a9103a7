"""What a reader guesses from one part of ambigact40-open alone: sheets and scores.

    python tools/readers.py draw --part utterance --seed 1 --out DIR   DIR/sheet.txt, DIR.key.json
    python tools/readers.py score DIR.key.json guesses.jsonl

Where `tools/leakage.py` trains classifiers, here somebody (a person, a strong language model)
reads only the utterances, or only what can be seen, and guesses the hidden intent. A guess is
a line of JSON, best first: {"id": "x001", "guesses": [3, 6, 23]}.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from naisei.clarify.data import Dataset, load
from naisei.clarify.data.records import read_rows, read_text
from naisei.clarify.schemas import Instance
from naisei.core import InputError
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

DATA = "ambigact40-open"
PARTS = ("utterance", "surroundings")
HEAD = """One of these actions is wanted in each case. Guess up to three, best first, as one line of
JSON each: {"id": "x001", "guesses": [3, 6, 23]}
"""


def part_of(instance: Instance, part: str) -> str:
    """All that a reader of this part sees."""
    if part == "utterance":
        return instance.scene.utterance
    return "\n".join(f"* {a}: {'、'.join(t)}" for a, t in instance.scene.surroundings.items())


def draw(data: Dataset, part: str, seed: int) -> dict[str, list[str]]:
    """Anonymous id → instances that look alike in this part, in random order."""
    alike: dict[tuple[str, str], list[str]] = {}
    for i in data.instances:
        alike.setdefault((i.scene_id, part_of(i, part)), []).append(i.id)
    groups = list(alike.values())
    random.Random(seed).shuffle(groups)
    return {f"x{number:03}": ids for number, ids in enumerate(groups, start=1)}


def sheet(data: Dataset, key: dict[str, list[str]], part: str) -> str:
    known = {i.id: i for i in data.instances}
    actions = "\n".join(f"{a.id} {a.text}" for a in data.actions)
    items = "\n\n".join(f"[{name}]\n{part_of(known[ids[0]], part)}" for name, ids in key.items())
    return f"{HEAD}\n{actions}\n\n{items}\n"


def read_guesses(path: Path, wanted: set[str], actions: Sequence[int]) -> dict[str, list[int]]:
    """Raises InputError: an unknown id or action, an item guessed twice or not at all."""
    found: dict[str, list[int]] = {}
    for row in read_rows(path):
        name, guesses = str(row.fields.get("id")), row.fields.get("guesses")
        if name not in wanted or name in found:
            raise InputError(
                f"{name!r} is {'a second time here' if name in found else 'no id of the key'}",
                place=row.place,
                remedy="guess each item of the sheet once",
            )
        if not isinstance(guesses, list) or not guesses or any(g not in actions for g in guesses):
            raise InputError(
                f"guesses is {guesses!r}",
                place=row.place,
                remedy="give a list of action ids, best first, such as [3, 6, 23]",
            )
        found[name] = guesses
    if missing := sorted(wanted - set(found)):
        raise InputError(
            f"{len(missing)} items have no guess, such as {missing[0]}",
            place=str(path),
            remedy="guess every item",
        )
    return found


def score(
    data: Dataset, key: dict[str, list[str]], guesses: dict[str, list[int]]
) -> list[tuple[str, Metric, Metric]]:
    """Group, top-1 and top-3 over instances; 95 % intervals resample scenes.

    Instances that the data no longer hold are left out.
    """
    known = {i.id: i for i in data.instances}
    cases = [
        (known[one], guesses[name]) for name, ids in key.items() for one in ids if one in known
    ]
    rows = []
    for group, least, most in (("all", 0, 99), ("one plausible", 0, 1), ("several", 2, 99)):
        some = [(i, g) for i, g in cases if least <= len(i.plausible) <= most]
        scenes = [i.scene_id for i, _ in some]
        top = [
            mean_metric(
                f"top-{k}", [float(i.gold in g[:k]) for i, g in some], clusters=scenes, share=True
            )
            for k in (1, 3)
        ]
        rows.append((f"{group} ({len(some)})", top[0], top[1]))
    return rows


def _draw(options: argparse.Namespace) -> None:
    data = load(options.data, split="all")
    key = draw(data, options.part, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "sheet.txt").write_text(sheet(data, key, options.part), "utf-8")
    made = {"part": options.part, "digest": data.digest, "seed": options.seed, "items": key}
    options.out.with_name(f"{options.out.name}.key.json").write_text(
        json.dumps(made, indent=1) + "\n", "utf-8"
    )


def _score(options: argparse.Namespace) -> None:
    data = load(options.data, split="all")
    key = json.loads(read_text(options.key))["items"]
    guesses = read_guesses(options.guesses, set(key), data.actions.ids)
    print("| instances | top-1 | top-3 |\n|---|---|---|")
    for group, *metrics in score(data, key, guesses):
        cells = [f"{m.value:.1%} [{m.low:.1%}, {m.high:.1%}]" for m in metrics]
        print(f"| {group} | {' | '.join(cells)} |".replace("%", " %"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=DATA, help="a data set or a path")
    verbs = parser.add_subparsers(required=True, metavar="draw | score")
    one = verbs.add_parser("draw", help="write a sheet and its key")
    one.add_argument("--part", choices=PARTS, required=True)
    one.add_argument("--seed", type=int, required=True)
    one.add_argument("--out", type=Path, required=True, help="folder of the sheet")
    one.set_defaults(act=_draw)
    two = verbs.add_parser("score", help="how often the hidden intent was guessed")
    two.add_argument("key", type=Path)
    two.add_argument("guesses", type=Path)
    two.set_defaults(act=_score)
    options = parser.parse_args(arguments)
    try:
        options.act(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
