"""Learn the scores of `naisei.director.wording.learnt_faults` from labelled lines.

    python tools/fault_weights.py --out src/naisei/data/fault_weights [--talks LINES.jsonl]

Good lines are taught sentence by sentence, as they are scored. `--talks` are lines of strangers
(`speaker`, `text`), of which each score may flag only so many; nothing is learnt of them.

Reads the parts `dev` and `train` of director_lines/natural.jsonl and director_samples; what is
`test` or `fresh` is never read. Prints what is caught and falsely flagged of each author when
that author's lines are left out. Needs the extra `local` (the pieces' own strings).
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.director.character import load_character
from naisei.director.prepare import PreparedLine
from naisei.director.wording import learnt_faults as learnt
from naisei.director.wording import matter
from naisei.models.embedders.e5 import packed_path
from naisei.models.embedders.onnx import read_packed
from naisei.models.embedders.unigram import codes, hashes
from naisei.training_documents import write_digests

Floats = NDArray[Any]
_DATA = files("naisei.data")
_JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff！？。、…ー]")
_LONGEST = 6
#: How much a line's vector weighs beside its counted features.
_VECTOR = 2.5
_LEAST, _MOST = 3, 0.4
#: Lines without a fault of what they say; `chat` and `swapped` are in other voices.
_NATURAL = ["good", "chat", "swapped"]
#: Weights of a wrong line, of one of these, and of one that is wrong in another way.
_WRONG, _GOOD, _OTHER = 3.0, 1.0, 0.3
#: Shares of good lines, left out, and of strangers' lines that each score may flag: in doubt, and
#: without doubt.
_FALSE = {"cut": 0.015, "sure": 0.003}
_STRANGERS = {
    "home": {"cut": 0.004, "sure": 0.0016},
    "younger": {"cut": 0.005, "sure": 0.002},
    "elder": {"cut": 0.002, "sure": 0.001},
    "praise": {"cut": 0.022, "sure": 0.009},
    "negation": {"cut": 0.004, "sure": 0.001},
}
#: Authors who are left out together.
_LEFT_OUT = (("a", "c"), ("b", "d"), ("e",))
_KIN = re.compile(
    "姉|妹|生まれ|産まれ|年上|年下|下の|上の|先に|歳|いとこ|双子|きょうだい|長女|末っ子|お下がり|おさがり"
)


def rows() -> list[dict[str, Any]]:
    """Lines with `author`, `fault` (or `good`, or another kind) and `same`, as they are scored."""

    def read(folder: str, name: str) -> list[dict[str, Any]]:
        text = (_DATA / folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n") if line]

    found = [r for r in read("director_lines", "natural.jsonl") if r["part"] in ("dev", "train")]
    found += [{**r, "kind": "good"} for r in read("director_samples", "lines.jsonl")]
    for row in found:
        row["author"] = row["id"].split("-")[0]
        row["fault"] = row.get("fault", row["kind"])
        row["said"] = said(row["line"], row["character"], apart=row["fault"] in _NATURAL)
        row["elder"] = load_character(row["character"]).bond.kin == "elder"
    return found


def said(text: str, character: str, *, apart: bool) -> list[str]:
    """What is scored of a line: each stretch of it, or the whole."""
    who = load_character(character)
    line = PreparedLine(text, who.labels)
    spans = list(learnt.stretches(line.sentences)) if apart else [(0, len(line.masked))]
    return [learnt.normalised(line.masked[a:b], who.names, who.partner_names) for a, b in spans]


def units(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each stretch, with the number of its line."""
    return [{**r, "line": n, "same": same} for n, r in enumerate(lines) for same in r["said"]]


def vectors() -> dict[str, Floats]:
    """The vector of each piece that Japanese text can hold, by its characters."""
    folder = Path(str(_DATA / "fast_embedder"))
    known = {int(h): n for n, h in enumerate(np.load(folder / "hashes.npy"))}
    scales, kept = np.load(folder / "scales.npy"), np.load(folder / "vectors.npy")
    found: dict[str, Floats] = {}
    for piece in read_packed(packed_path()).pieces:
        word = str(piece).lstrip("▁")
        if not word or len(word) > _LONGEST or " " in word or not _JAPANESE.search(word):
            continue
        row = known.get(int(list(hashes(codes(piece), len(piece)))[-1][0]))
        if row is not None and (word not in found or piece == word):
            found[word] = kept[row].astype(np.float32) * scales[row]
    return found


def matrix(lines: list[set[str]], features: list[str], weight: float) -> Floats:
    at = {feature: n for n, feature in enumerate(features)}
    made = np.zeros((len(lines), len(features)), np.float32)
    for row, line in zip(made, lines, strict=True):
        own = [at[f] for f in line if f in at]
        row[own] = learnt.share(weight, len(own))
    return made


def fitted(kernel: Floats, y: Floats, weights: Floats, ridge: float = 1.0) -> Floats:
    """Ridge logistic regression by reweighted least squares, as the dual; the bias is in the
    kernel."""
    score = np.zeros(len(y))
    for _ in range(6):
        chance = 1 / (1 + np.exp(-score))
        curve = np.maximum(weights * chance * (1 - chance), 1e-6)
        wanted = score + weights * (y - chance) / curve
        dual: Floats = np.linalg.solve(kernel + ridge * np.diag(1 / curve), wanted)
        score = kernel @ dual
    return dual


def worst(score: Floats, lines: Floats) -> Floats:
    """The highest score of each line's stretches."""
    found = np.full(int(lines.max()) + 1, -np.inf)
    np.maximum.at(found, lines, score)
    return found


def above(scores: Floats, share: float) -> float:
    """The least cut that at most this share of the scores reaches."""
    if not len(scores):
        return -np.inf
    return float(np.sort(scores)[::-1][int(len(scores) * share)]) + 1e-6


def weighed(lines: list[dict[str, Any]], fault: matter.Fault) -> tuple[Floats, Floats, Floats]:
    """What is to be learnt, how much each line weighs, and of whom the fault can be said."""
    faults = np.array([r["fault"] for r in lines])
    y = (faults == fault).astype(float)
    unread = np.array([not matter.about(fault, r["same"]) for r in lines])
    weights = np.where(y > 0, _WRONG, np.where(np.isin(faults, _NATURAL), _GOOD, _OTHER))
    own = np.ones(len(lines), bool)
    if fault in ("home", "younger", "elder"):
        weights[(y == 0) & np.isin(faults, ["name", "home", "younger", "elder"])] = 0
    if fault in ("younger", "elder"):
        # To say that one is the younger is wrong of the elder only.
        own = np.array([r["elder"] is (fault == "younger") for r in lines])
        weights[~own & np.array([_KIN.search(r["same"]) is not None for r in lines])] = 0
    weights[unread] = 0
    return y, weights, own


def rounded(table: Floats) -> tuple[Floats, Floats]:
    """In 8 bits, with the scale of each column."""
    scale = np.maximum(np.abs(table).max(0), 1e-9) / 127
    return np.rint(table / scale).astype(np.int8), scale.astype(np.float32)


def joined(words: list[str]) -> Floats:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def features(texts: list[str], table: dict[str, Floats], of: int) -> dict[str, Any]:
    """Matrices by words, of praise by words, by shapes; the counted features are those of the
    first `of` texts."""
    cut = [learnt.Cutter(table)(text) for text in texts]
    worded, shaped = [learnt.pairs(own) for own in cut], [learnt.shapes(text) for text in texts]
    pair, shape = (_counted(f[:of], _LEAST, _MOST) for f in (worded, shaped))
    praise = [matter.about("praise", text) for text in texts]
    return {
        "pair": pair,
        "shape": shape,
        "dim": len(next(iter(table.values()))),
        "words": by_words(texts, table, pair),
        "praise": by_words(praise, table, pair),
        "shapes": matrix(shaped, shape, learnt.CLAUSE_SHARE),
    }


def by_words(texts: list[str], table: dict[str, Floats], pair: list[str]) -> Floats:
    cutter = learnt.Cutter(table)
    cut = [cutter(text) for text in texts]
    dim = len(next(iter(table.values())))
    known = [[table[p] for p in own if p in table] for own in cut]
    mean = np.stack(
        [
            np.sum(own, 0) / np.sqrt(sum(float(v @ v) for v in own)) if own else np.zeros(dim)
            for own in known
        ]
    ).astype(np.float32)
    counted = matrix([learnt.pairs(own) for own in cut], pair, learnt.PIECE_SHARE)
    return np.hstack([mean * _VECTOR, counted])


def learn(
    lines: list[dict[str, Any]], taught: list[dict[str, Any]], made: dict[str, Any], talks: Any
) -> tuple[dict[str, Floats], list[float], dict[str, list[float]]]:
    """Weights, biases and cuts of each fault. Authors are left out for the cuts."""
    at = np.array([r["line"] for r in taught])
    authors, kinds = (np.array([r[k] for r in lines]) for k in ("author", "fault"))
    elder = np.array([r["elder"] for r in lines])
    halves = [np.isin(authors[at], some) for some in _LEFT_OUT]
    held = np.isin(authors, [author for some in _LEFT_OUT for author in some])
    beta: dict[str, Floats] = {}
    bias: list[float] = []
    cuts: dict[str, list[float]] = {"cut": [], "sure": []}
    for name, faults in (
        ("words", matter.FAULTS[:3]),
        ("praise", matter.FAULTS[3:4]),
        ("shapes", matter.FAULTS[4:]),
    ):
        x, of = made[name][: len(taught)], made[name][len(taught) :]
        kernel = (x @ x.T + 100.0).astype(np.float64)
        for fault in faults:
            y, weights, _ = weighed(taught, fault)
            score = np.zeros(len(taught))
            for half in halves:
                on = np.flatnonzero(~half & (weights > 0))
                dual = fitted(kernel[np.ix_(on, on)], y[on], weights[on])
                score[half] = kernel[np.ix_(np.flatnonzero(half), on)] @ dual
            on = np.flatnonzero(weights > 0)
            dual = fitted(kernel[np.ix_(on, on)], y[on], weights[on])
            beta[fault], bias = x[on].T @ dual, [*bias, 100.0 * float(dual.sum())]
            score -= [learnt.unnamed(fault, matter.about(fault, r["same"])) for r in taught]
            score[[not matter.about(fault, r["same"]) for r in taught]] = -np.inf
            by_line = worst(score, at)
            whose = elder == (fault == "younger") if fault in ("younger", "elder") else held
            good, wrong = (
                by_line[(kinds == "good") & held & whose],
                by_line[(kinds == fault) & held],
            )
            if fault == "negation":
                good = good[good > -np.inf]  # of the lines that deny something at all
            theirs = np.array([])
            if talks:
                heard = of @ beta[fault] + bias[-1]
                heard -= [learnt.unnamed(fault, matter.about(fault, r["same"])) for r in talks]
                heard[[not matter.about(fault, r["same"]) for r in talks]] = -np.inf
                theirs = worst(heard, np.array([r["line"] for r in talks]))
                if fault in ("younger", "elder"):
                    whom = {r["line"]: r["elder"] for r in talks}
                    theirs = theirs[[whom[n] == (fault == "younger") for n in range(len(theirs))]]
            for kind, kept in cuts.items():
                cut = max(above(good, _FALSE[kind]), above(theirs, _STRANGERS[fault][kind]))
                kept.append(cut)
                shares = [f"{(s >= cut).mean():.3f}" for s in (wrong, good, theirs) if len(s)]
                print(fault, kind, len(wrong), len(good), *shares, flush=True)
    return beta, bias, cuts


def _counted(lines: Sequence[set[str]], least: int, most: float) -> list[str]:
    """Features of at least so many lines, and of at most such a share of them, sorted."""
    seen = Counter(feature for line in lines for feature in line)
    return sorted(f for f, n in seen.items() if least <= n < most * len(lines) and "\n" not in f)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--talks", type=Path)
    asked = parser.parse_args()
    lines, table = rows(), vectors()
    taught = units(lines)
    talks = [json.loads(r) for r in asked.talks.open(encoding="utf-8")] if asked.talks else []
    for r in talks:
        r["said"] = said(r["text"], r["speaker"], apart=True) or [""]
        r["elder"] = load_character(r["speaker"]).bond.kin == "elder"
    strangers = units(talks)
    made = features([r["same"] for r in (*taught, *strangers)], table, len(taught))
    beta, bias, cuts = learn(lines, taught, made, strangers)
    dim, words = made["dim"], list(table)
    asked.out.mkdir(parents=True, exist_ok=True)
    write_digests(asked.out / "documents.txt", [r["line"] for r in lines])
    worded_beta = np.stack([beta[f] for f in matter.FAULTS[:-1]], 1)
    told: dict[str, Any] = {
        "pieces": joined(words),
        "squared": np.array([float(v @ v) for v in table.values()], np.float16),
        "pairs": joined(made["pair"]),
        "shapes": joined(made["shape"]),
        "bias": np.array(bias, np.float32),
        **{kind: np.array(kept, np.float32) for kind, kept in cuts.items()},
    }
    for name, values in (
        ("by_piece", np.stack(list(table.values())) @ worded_beta[:dim] * _VECTOR),
        ("by_pair", worded_beta[dim:]),
        ("by_shape", beta["negation"][:, None]),
    ):
        told[name], told[f"{name}_scale"] = rounded(values)
    np.savez_compressed(asked.out / "weights.npz", **told)
    print(f"{len(lines)} lines, {len(words)} pieces, {len(made['pair'])} pairs")


if __name__ == "__main__":
    main()
