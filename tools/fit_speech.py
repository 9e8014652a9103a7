"""Fit the coefficients of the speech estimator on the tuning dialogues, and measure it.

    python -m tools.fit_speech            cross-validated figures on the dialogues to tune on
    python -m tools.fit_speech --write    the same, then fit on all of them and write speech.v3.json
    python -m tools.fit_speech --test     figures of the shipped coefficients on both test halves

Ridge regression on traits of speech and, for Intimacy and TaskOriented, the mean vector of the
lines. Its strength is the greatest whose squared error is within 5 % of the best in ten-fold
cross-validation over dialogues. What is within `BANDS` of 0 is not told. Nothing here reads a test
half unless `--test` is given.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tools.labelled import ContrastDialogue, LabelledDialogue, load, load_contrasts

from naisei.relationship.effect import spearman
from naisei.relationship.speech import Coefficients, SpeechEstimator, load_coefficients
from naisei.relationship.speech.estimator import line_vector
from naisei.relationship.speech.features import CONTENT, HALF, OF, OWN, Side, values
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.statistics import mean_metric
from naisei.training_documents import learnt_from, read_digests, training_note, write_digests

WRITTEN = Path(__file__).parents[1] / "src/naisei/relationship/speech/coefficients/speech.v3.json"
#: Digests of the dialogues that the coefficients were fitted on.
DOCUMENTS = WRITTEN.with_suffix(".documents.txt")
DECIDERS = Path(__file__).with_name("deciders.txt")
BANDS = {"Power": 0.5, "Intimacy": 0.5, "TaskOriented": 0.5}
#: Nothing known yet: for counting alone.
BLANK = Coefficients(
    version="blank",
    bases=dict.fromkeys(DIMENSIONS, 0.0),
    bands=BANDS,
    coefficients={name: dict.fromkeys(OF[name], 0.0) for name in DIMENSIONS},
    centres={name: dict.fromkeys(OF[name], 0.0) for name in DIMENSIONS},
    content={},
)
RIDGES = (4.0, 8.0, 16.0, 32.0)
#: How much a line's vector counts beside the traits.
VECTOR = {"Intimacy": 3.0, "TaskOriented": 4.0}
FOLDS = 10
#: Rows of the kind weigh so much more: those whose words hide the attitude; those below 0, which
#: are few.
CONTRAST, BELOW = 1.5, 1.5


@dataclass(frozen=True)
class Item:
    """A dialogue heard to its end, and what is known of both directions."""

    id: str
    contrast: bool
    course: SpeechEstimator
    known: tuple[dict[str, float], dict[str, float]]
    asymmetric: bool
    text: str


def plain(dialogue: LabelledDialogue) -> Item:
    both = dialogue.labels.a_to_b, dialogue.labels.b_to_a
    a, b = ({n: float(getattr(v, n)) for n in DIMENSIONS} for v in both)
    return Item(dialogue.id, False, heard(dialogue), (a, b), dialogue.asymmetric, said(dialogue))


def hidden(dialogue: ContrastDialogue) -> Item:
    a, b = dialogue.known("a_to_b"), dialogue.known("b_to_a")
    above = abs(a["Power"] - b["Power"]) >= 3
    return Item(dialogue.id, True, heard(dialogue), (a, b), above, said(dialogue))


def written_apart(path: Path) -> list[Item]:
    """Dialogues as `deciders.txt` has them."""
    out = []
    for part in re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, *rows = part.strip().splitlines()
        labels = [
            dict(zip(DIMENSIONS, map(float, given.split(",")), strict=True))
            for given in re.findall(r"\b[ab]=(\S+)", head)
        ]
        lines = [tuple(row.split(": ", 1)) for row in rows if not row.startswith("#")]
        names = tuple(dict.fromkeys(name for name, _ in lines))
        course = SpeechEstimator((names[0], names[1]), weights=BLANK)
        for name, text in lines:
            course.add(name, text)
        above = abs(labels[0]["Power"] - labels[1]["Power"]) >= 3
        texts = "\n".join(text for _, text in lines)
        out.append(Item(head.split()[0], True, course, (labels[0], labels[1]), above, texts))
    return out


def tuning() -> list[Item]:
    """All that the coefficients are fitted on."""
    ours = [*map(plain, load("tune")), *map(hidden, load_contrasts("dev"))]
    return [*ours, *written_apart(DECIDERS)]


def said(dialogue: LabelledDialogue | ContrastDialogue) -> str:
    """The words of a dialogue."""
    return "\n".join(turn.text for turn in dialogue.turns)


def heard(dialogue: LabelledDialogue | ContrastDialogue) -> SpeechEstimator:
    """The dialogue, heard to its end."""
    names: dict[str, str] = {s.id: s.name for s in dialogue.speakers}
    course = SpeechEstimator(("A", "B"), names=names, weights=BLANK)
    for turn in dialogue.turns:
        course.add(turn.speaker, turn.text)
    return course


class Sheet:
    """Features and labels of dialogues, by direction: two rows a dialogue. x: traits, then the mean
    vector of the lines."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.x: dict[str, np.ndarray] = {}
        self.y: dict[str, np.ndarray] = {}
        for name in DIMENSIONS:
            rows, labels = [], []
            for item in items:
                a, b = (item.course.side(s) for s in item.course.speakers)
                rows += [features(name, a, b), features(name, b, a)]
                labels += [one[name] for one in item.known]
            self.x[name], self.y[name] = np.array(rows), np.array(labels)
        self.who = np.repeat(np.arange(len(items)), 2)
        self.contrast = np.repeat([item.contrast for item in items], 2)

    def part(self, *, contrast: bool) -> Sheet:
        return Sheet([item for item in self.items if item.contrast == contrast])

    def of_part(self, predicted: dict[str, np.ndarray], *, contrast: bool) -> dict[str, np.ndarray]:
        return {name: p[self.contrast == contrast] for name, p in predicted.items()}


def features(name: str, own: Side, other: Side) -> np.ndarray:
    """Traits without the content, then in its place the vector that it is a sum of."""
    traits = [v for n, v in zip(OF[name], values(name, own, other), strict=True) if n != CONTENT]
    if name not in VECTOR:
        return np.array(traits)
    mixed = OWN * mean_vector(own, name) + (1 - OWN) * mean_vector(other, name)
    return np.concatenate([traits, VECTOR[name] * mixed])


def mean_vector(side: Side, name: str) -> np.ndarray:
    """As `Side.traits` weighs the lines."""
    vectors = np.array([line_vector(text) for _, text, _ in side.lines])
    ages = np.arange(len(vectors))[::-1] / HALF if name == "TaskOriented" else 0 * vectors[:, 0]
    weights = 0.5**ages
    return (weights[:, None] * vectors).sum(0) / (weights.sum() + 0.5)


def fit(
    sheet: Sheet, name: str, ridge: float, kept: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Base, centres and coefficients on the kept rows, by ridge regression."""
    x, y = sheet.x[name][kept], sheet.y[name][kept]
    weight = np.where(sheet.contrast[kept], CONTRAST, 1.0)
    if name == "Power":  # the directions mirror each other
        centre, base = np.zeros(x.shape[1]), 0.0
    else:
        weight *= np.where(y < 0, BELOW, 1.0)
        centre, base = np.average(x, axis=0, weights=weight), float(np.average(y, weights=weight))
    wide, target = (x - centre) * np.sqrt(weight)[:, None], (y - base) * np.sqrt(weight)
    inner = np.linalg.solve(wide @ wide.T + ridge * np.eye(len(wide)), target)
    return base, centre, wide.T @ inner


def crossed(sheet: Sheet, name: str, ridge: float) -> np.ndarray:
    """Predictions of every row by coefficients that have not seen its dialogue."""
    order = np.random.default_rng(0).permutation(len(sheet.items))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    out = np.empty(len(sheet.who))
    for k in range(FOLDS):
        held = fold[sheet.who] == k
        base, centre, w = fit(sheet, name, ridge, ~held)
        out[held] = base + (sheet.x[name][held] - centre) @ w
    return np.clip(out, -3, 3)


def told(sheet: Sheet, predicted: dict[str, np.ndarray], bands: dict[str, float]) -> None:
    """Print sign of Power, rank correlations, signs of what is told, with intervals over
    dialogues."""
    hits = []
    for at, item in enumerate(sheet.items):
        if item.asymmetric:
            true = sheet.y["Power"][2 * at] - sheet.y["Power"][2 * at + 1]
            said = predicted["Power"][2 * at] - predicted["Power"][2 * at + 1]
            hits.append(float(np.sign(true) == np.sign(said)))
    sign = mean_metric("sign", hits, clusters=None, share=True)
    print(
        f"  Power, side above: {sign.value:.3f} [{sign.low:.3f}, {sign.high:.3f}]"
        f" of {sign.n} asymmetric"
    )
    rng = np.random.default_rng(0)
    for name in DIMENSIONS:
        y, p = sheet.y[name], predicted[name]
        draws = []
        for _ in range(1000):
            drawn = rng.integers(0, len(sheet.items), len(sheet.items))
            rows = np.concatenate([2 * drawn, 2 * drawn + 1])
            draws.append(spearman(y[rows], p[rows]))
        low, high = np.nanquantile(draws, (0.025, 0.975))
        clear = np.abs(y) >= 0.5
        read = clear & (np.abs(p) >= bands[name])
        right = [float(v) for v in (p[read] * y[read] > 0)]
        clusters = [int(v) for v in sheet.who[read]]
        share = mean_metric("right", right, clusters=clusters, share=True)
        everyone = np.mean(p[clear] * y[clear] > 0)
        floor = max(np.mean(y[clear] > 0), np.mean(y[clear] < 0))
        by_sign = [
            f"{mark} {np.mean(y[read & (p * sign > 0)] * sign > 0):.2f} of"
            f" {np.sum(read & (p * sign > 0))}"
            for mark, sign in (("+", 1), ("−", -1))
        ]
        equal = np.mean(np.abs(p[~clear]) >= bands[name]) if (~clear).any() else float("nan")
        print(
            f"  {name:<13} rho {spearman(y, p):.3f} [{low:.3f}, {high:.3f}]"
            f"  sign {share.value:.3f} [{share.low:.3f}, {share.high:.3f}] where told,"
            f" {read.sum()} of {clear.sum()} ({'; '.join(by_sign)});"
            f" all {everyone:.3f}, commonest sign {floor:.3f}; 0 told as a side {equal:.2f}"
        )


def packed(fitted: dict[str, tuple[float, np.ndarray, np.ndarray]], many: int) -> Coefficients:
    """The fits as they ship."""
    coefficients: dict[str, dict[str, float]] = {}
    centres: dict[str, dict[str, float]] = {}
    content: dict[str, list[int]] = {}
    for name, (_, centre, w) in fitted.items():
        traits = [n for n in OF[name] if n != CONTENT]
        coefficients[name] = {n: round(float(c), 3) for n, c in zip(traits, w, strict=False)}
        centres[name] = {n: round(float(c), 3) for n, c in zip(traits, centre, strict=False)}
        if name in VECTOR:
            rest = len(traits)
            content[name] = [round(float(c)) for c in 1000 * VECTOR[name] * w[rest:]]
            coefficients[name][CONTENT] = 1.0
            centres[name][CONTENT] = round(float(centre[rest:] @ w[rest:]), 3)
    return Coefficients(
        version="speech.v3",
        bases={name: round(base, 3) for name, (base, _, _) in fitted.items()},
        bands=BANDS,
        coefficients=coefficients,
        centres=centres,
        content=content,
        fitted_on=f"relationship_dialogues/tune.jsonl, relationship_contrasts/dev.jsonl and "
        f"tools/deciders.txt, {many} dialogues",
    )


def scored(sheet: Sheet, weights: Coefficients) -> dict[str, np.ndarray]:
    """Predictions of given coefficients, as a reader gets them."""
    out: dict[str, list[float]] = {name: [] for name in DIMENSIONS}
    for item in sheet.items:
        course = SpeechEstimator(item.course.speakers, names=item.course.names, weights=weights)
        lines = sorted(
            (at, speaker, text)
            for speaker in course.speakers
            for at, text, _ in item.course.side(speaker).lines
        )
        for _, speaker, text in lines:
            course.add(speaker, text)
        for speaker in course.speakers:
            reading = course.reading(speaker)
            for name in DIMENSIONS:
                out[name].append(np.nan_to_num(reading[name].score))
    return {name: np.array(found) for name, found in out.items()}


def both_parts(sheet: Sheet, predicted: dict[str, np.ndarray], bands: dict[str, float]) -> None:
    for contrast, title in ((False, "plain dialogues"), (True, "words that hide the attitude")):
        part = sheet.part(contrast=contrast)
        print(f" {title}, {len(part.items)}")
        told(part, sheet.of_part(predicted, contrast=contrast), bands)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="fit on all and write")
    parser.add_argument("--test", action="store_true", help="measure on the test halves")
    given = parser.parse_args()
    if given.test:
        shipped = load_coefficients()
        sheet = Sheet([*map(plain, load("test")), *map(hidden, load_contrasts("test"))])
        print(f"test halves, shipped {shipped.version}")
        texts = [*map(said, load("test")), *map(said, load_contrasts("test"))]
        seen = learnt_from(texts, read_digests(DOCUMENTS))
        print(*training_note(shipped.version, seen, len(texts)), sep="\n")
        both_parts(sheet, scored(sheet, shipped), shipped.bands)
        return
    sheet = Sheet(tuning())
    chosen, predicted = {}, {}
    for name in DIMENSIONS:
        tries = {ridge: crossed(sheet, name, ridge) for ridge in RIDGES}
        loss = {r: float(((p - sheet.y[name]) ** 2).mean()) for r, p in tries.items()}
        # The strongest that costs little: nearer to what is known of the language at large.
        chosen[name] = max(r for r in RIDGES if loss[r] <= 1.05 * min(loss.values()))
        predicted[name] = tries[chosen[name]]
    print(f"cross-validated, ridges {chosen}")
    both_parts(sheet, predicted, BANDS)
    everything = np.ones(len(sheet.who), dtype=bool)
    fitted = {name: fit(sheet, name, chosen[name], everything) for name in DIMENSIONS}
    weights = packed(fitted, len(sheet.items))
    for name in DIMENSIONS:
        print(f"  {name}: {weights.bases[name]:.2f}; {weights.coefficients[name]}")
    if given.write:
        text = re.sub(r"(?<=\d),\n\s+(?=-?\d)", ", ", json.dumps(weights.model_dump(), indent=1))
        WRITTEN.write_text(text + "\n", encoding="utf-8")
        write_digests(DOCUMENTS, [item.text for item in sheet.items])


if __name__ == "__main__":
    main()
