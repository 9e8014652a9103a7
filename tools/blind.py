"""Blind labels for ambigact40-open: draw a sheet for labellers, score what they mark.

    python tools/blind.py draw --seed 1 --n 150 --out DIR    writes DIR/sheet.txt, DIR.key.json
    python tools/blind.py score DIR.key.json one.jsonl two.jsonl

A labeller sees the sheet alone: utterance, user, surroundings and the 40 actions, under
anonymous ids in random order. Drawn instances of one scene with one utterance look alike to
a labeller and stand on the sheet once. A label is a line of JSON:

    {"id": "x001", "marks": [3, 6], "best": 6, "note": "free text, if any"}

marks: every action that a considerate helper might take; best: the one to take first, among
them (null without marks).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from naisei.clarify.data import Dataset, load
from naisei.clarify.data.records import read_rows, read_text
from naisei.clarify.schemas import Instance, Scene
from naisei.core import InputError
from naisei.runs.significance import krippendorff_alpha
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

DATA = "ambigact40-open"

HEAD = """# 盲検ラベル付け / Blind labelling

家庭用ロボットがひとことを聞きました。下の 40 の行動からちょうど一つを実行できます。
発話と状況だけを手がかりに、気の利いた手伝いならしてよい行動をすべて選び（marks）、
最初に取る行動をその中から一つ選んでください（best）。1 件につき JSON を 1 行で書きます：
{"id": "x001", "marks": [3, 6], "best": 6, "note": "任意 / optional"}

A robot at home hears what someone says and can take exactly one of the 40 actions below.
From the words and the context alone, mark every action that a considerate helper might take
(marks), and among them the one to take first (best). One line of JSON each, as above.
"""


@dataclass(frozen=True)
class Item:
    """One entry of a sheet: the drawn instances that look like it, the first for the rest."""

    id: str
    instances: tuple[Instance, ...]

    @property
    def plausible(self) -> frozenset[int]:
        return frozenset(self.instances[0].plausible)

    @property
    def scene(self) -> str:
        return self.instances[0].scene_id


@dataclass(frozen=True)
class Label:
    """What one labeller says of one item."""

    marks: frozenset[int]
    best: int | None
    note: str = ""


def draw(data: Dataset, *, seed: int, n: int) -> dict[str, list[str]]:
    """Anonymous id → ids of drawn instances: `n` at random, alike ones together."""
    if not 1 <= n <= len(data):
        raise InputError(f"n is {n}", place="--n", remedy=f"use 1 to {len(data)}")
    chance = random.Random(seed)
    chosen = set(chance.sample([i.id for i in data.instances], n))
    alike: dict[tuple[str, str], list[str]] = {}
    for i in data.instances:
        if i.id in chosen:
            alike.setdefault((i.scene_id, i.scene.utterance), []).append(i.id)
    groups = list(alike.values())
    chance.shuffle(groups)
    return {f"x{number:03}": ids for number, ids in enumerate(groups, start=1)}


def shown(scene: Scene) -> str:
    """All that a labeller sees of an item."""
    u, none = scene.user, "なし" if scene.language == "ja" else "nothing"
    comma = "、" if scene.language == "ja" else ", "
    names = (
        ("場所", "姿勢", "時刻", "手に持つ物", "手の届く物", "ほかにいる人")
        if scene.language == "ja"
        else ("place", "posture", "time", "holding", "within reach", "others present")
    )
    said = (u.place, u.posture, u.time, *(comma.join(t) for t in (u.holding, u.reach, u.company)))
    lines = [f"「{scene.utterance}」" if scene.language == "ja" else f'"{scene.utterance}"']
    lines += [f"- {name}: {value or none}" for name, value in zip(names, said, strict=True)]
    lines += [f"* {area}: {comma.join(things)}" for area, things in scene.surroundings.items()]
    return "\n".join(lines)


def sheet(data: Dataset, key: dict[str, list[str]]) -> str:
    scenes = {i.id: i.scene for i in data.instances}
    actions = "\n".join(f"{a.id} {a.text}" for a in data.actions)
    items = "\n\n".join(f"[{name}]\n{shown(scenes[ids[0]])}" for name, ids in key.items())
    return f"{HEAD}\n{actions}\n\n{items}\n"


def read_key(path: Path, data: Dataset) -> list[Item]:
    """Raises InputError: no key file, or an instance that the data do not have."""
    try:
        entries = json.loads(read_text(path))["items"]
        pairs = [(str(name), [str(i) for i in ids]) for name, ids in entries.items()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "this is no key file", place=str(path), remedy="give the one written by `blind.py draw`"
        ) from error
    known = {i.id: i for i in data.instances}
    items = []
    for name, ids in pairs:
        gone = [i for i in ids if i not in known]
        if gone or not ids:
            raise InputError(
                f"unknown instances: {', '.join(gone) or 'none at all'}",
                place=f"{path}: {name}",
                remedy=f"use the key with the data it was drawn from ({DATA})",
            )
        items.append(Item(name, tuple(known[i] for i in ids)))
    return items


def read_labels(path: Path, items: Sequence[Item], actions: Sequence[int]) -> dict[str, Label]:
    """One label for every item.

    Raises:
        InputError: a broken line, an unknown id or action, an item labelled twice or not.
    """
    wanted = {item.id for item in items}
    labels: dict[str, Label] = {}
    for row in read_rows(path):
        name = str(row.fields.get("id"))
        if name not in wanted:
            raise InputError(
                f"unknown id {name!r}", place=row.place, remedy="use the ids of the sheet"
            )
        if name in labels:
            raise InputError(f"{name} comes twice", place=row.place, remedy="keep one line of them")
        labels[name] = _label(row.fields, row.place, actions)
    if missing := sorted(wanted - set(labels)):
        few = ", ".join(missing[:10]) + (" …" if len(missing) > 10 else "")
        raise InputError(
            f"{len(missing)} items have no label: {few}",
            place=str(path),
            remedy="label every item; marks may be []",
        )
    return labels


def _label(fields: dict[str, Any], place: str, actions: Sequence[int]) -> Label:
    marks, best = fields.get("marks"), fields.get("best")
    if not isinstance(marks, list) or any(type(m) is not int or m not in actions for m in marks):
        raise InputError(
            f"marks is {marks!r}", place=place, remedy="give a list of action ids, such as [3, 6]"
        )
    if len(set(marks)) < len(marks):
        raise InputError("an action is marked twice", place=place, remedy="keep one of them")
    if best not in (marks or [None]) or isinstance(best, bool):
        raise InputError(
            f"best is {best!r}",
            place=place,
            remedy="give one of the marks" if marks else "leave it out, or null, without marks",
        )
    return Label(frozenset(marks), best, str(fields.get("note") or ""))


Sets = Sequence[Collection[Hashable]]


def masi_distance(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """1 − MASI: how far two sets are apart, in [0, 1] (Passonneau 2006, LREC).

    MASI is Jaccard's index times 1 for equal sets, 2/3 where one holds the other, 1/3 where
    they overlap, 0 where they share nothing. Two empty sets are equal.
    """
    x, y = set(a), set(b)
    if x == y:
        return 0.0
    shared = x & y
    kind = 2 / 3 if shared in (x, y) else 1 / 3
    return 1.0 - kind * len(shared) / len(x | y)


def set_precision(
    marks: Sets,
    truth: Sets,
    *,
    average: Literal["micro", "items"] = "micro",
    clusters: Sequence[Hashable] | None,
    name: str = "precision",
) -> Metric:
    """The share of marks that are in the truth, with its 95 % interval.

    marks, truth: a set for each item, in the same order. micro: over all marks together,
    `Metric.n` of them. items: the mean of every item's share, over the `n` items that have
    marks at all. clusters: what the items belong to; `None`: each is its own. NaN without a mark.
    """
    labels = list(range(len(marks))) if clusters is None else list(clusters)
    hits = [
        [float(m in right) for m in dict.fromkeys(given)]
        for given, right in zip(marks, truth, strict=True)
    ]
    pairs = list(zip(labels, hits, strict=True))
    if average == "items":
        pairs = [(label, [sum(own) / len(own)]) for label, own in pairs if own]
    return mean_metric(
        name,
        [hit for _, own in pairs for hit in own],
        clusters=[label for label, own in pairs for _ in own],
        share=True,
        reason="no item has a mark",
    )


def set_recall(
    marks: Sets,
    truth: Sets,
    *,
    average: Literal["micro", "items"] = "micro",
    clusters: Sequence[Hashable] | None,
    name: str = "recall",
) -> Metric:
    """The share of the truth that was marked: `set_precision` with its sides changed."""
    found = set_precision(truth, marks, average=average, clusters=clusters, name=name)
    if not found.n:
        return Metric(name, float("nan"), reason="no item has anything to find")
    return found


def of_labeller(items: Sequence[Item], labels: dict[str, Label]) -> list[Metric]:
    """How one labeller's marks fit the data. Scenes are the clusters."""
    cases = [(i, labels[item.id], item.scene) for item in items for i in item.instances]
    marks, truth = [labels[item.id].marks for item in items], [item.plausible for item in items]
    scenes = [item.scene for item in items]

    def share(name: str, right: Callable[[Instance, Label], bool], *, several: bool) -> Metric:
        some = [c for c in cases if len(c[0].plausible) >= 2 or not several]
        return mean_metric(
            name,
            [float(right(i, label)) for i, label, _ in some],
            clusters=[s for *_, s in some],
            share=True,
        )

    return [
        share("gold among the marks", lambda i, label: i.gold in label.marks, several=False),
        share(
            "another plausible action among the marks (scenes with several)",
            lambda i, label: bool(label.marks & (set(i.plausible) - {i.gold})),
            several=True,
        ),
        share("best guess is the gold", lambda i, label: label.best == i.gold, several=False),
        share("best guess is plausible", lambda i, label: label.best in i.plausible, several=False),
        set_precision(marks, truth, clusters=scenes, name="precision, micro"),
        set_precision(marks, truth, average="items", clusters=scenes, name="precision, by item"),
        set_recall(marks, truth, clusters=scenes, name="recall, micro"),
        set_recall(marks, truth, average="items", clusters=scenes, name="recall, by item"),
    ]


def agreement(
    coders: Sequence[Sequence[frozenset[int]]],
    actions: Sequence[int],
    scenes: Sequence[Hashable],
    who: str,
) -> list[Metric]:
    """Krippendorff's α over item × action, marked or not, and over sets by MASI."""
    units = list(zip(*coders, strict=True))
    binary = [[action in marks for marks in unit] for unit in units for action in actions]
    drawn = [scene for scene in scenes for _ in actions]
    return [
        krippendorff_alpha(binary, clusters=drawn, name=f"α, item × action, {who}"),
        krippendorff_alpha(
            units, distance=masi_distance, clusters=scenes, name=f"α, sets (MASI), {who}"
        ),
    ]


@dataclass(frozen=True)
class Disputed:
    """What the labellers see otherwise than the data.

    golds: instances whose gold nobody marked. unmarked: plausible actions that nobody
    marked, by item. added: actions that everybody marked and that are not plausible.
    """

    golds: tuple[str, ...]
    unmarked: dict[str, tuple[int, ...]]
    added: dict[str, tuple[int, ...]]


def disputed(items: Sequence[Item], labels: Sequence[dict[str, Label]]) -> Disputed:
    golds: list[str] = []
    unmarked, added = {}, {}
    for item in items:
        marks = [own[item.id].marks for own in labels]
        anyone, everyone = frozenset.union(*marks), frozenset.intersection(*marks)
        names = ", ".join(i.id for i in item.instances)
        golds += [i.id for i in item.instances if i.gold not in anyone]
        if lost := item.plausible - anyone:
            unmarked[names] = tuple(sorted(lost))
        if more := everyone - item.plausible:
            added[names] = tuple(sorted(more))
    return Disputed(tuple(golds), unmarked, added)


def figure(metric: Metric) -> str:
    """A value with its interval, as a share if it is one."""
    if metric.value != metric.value:
        return f"– ({metric.reason})"
    if metric.name.startswith("α"):
        return f"{metric.value:.3f} [{metric.low:.3f}, {metric.high:.3f}]"
    return f"{metric.value:.1%} [{metric.low:.1%}, {metric.high:.1%}]".replace("%", " %")


def report(data: Dataset, items: Sequence[Item], files: Sequence[Path]) -> str:
    """Markdown: figures of each labeller, agreement, and what to look at again."""
    ids, scenes = data.actions.ids, [item.scene for item in items]
    labels = [read_labels(file, items, ids) for file in files]
    columns = [of_labeller(items, own) for own in labels]
    coders = [[own[item.id].marks for item in items] for own in labels]
    alphas = agreement([*coders, [i.plausible for i in items]], ids, scenes, "with the data")
    if len(coders) > 1:
        alphas = [*agreement(coders, ids, scenes, "labellers"), *alphas]
    found = disputed(items, labels)
    several = sum(len(i.plausible) >= 2 for item in items for i in item.instances)
    drawn = sum(len(item.instances) for item in items)
    lines = [
        f"{drawn} instances ({several} with several plausible actions) as {len(items)} items "
        f"of {len(set(scenes))} scenes; 95 % intervals resample scenes.",
        "",
        "| figure | " + " | ".join(file.stem for file in files) + " |",
        "|---|" + "---|" * len(files),
        *(
            f"| {same[0].name} | " + " | ".join(figure(m) for m in same) + " |"
            for same in zip(*columns, strict=True)
        ),
        "",
        *(f"- {m.name}: {figure(m)}" for m in alphas),
        "",
        f"Gold that nobody marked: {', '.join(found.golds) or 'none'}",
    ]
    for title, by_item in (
        ("Plausible actions that nobody marked", found.unmarked),
        ("Marked by all, not plausible in the data", found.added),
    ):
        lines += ["", f"{title}: {'none' if not by_item else ''}".rstrip()]
        for names, actions in by_item.items():
            told = ", ".join(f"{a} {data.actions.text(a)}" for a in actions)
            lines.append(f"- {names}: {told}")
    notes = [
        f"- {', '.join(i.id for i in item.instances)} ({file.stem}): {own[item.id].note}"
        for item in items
        for file, own in zip(files, labels, strict=True)
        if own[item.id].note
    ]
    return "\n".join([*lines, "", *(["Notes:", *notes] if notes else [])]).rstrip() + "\n"


def _draw(options: argparse.Namespace) -> None:
    data = load(options.data, split="all")
    key = draw(data, seed=options.seed, n=options.n)
    key_file = options.out.with_name(f"{options.out.name}.key.json")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "sheet.txt").write_text(sheet(data, key), "utf-8")
    made = {"data": options.data, "digest": data.digest, "seed": options.seed, "n": options.n}
    key_file.write_text(json.dumps({**made, "items": key}, indent=1) + "\n", "utf-8")
    print(f"{options.out / 'sheet.txt'}: {len(key)} items, {options.n} instances; key: {key_file}")


def _score(options: argparse.Namespace) -> None:
    data = load(options.data, split="all")
    found = report(data, read_key(options.key, data), options.labels)
    if json.loads(read_text(options.key)).get("digest", data.digest) != data.digest:
        print("The data have changed since the draw; scored against what they are now.\n")
    print(found, end="")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=DATA, help="a data set or a path")
    verbs = parser.add_subparsers(required=True, metavar="draw | score")
    one = verbs.add_parser("draw", help="write a blind sheet and its key")
    one.add_argument("--seed", type=int, required=True)
    one.add_argument("--n", type=int, default=150, help="instances (default 150)")
    one.add_argument("--out", type=Path, required=True, help="folder of the sheet")
    one.set_defaults(act=_draw)
    two = verbs.add_parser("score", help="figures of labels")
    two.add_argument("key", type=Path)
    two.add_argument("labels", type=Path, nargs="+", help="one JSONL file a labeller")
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
