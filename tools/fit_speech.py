"""Fit the coefficients of the speech estimator on the tuning dialogues, and measure it.

    python tools/fit_speech.py            cross-validated figures on the tuning half
    python tools/fit_speech.py --write    the same, then fit on all of it and write speech.v1.json
    python tools/fit_speech.py --test     figures of the shipped coefficients on the test half

Ridge regression toward coefficients set by hand from knowledge of the language, each kept on
the side of 0 that its feature must have. Its strength is the greatest whose squared error
is within 5 % of the best in ten-fold cross-validation over dialogues. Nothing here reads the
test half unless `--test` is given.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from naisei.relationship.labelled import LabelledDialogue, load
from naisei.relationship.rating_output import spearman
from naisei.relationship.speech import Coefficients, SpeechEstimator, load_coefficients
from naisei.relationship.speech.features import FEATURES, values
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.statistics import mean_metric

WRITTEN = Path(__file__).parents[1] / "src/naisei/relationship/speech/coefficients/speech.v1.json"
#: Set by hand from knowledge of the language: points of the scale for a feature of 1.
PRIOR = Coefficients(
    version="prior",
    intercepts={"Power": 0.0, "Intimacy": 0.5, "TaskOriented": -0.3},
    coefficients={
        "Power": {"polite": 1.5, "honorific": 1.0, "direct": 1.2, "defer": 0.9, "address": 0.7},
        "Intimacy": {
            "polite": -1.5,
            "honorific": -1.0,
            "casual": 0.8,
            "laughter": 0.6,
            "close": 1.2,
            "near": 0.8,
            "stranger": -1.5,
            "defer": -0.8,
            "hostile": -1.5,
        },
        "TaskOriented": {"work": 2.5, "act": 1.0, "leisure": -2.0, "warm": -1.2},
    },
)
RIDGES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 1e6)
FOLDS = 10


def sides(dialogue: LabelledDialogue) -> SpeechEstimator:
    """The dialogue, heard to its end."""
    names: dict[str, str] = {s.id: s.name for s in dialogue.speakers}
    course = SpeechEstimator(("A", "B"), names=names)
    for turn in dialogue.turns:
        course.add(turn.speaker, turn.text)
    return course


class Sheet:
    """Features and labels of dialogues, by direction: two rows a dialogue."""

    def __init__(self, dialogues: list[LabelledDialogue]) -> None:
        self.dialogues = dialogues
        heard = [sides(d) for d in dialogues]
        self.x: dict[str, np.ndarray] = {}
        self.y: dict[str, np.ndarray] = {}
        for name in DIMENSIONS:
            rows, labels = [], []
            for course, dialogue in zip(heard, dialogues, strict=True):
                a, b = (course.traits(s) for s in ("A", "B"))
                rows += [values(name, a, b), values(name, b, a)]
                labels += [
                    getattr(dialogue.labels.a_to_b, name),
                    getattr(dialogue.labels.b_to_a, name),
                ]
            self.x[name], self.y[name] = np.array(rows), np.array(labels, dtype=float)
        self.who = np.repeat(np.arange(len(dialogues)), 2)


def fit(sheet: Sheet, name: str, ridge: float, kept: np.ndarray) -> tuple[float, np.ndarray]:
    """Intercept and coefficients on the kept rows, by coordinate descent under the signs."""
    x, y = sheet.x[name][kept], sheet.y[name][kept]
    prior = np.array(PRIOR.listed(name))
    signs = np.array([f.sign for f in FEATURES[name]])
    # The intercept is a column of ones; of Power it stays 0, or the directions would not mirror.
    ones = np.full((len(x), 1), 0.0 if name == "Power" else 1.0)
    x, prior = np.hstack([ones, x]), np.array([PRIOR.intercepts[name], *prior])
    gram, moment = x.T @ x, x.T @ y
    w = prior.copy()
    for _ in range(500):
        for j in range(len(w)):
            rest = moment[j] - gram[j] @ w + gram[j, j] * w[j]
            best = (rest + ridge * prior[j]) / (gram[j, j] + ridge)
            w[j] = best if j == 0 or best * signs[j - 1] > 0 else 0.0
    return float(w[0]), w[1:]


def crossed(sheet: Sheet, name: str, ridge: float) -> np.ndarray:
    """Predictions of every row by coefficients that have not seen its dialogue."""
    order = np.random.default_rng(0).permutation(len(sheet.dialogues))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    out = np.empty(len(sheet.who))
    for k in range(FOLDS):
        held = fold[sheet.who] == k
        base, w = fit(sheet, name, ridge, ~held)
        out[held] = base + sheet.x[name][held] @ w
    return np.clip(out, -3, 3)


def told(sheet: Sheet, predicted: dict[str, np.ndarray]) -> None:
    """Print sign of Power, rank correlations and errors, with intervals over dialogues."""
    hits = []
    for at, dialogue in enumerate(sheet.dialogues):
        if dialogue.asymmetric:
            true = sheet.y["Power"][2 * at] - sheet.y["Power"][2 * at + 1]
            said = predicted["Power"][2 * at] - predicted["Power"][2 * at + 1]
            hits.append(float(np.sign(true) == np.sign(said)))
    sign = mean_metric("sign", hits)
    print(
        f"  Power, sign: {sign.value:.3f} [{sign.low:.3f}, {sign.high:.3f}] of {sign.n} asymmetric"
    )
    rng = np.random.default_rng(0)
    for name in DIMENSIONS:
        y, p = sheet.y[name], predicted[name]
        draws = []
        for _ in range(2000):
            drawn = rng.integers(0, len(sheet.dialogues), len(sheet.dialogues))
            rows = np.concatenate([2 * drawn, 2 * drawn + 1])
            draws.append(spearman(y[rows], p[rows]))
        low, high = np.nanquantile(draws, (0.025, 0.975))
        off = np.abs(y - p).mean()
        exact = (np.abs(np.sign(p) * np.floor(np.abs(p) + 0.5) - y) <= 1).mean()
        print(
            f"  {name:<13} rho {spearman(y, p):.3f} [{low:.3f}, {high:.3f}]"
            f"  mean error {off:.2f}  within 1: {exact:.2f}  ({len(y)} directions)"
        )


def with_weights(sheet: Sheet, weights: Coefficients) -> dict[str, np.ndarray]:
    """Predictions of given coefficients."""
    return {
        name: np.clip(
            weights.intercepts[name] + sheet.x[name] @ np.array(weights.listed(name)), -3, 3
        )
        for name in DIMENSIONS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="fit on all and write")
    parser.add_argument("--test", action="store_true", help="measure on the test half")
    given = parser.parse_args()
    if given.test:
        sheet = Sheet(list(load("test")))
        print(f"test half, {len(sheet.dialogues)} dialogues, shipped {load_coefficients().version}")
        told(sheet, with_weights(sheet, load_coefficients()))
        return
    sheet = Sheet(list(load("tune")))
    print(f"tuning half, {len(sheet.dialogues)} dialogues, coefficients by hand")
    told(sheet, with_weights(sheet, PRIOR))
    chosen, predicted = {}, {}
    for name in DIMENSIONS:
        tries = {ridge: crossed(sheet, name, ridge) for ridge in RIDGES}
        loss = {r: float(((p - sheet.y[name]) ** 2).mean()) for r, p in tries.items()}
        # The strongest that costs little: nearer to what is known of the language at large.
        chosen[name] = max(r for r in RIDGES if loss[r] <= 1.05 * min(loss.values()))
        predicted[name] = tries[chosen[name]]
    print(f"cross-validated, ridges {chosen}")
    told(sheet, predicted)
    everything = np.ones(len(sheet.who), dtype=bool)
    fitted = {name: fit(sheet, name, chosen[name], everything) for name in DIMENSIONS}
    for name, (base, w) in fitted.items():
        shown = ", ".join(f"{f.name} {c:.2f}" for f, c in zip(FEATURES[name], w, strict=True))
        print(f"  {name}: {base:.2f}; {shown}")
    if given.write:
        weights = Coefficients(
            version="speech.v1",
            intercepts={name: round(base, 3) for name, (base, _) in fitted.items()},
            coefficients={
                name: {f.name: round(float(c), 3) for f, c in zip(FEATURES[name], w, strict=True)}
                for name, (_, w) in fitted.items()
            },
            fitted_on=f"relationship_dialogues/tune.jsonl, {len(sheet.dialogues)} dialogues",
        )
        text = json.dumps(weights.model_dump(), ensure_ascii=False, indent=2)
        WRITTEN.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
