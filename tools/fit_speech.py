"""Fit the coefficients of the speech estimator on the tuning dialogues, and measure it.

    python -m tools.fit_speech            cross-validated figures on the dialogues to tune on
    python -m tools.fit_speech --write    the same, then fit on all of them and write speech.v2.json
    python -m tools.fit_speech --test     figures of the shipped coefficients on both test halves
    python -m tools.fit_speech --audit FILE   cues that a chat (turns with `text`) never shows

Ridge regression toward coefficients set by hand from knowledge of the language, each kept on
the side of 0 that its feature must have. Its strength is the greatest whose squared error
is within 5 % of the best in ten-fold cross-validation over dialogues. What is within `BAND` of 0
is not told. Nothing here reads a test half unless `--test` is given.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tools.labelled import ContrastDialogue, LabelledDialogue, load, load_contrasts

from naisei.japanese.morph import normalise
from naisei.relationship.rating_output import spearman
from naisei.relationship.speech import (
    Coefficients,
    SpeechEstimator,
    attitude,
    directives,
    level,
    load_coefficients,
)
from naisei.relationship.speech.features import FEATURES, values
from naisei.relationship.speech.level import spoken
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.statistics import mean_metric
from naisei.training_documents import learnt_from, read_digests, training_note, write_digests

WRITTEN = Path(__file__).parents[1] / "src/naisei/relationship/speech/coefficients/speech.v2.json"
#: Digests of the dialogues that the coefficients were fitted on.
DOCUMENTS = WRITTEN.with_suffix(".documents.txt")
#: Set by hand from knowledge of the language: points of the scale for a feature of 1.
PRIOR = Coefficients(
    version="prior",
    intercepts={"Power": 0.0, "Intimacy": 0.5, "TaskOriented": 0.0},
    bands={"Power": 0.5, "Intimacy": 0.5, "TaskOriented": 0.5},
    coefficients={
        "Power": {
            **{"polite": 0.8, "honorific": 0.6, "direct": 1.0, "defer": 0.6, "address": 0.4},
            **{"shut": 0.8, "rough": 0.5, "press": 0.8, "judge": 0.8, "answer": 1.0, "ask": 0.5},
            **{"hesitate": 0.5, "length": 0.5},
        },
        "Intimacy": {
            **{"polite": -1.0, "honorific": -0.8, "casual": 0.8, "laughter": 0.6, "close": 1.0},
            **{"near": 0.6, "stranger": -1.0, "defer": -0.5, "hostile": -1.5, "shut": -1.5},
            **{"refuse": -0.8, "praise": -1.0, "tease": 0.8, "offer": 0.8, "past": 0.5},
        },
        "TaskOriented": {
            **{"work": 2.0, "act": 1.0, "leisure": -1.8, "warm": -1.5, "judge": 0.5, "ask": 0.4},
            **{"answer": 0.5, "press": 0.5, "past": -0.5},
        },
    },
)
RIDGES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 1e6)
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


def plain(dialogue: LabelledDialogue) -> Item:
    both = dialogue.labels.a_to_b, dialogue.labels.b_to_a
    a, b = ({n: float(getattr(v, n)) for n in DIMENSIONS} for v in both)
    return Item(dialogue.id, False, heard(dialogue), (a, b), dialogue.asymmetric)


def hidden(dialogue: ContrastDialogue) -> Item:
    a, b = dialogue.known("a_to_b"), dialogue.known("b_to_a")
    return Item(dialogue.id, True, heard(dialogue), (a, b), abs(a["Power"] - b["Power"]) >= 3)


def said(dialogue: LabelledDialogue | ContrastDialogue) -> str:
    """The words of a dialogue."""
    return "\n".join(turn.text for turn in dialogue.turns)


def heard(dialogue: LabelledDialogue | ContrastDialogue) -> SpeechEstimator:
    """The dialogue, heard to its end."""
    names: dict[str, str] = {s.id: s.name for s in dialogue.speakers}
    course = SpeechEstimator(("A", "B"), names=names, weights=PRIOR)
    for turn in dialogue.turns:
        course.add(turn.speaker, turn.text)
    return course


class Sheet:
    """Features and labels of dialogues, by direction: two rows a dialogue."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.x: dict[str, np.ndarray] = {}
        self.y: dict[str, np.ndarray] = {}
        for name in DIMENSIONS:
            rows, labels = [], []
            for item in items:
                a, b = (item.course.traits(s) for s in ("A", "B"))
                rows += [values(name, a, b), values(name, b, a)]
                labels += [one[name] for one in item.known]
            self.x[name], self.y[name] = np.array(rows), np.array(labels)
        self.who = np.repeat(np.arange(len(items)), 2)
        self.contrast = np.repeat([item.contrast for item in items], 2)

    def part(self, *, contrast: bool) -> Sheet:
        return Sheet([item for item in self.items if item.contrast == contrast])

    def of_part(self, predicted: dict[str, np.ndarray], *, contrast: bool) -> dict[str, np.ndarray]:
        return {name: p[self.contrast == contrast] for name, p in predicted.items()}


def fit(sheet: Sheet, name: str, ridge: float, kept: np.ndarray) -> tuple[float, np.ndarray]:
    """Intercept and coefficients on the kept rows, by coordinate descent under the signs."""
    x, y = sheet.x[name][kept], sheet.y[name][kept]
    weight = np.where(sheet.contrast[kept], CONTRAST, 1.0)
    if name != "Power":
        weight *= np.where(y < 0, BELOW, 1.0)
    prior = np.array(PRIOR.listed(name))
    signs = np.array([f.sign for f in FEATURES[name]])
    # The intercept is a column of ones; of Power it stays 0, or the directions would not mirror.
    ones = np.full((len(x), 1), 0.0 if name == "Power" else 1.0)
    x, prior = np.hstack([ones, x]), np.array([PRIOR.intercepts[name], *prior])
    gram, moment = x.T @ (x * weight[:, None]), x.T @ (y * weight)
    w = prior.copy()
    for _ in range(500):
        for j in range(len(w)):
            rest = moment[j] - gram[j] @ w + gram[j, j] * w[j]
            best = (rest + ridge * prior[j]) / (gram[j, j] + ridge)
            # Never quite 0: what was thought a cue stays one.
            w[j] = best if j == 0 or best * signs[j - 1] > 0.02 else 0.02 * signs[j - 1]
    return float(w[0]), w[1:]


def crossed(sheet: Sheet, name: str, ridge: float) -> np.ndarray:
    """Predictions of every row by coefficients that have not seen its dialogue."""
    order = np.random.default_rng(0).permutation(len(sheet.items))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    out = np.empty(len(sheet.who))
    for k in range(FOLDS):
        held = fold[sheet.who] == k
        base, w = fit(sheet, name, ridge, ~held)
        out[held] = base + sheet.x[name][held] @ w
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


def with_weights(sheet: Sheet, weights: Coefficients) -> dict[str, np.ndarray]:
    """Predictions of given coefficients."""
    return {
        name: np.clip(
            weights.intercepts[name] + sheet.x[name] @ np.array(weights.listed(name)), -3, 3
        )
        for name in DIMENSIONS
    }


def both_parts(sheet: Sheet, predicted: dict[str, np.ndarray], bands: dict[str, float]) -> None:
    for contrast, title in ((False, "plain dialogues"), (True, "words that hide the attitude")):
        part = sheet.part(contrast=contrast)
        print(f" {title}, {len(part.items)}")
        told(part, sheet.of_part(predicted, contrast=contrast), bands)


def audit(path: Path) -> None:
    """Alternatives of every cue table that neither this chat nor the tuning dialogues show."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    texts = [str(row["text"]) for row in rows]
    ours = [t.text for d in (*load("tune"), *load_contrasts("dev")) for t in d.turns]
    chat = [s.text for text in texts for s in spoken(text)] + [normalise(t) for t in texts]
    known = [s.text for text in ours for s in spoken(text)] + [normalise(t) for t in ours]
    for module in (level, attitude, directives):
        for name, table in vars(module).items():
            if not isinstance(table, re.Pattern) or "|" not in table.pattern:
                continue
            hits: Counter[str] = Counter()
            for alternative in alternatives(table.pattern):
                one = re.compile(alternative)
                found = [sum(bool(one.search(t)) for t in where) for where in (chat, known)]
                if not any(found):
                    hits[alternative] += 1
            if hits:
                print(f"{module.__name__.rsplit('.', 1)[1]}.{name}: never {' ; '.join(hits)}")


def alternatives(pattern: str) -> list[str]:
    """The top-level alternatives of a pattern."""
    out, depth = [""], 0
    for part in re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|.", pattern):
        depth += (part == "(") - (part == ")")
        if part == "|" and depth == 0:
            out.append("")
        else:
            out[-1] += part
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="fit on all and write")
    parser.add_argument("--test", action="store_true", help="measure on the test halves")
    parser.add_argument("--audit", type=Path, help="JSONL of turns with `text`")
    given = parser.parse_args()
    if given.audit:
        audit(given.audit)
        return
    if given.test:
        shipped = load_coefficients()
        sheet = Sheet([*map(plain, load("test")), *map(hidden, load_contrasts("test"))])
        print(f"test halves, shipped {shipped.version}")
        texts = [*map(said, load("test")), *map(said, load_contrasts("test"))]
        seen = learnt_from(texts, read_digests(DOCUMENTS))
        print(*training_note(shipped.version, seen, len(texts)), sep="\n")
        both_parts(sheet, with_weights(sheet, shipped), shipped.bands)
        return
    sheet = Sheet([*map(plain, load("tune")), *map(hidden, load_contrasts("dev"))])
    print("coefficients by hand")
    both_parts(sheet, with_weights(sheet, PRIOR), PRIOR.bands)
    chosen, predicted = {}, {}
    for name in DIMENSIONS:
        tries = {ridge: crossed(sheet, name, ridge) for ridge in RIDGES}
        loss = {r: float(((p - sheet.y[name]) ** 2).mean()) for r, p in tries.items()}
        # The strongest that costs little: nearer to what is known of the language at large.
        chosen[name] = max(r for r in RIDGES if loss[r] <= 1.05 * min(loss.values()))
        predicted[name] = tries[chosen[name]]
    print(f"cross-validated, ridges {chosen}")
    both_parts(sheet, predicted, PRIOR.bands)
    everything = np.ones(len(sheet.who), dtype=bool)
    fitted = {name: fit(sheet, name, chosen[name], everything) for name in DIMENSIONS}
    for name, (base, w) in fitted.items():
        shown = ", ".join(f"{f.name} {c:.2f}" for f, c in zip(FEATURES[name], w, strict=True))
        print(f"  {name}: {base:.2f}; {shown}")
    if given.write:
        weights = Coefficients(
            version="speech.v2",
            intercepts={name: round(base, 3) for name, (base, _) in fitted.items()},
            bands=PRIOR.bands,
            coefficients={
                name: {f.name: round(float(c), 3) for f, c in zip(FEATURES[name], w, strict=True)}
                for name, (_, w) in fitted.items()
            },
            fitted_on="relationship_dialogues/tune.jsonl and relationship_contrasts/dev.jsonl, "
            f"{len(sheet.items)} dialogues",
        )
        text = json.dumps(weights.model_dump(), ensure_ascii=False, indent=2)
        WRITTEN.write_text(text + "\n", encoding="utf-8")
        write_digests(DOCUMENTS, map(said, [*load("tune"), *load_contrasts("dev")]))


if __name__ == "__main__":
    main()
