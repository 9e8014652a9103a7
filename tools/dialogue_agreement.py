"""The relationship dialogues: a sheet for blind readers, agreement of their labels, counts.

    python -m tools.dialogue_agreement sheet --out DIR    writes DIR/items.txt and DIR/guide.md
    python -m tools.dialogue_agreement score              figures
    python -m tools.dialogue_agreement counts             how many of what there are
    python -m tools.dialogue_agreement contrasts          agreement on relationship_contrasts

A reader sees names and lines alone, in an order and under ids that say nothing (both come
from a hash, so no key has to be kept). Labels are read from the `annotations` folder of the
data, one JSONL file a reader, one line an item, with exactly these keys:

    {"id": "x0a1b2c", "a_to_b": {"Power": 1, "Intimacy": 2, "TaskOriented": -1},
     "b_to_a": {"Power": -1, "Intimacy": 2, "TaskOriented": -1}, "asymmetric": false}

Krippendorff's α takes the squared difference as distance (interval scale); every directed side
of a dialogue is a unit, and intervals resample dialogues.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tools.labelled import (
    RELATIONSHIPS,
    TOPICS,
    LabelledDialogue,
    load,
    load_contrasts,
)

from naisei.clarify.data.records import read_rows
from naisei.core import InputError
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, RelationVector
from naisei.runs.significance import krippendorff_alpha
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

DATA = Path(__file__).parents[1] / "src" / "naisei" / "data" / "relationship_dialogues"
#: What stands in the card between `<!-- name -->` and `<!-- /name -->` is written from here.
_POLITE = re.compile("です|でし|ます|まし|ません|ください")


class Label(BaseModel):
    """What one reader says of one dialogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    a_to_b: RelationVector
    b_to_a: RelationVector
    asymmetric: Annotated[bool, Field(strict=True)]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def blind_id(dialogue: LabelledDialogue) -> str:
    """An id that says nothing of the dialogue's place in the data."""
    return "x" + digest(f"blind {dialogue.id}")[:6]


def everything() -> dict[str, LabelledDialogue]:
    """Blind id → dialogue, of both splits, in the order of the sheet."""
    both = {blind_id(d): d for d in (*load("tune"), *load("test"))}
    return dict(sorted(both.items()))


def sheet(dialogues: dict[str, LabelledDialogue]) -> str:
    """All that a reader sees: names and lines."""
    return "\n".join(
        f"[{name}]  A = {d.name('A')} / B = {d.name('B')}\n{d.text}\n"
        for name, d in dialogues.items()
    )


def read_labels(path: Path, wanted: Sequence[str]) -> dict[str, Label]:
    """One label for every item of the sheet.

    Raises:
        InputError: a broken line, an unknown id, an item labelled twice or not at all.
    """
    labels: dict[str, Label] = {}
    for row in read_rows(path):
        try:
            label = Label.model_validate(row.fields)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise InputError(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}",
                place=row.place,
                remedy="write the line as guide.md shows",
            ) from None
        if label.id not in wanted:
            raise InputError(
                f"unknown id {label.id!r}", place=row.place, remedy="use the ids of items.txt"
            )
        if label.id in labels:
            raise InputError(
                f"{label.id} comes twice", place=row.place, remedy="keep one line of them"
            )
        labels[label.id] = label
    if missing := [name for name in wanted if name not in labels]:
        raise InputError(
            f"{len(missing)} items have no label: {', '.join(missing[:10])}",
            place=str(path),
            remedy="label every item",
        )
    return labels


def author(name: str, d: LabelledDialogue) -> Label:
    """The author's labels of an item."""
    return Label(id=name, a_to_b=d.labels.a_to_b, b_to_a=d.labels.b_to_a, asymmetric=d.asymmetric)


def squared(a: int, b: int) -> float:
    return float((a - b) ** 2)


def alphas(coders: Sequence[dict[str, Label]]) -> list[Metric]:
    """α of each dimension over directed sides, then of `asymmetric` over dialogues."""
    names = list(coders[0])
    found = []
    for dimension in DIMENSIONS:
        units = [
            [getattr(getattr(coder[name], side), dimension) for coder in coders]
            for name in names
            for side in ("a_to_b", "b_to_a")
        ]
        clusters = [name for name in names for _ in range(2)]
        found.append(krippendorff_alpha(units, distance=squared, clusters=clusters, name=dimension))
    flags = [[coder[name].asymmetric for coder in coders] for name in names]
    return [*found, krippendorff_alpha(flags, clusters=names, name="asymmetric")]


def shares(truth: dict[str, Label], other: dict[str, Label]) -> list[Metric]:
    """How often another's labels are within one point, and see the same side above.

    The side above is compared where the author calls power clearly asymmetric.
    """
    found = []
    for dimension in DIMENSIONS:
        near = [
            (name, float(abs(getattr(x, dimension) - getattr(y, dimension)) <= 1))
            for name, own in truth.items()
            for x, y in ((own.a_to_b, other[name].a_to_b), (own.b_to_a, other[name].b_to_a))
        ]
        found.append(
            mean_metric(
                dimension, [hit for _, hit in near], clusters=[name for name, _ in near], share=True
            )
        )
    above = [float(_gap(own) * _gap(other[n]) > 0) for n, own in truth.items() if own.asymmetric]
    return [*found, mean_metric("side above", above, clusters=None, share=True)]


def _gap(label: Label) -> int:
    return label.a_to_b.Power - label.b_to_a.Power


def figure(metric: Metric, *, percent: bool = False) -> str:
    """`0.81 [0.77, 0.85]`, or the reason why there is none."""
    if metric.value != metric.value:
        return f"– ({metric.reason})"
    if percent:
        return f"{metric.value:.1%} [{metric.low:.1%}, {metric.high:.1%}]".replace("%", " %")
    return f"{metric.value:.3f} [{metric.low:.3f}, {metric.high:.3f}]"


def report(readers: dict[str, dict[str, Label]], truth: dict[str, Label]) -> str:
    """Two Markdown tables: α, and shares of agreement with the author."""
    groups: dict[str, list[dict[str, Label]]] = {}
    if len(readers) >= 2:
        groups["readers"] = list(readers.values())
        groups["author and readers"] = [truth, *readers.values()]
    groups |= {f"author, {name}": [truth, labels] for name, labels in readers.items()}
    head = ["", *DIMENSIONS, "asymmetric"]
    lines = [f"Krippendorff's α, {len(truth)} dialogues, both directions:", "", *_head(head)]
    for title, coders in groups.items():
        lines.append(_row([title, *map(figure, alphas(coders))]))
    near = ["within one point of the author", *DIMENSIONS, "side above (clearly asymmetric)"]
    lines += ["", *_head(near)]
    for name, labels in readers.items():
        told = [figure(m, percent=True) for m in shares(truth, labels)]
        lines.append(_row([name, *told]))
    return "\n".join(lines)


def _head(cells: Sequence[str]) -> list[str]:
    return [_row(cells), "|" + "---|" * len(cells)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def counts() -> str:
    """Three Markdown tables: relationships × splits and topics, degrees, who is above."""
    halves = {"tune": load("tune"), "test": load("test")}
    both = [*halves["tune"], *halves["test"]]
    lines = _head(["relationship", *halves, *TOPICS, "clearly asymmetric"])
    for title in (*RELATIONSHIPS, "all"):
        own = [d for d in both if title in (d.relationship, "all")]
        cells = [sum(d in half for d in own) for half in halves.values()]
        cells += [sum(d.topic == topic for d in own) for topic in TOPICS]
        lines.append(_row([title, *map(str, cells), str(sum(d.asymmetric for d in own))]))
    degrees = range(LOW, HIGH + 1)
    lines += ["", *_head(["directed labels", *(f"{n:+d}" if n else "0" for n in degrees)])]
    for split, half in halves.items():
        for dimension in DIMENSIONS:
            sides = [s for d in half for s in (d.labels.a_to_b, d.labels.b_to_a)]
            given = Counter(getattr(s, dimension) for s in sides)
            lines.append(_row([f"{dimension}, {split}", *(str(given[n]) for n in degrees)]))
    return "\n".join([*lines, "", *_facts(both)])


def _facts(both: Sequence[LabelledDialogue]) -> list[str]:
    """How labels of the two directions differ, and how little polite endings alone tell."""
    labels = [d.labels for d in both]
    clear = [d for d in both if d.asymmetric]
    lower = Counter((_polite(d, "B") - _polite(d, "A")) * _sign(d) for d in clear)
    right = sum(n for gap, n in lower.items() if gap > 0)
    mirrored = sum(pair.a_to_b.Power == -pair.b_to_a.Power for pair in labels)
    mutual = sum(pair.a_to_b.Intimacy == pair.b_to_a.Intimacy for pair in labels)
    first = sum((_sign(d) > 0) == (d.turns[0].speaker == "A") for d in clear)
    return [
        f"{sum(len(d.turns) for d in both)} turns. Power is mirrored (+2, −2) in {mirrored} of "
        f"{len(both)} dialogues, Intimacy is mutual in {mutual}. Of the {len(clear)} clearly "
        f"asymmetric ones, the side above speaks first in {first}; it has the smaller share of "
        f"lines with です・ます forms in {right}, the same share in {lower[0.0]}, the larger "
        f"in {len(clear) - right - lower[0.0]}.",
    ]


def contrast_agreement() -> str:
    """α of the two readers, and of author and readers, on the dialogues that hide the attitude;
    and where each reader sees the author's sign."""
    both = [*load_contrasts("dev"), *load_contrasts("test")]
    ways: tuple[Literal["a_to_b", "b_to_a"], ...] = ("a_to_b", "b_to_a")
    sides = [(d, way) for d in both for way in ways]
    clusters = [d.id for d, _ in sides]
    given = {
        name: [
            [
                getattr(getattr(labels, way), name)
                for labels in (d.labels, d.readers[0], d.readers[1])
            ]
            for d, way in sides
        ]
        for name in DIMENSIONS
    }
    rows = [_row(["", *DIMENSIONS]), "|" + "---|" * 4]
    for title, first in (("α, two readers", 1), ("α, author and readers", 0)):
        units = {name: [unit[first:] for unit in given[name]] for name in DIMENSIONS}
        found = [
            krippendorff_alpha(units[name], distance=squared, clusters=clusters, name=name)
            for name in DIMENSIONS
        ]
        rows.append(_row([title, *map(figure, found)]))
    for reader in (1, 2):
        found = []
        for name in DIMENSIONS:
            pairs = [(u[0], u[reader], c) for u, c in zip(given[name], clusters, strict=True)]
            kept = [(float(a * b > 0), c) for a, b, c in pairs if a and b is not None]
            told = [hit for hit, _ in kept]
            found.append(mean_metric(name, told, clusters=[c for _, c in kept], share=True))
        shown = [figure(one, percent=True) for one in found]
        rows.append(_row([f"reader {reader}: sign of the author's", *shown]))
    changed = sum(d.early is not None for d in both)
    hidden = sum(bool(d.contrast) for d in both)
    return "\n".join(
        [
            *rows,
            "",
            f"{len(both)} dialogues, {sum(len(d.turns) for d in both)} turns; in {hidden} the "
            f"words hide the attitude, in {changed} it changes.",
        ]
    )


def _sign(dialogue: LabelledDialogue) -> int:
    """1 if A is above, −1 if B is."""
    return 1 if dialogue.labels.a_to_b.Power > dialogue.labels.b_to_a.Power else -1


def _polite(dialogue: LabelledDialogue, side: str) -> float:
    own = [turn.text for turn in dialogue.turns if turn.speaker == side]
    return sum(bool(_POLITE.search(text)) for text in own) / len(own)


def _sheet(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    dialogues = everything()
    (options.out / "items.txt").write_text(sheet(dialogues), "utf-8")
    shutil.copyfile(DATA / "annotations" / "guide.md", options.out / "guide.md")
    print(f"{options.out / 'items.txt'}: {len(dialogues)} dialogues")


def _score(options: argparse.Namespace) -> None:
    dialogues = everything()
    found = sorted(options.labels.glob("*.jsonl"))
    if not found:
        raise InputError(
            "no labels", place=str(options.labels), remedy="put one JSONL file a reader there"
        )
    readers = {path.stem: read_labels(path, list(dialogues)) for path in found}
    print(report(readers, {name: author(name, d) for name, d in dialogues.items()}))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="sheet | score | counts | contrasts")
    one = verbs.add_parser("sheet", help="write what readers see")
    one.add_argument("--out", type=Path, required=True, help="folder of the sheet")
    one.set_defaults(act=_sheet)
    two = verbs.add_parser("score", help="agreement of the labels")
    two.add_argument("--labels", type=Path, default=DATA / "annotations", help="their folder")
    two.set_defaults(act=_score)
    three = verbs.add_parser("counts", help="how many of what there are")
    three.set_defaults(act=lambda _: print(counts()))
    four = verbs.add_parser("contrasts", help="agreement on relationship_contrasts")
    four.set_defaults(act=lambda _: print(contrast_agreement()))
    options = parser.parse_args(arguments)
    try:
        options.act(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
