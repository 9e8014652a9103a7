"""Learn the scores of `naisei.director.wording.learnt_faults` from labelled lines.

    python tools/fault_weights.py --out src/naisei/data/fault_weights

Reads the parts `dev` and `train` of director_lines/natural.jsonl and director_samples; what is
`test` or `fresh` is never read. Prints what is caught and falsely flagged of each author when
that author's lines are left out. Needs the extra `local` (the pieces' own strings).
"""

from __future__ import annotations

import argparse
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.director.character import load_character
from naisei.director.prepare import PreparedLine
from naisei.director.wording import learnt_faults as learnt
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
#: Share of good lines, left out, that each score may flag.
_FALSE = {"home": 0.01, "younger": 0.01, "elder": 0.01, "praise": 0.014, "negation": 0.01}
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
        who = load_character(row["character"])
        partner = who.partner.names if who.partner else ()
        line = PreparedLine(row["line"], (*who.names, *partner))
        row["same"] = learnt.normalised(line.masked, who.names, partner)
        row["elder"] = who.bond.kin == "elder"
    return found


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


def fitted(x: Floats, y: Floats, weights: Floats, ridge: float = 1.0) -> Floats:
    """Ridge logistic regression by reweighted least squares in the dual; the bias is last."""
    x = np.hstack([x, np.full((len(x), 1), 10.0)])
    kernel, score = x @ x.T, np.zeros(len(y))
    for _ in range(6):
        chance = 1 / (1 + np.exp(-score))
        curve = np.maximum(weights * chance * (1 - chance), 1e-6)
        wanted = score + weights * (y - chance) / curve
        dual = np.linalg.solve(kernel + ridge * np.diag(1 / curve), wanted)
        score = kernel @ dual
    beta: Floats = x.T @ dual
    beta[-1] *= 10.0
    return beta


def weighed(lines: list[dict[str, Any]], fault: str) -> tuple[Floats, Floats, Floats]:
    """What is to be learnt, how much each line weighs, and of whom the fault can be said."""
    faults = np.array([r["fault"] for r in lines])
    y = (faults == fault).astype(float)
    weights = np.where(y > 0, _WRONG, np.where(np.isin(faults, _NATURAL), _GOOD, _OTHER))
    own = np.ones(len(lines), bool)
    if fault in ("home", "younger", "elder"):
        weights[(y == 0) & np.isin(faults, ["name", "home", "younger", "elder"])] = 0
    if fault in ("younger", "elder"):
        # To say that one is the younger is wrong of the elder only.
        own = np.array([r["elder"] is (fault == "younger") for r in lines])
        weights[~own & np.array([_KIN.search(r["same"]) is not None for r in lines])] = 0
    return y, weights, own


def rounded(table: Floats) -> tuple[Floats, Floats]:
    """In 8 bits, with the scale of each column."""
    scale = np.maximum(np.abs(table).max(0), 1e-9) / 127
    return np.rint(table / scale).astype(np.int8), scale.astype(np.float32)


def joined(words: list[str]) -> Floats:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    lines, table = rows(), vectors()
    cutter = learnt.Cutter(table)
    cut = [cutter(r["same"]) for r in lines]
    known = [[table[p] for p in own if p in table] for own in cut]
    dim = len(next(iter(table.values())))
    mean = np.stack(
        [
            np.sum(own, 0) / np.sqrt(sum(float(v @ v) for v in own)) if own else np.zeros(dim)
            for own in known
        ]
    )
    worded, shaped = [learnt.pairs(own) for own in cut], [learnt.shapes(r["same"]) for r in lines]
    pair, shape = (learnt.counted(f, _LEAST, _MOST) for f in (worded, shaped))
    by_words = np.hstack([mean * _VECTOR, matrix(worded, pair, learnt.PIECE_SHARE)])
    by_shapes = matrix(shaped, shape, learnt.CLAUSE_SHARE)
    authors = np.array([r["author"] for r in lines])
    good = np.array([r["fault"] == "good" for r in lines])
    beta, bias, cuts = {}, [], []
    for fault in learnt.FAULTS:
        x = by_shapes if fault == "negation" else by_words
        y, weights, own = weighed(lines, fault)
        score = np.zeros(len(lines))
        held_out = [a for a in sorted(set(authors)) if a not in ("t", "sample")]
        for author in held_out:
            taught = (authors != author) & (weights > 0)
            b = fitted(x[taught], y[taught], weights[taught])
            score[authors == author] = x[authors == author] @ b[:-1] + b[-1]
        natural = np.sort(score[good & own & np.isin(authors, held_out)])[::-1]
        cuts.append(float(natural[int(len(natural) * _FALSE[fault])]) + 1e-6)
        for author in held_out:
            of = authors == author
            caught = (score[of & (y > 0)] > cuts[-1]).mean()
            false = (score[of & good & own] > cuts[-1]).mean()
            print(f"{fault} {author}: caught {caught:.3f}, false {false:.3f}", flush=True)
        b = fitted(x[weights > 0], y[weights > 0], weights[weights > 0])
        beta[fault], bias = b[:-1], [*bias, float(b[-1])]
    words = list(table)
    write_digests(out / "documents.txt", [r["line"] for r in lines])
    worded_beta = np.stack([beta[f] for f in learnt.FAULTS[:-1]], 1)
    told: dict[str, Any] = {
        "pieces": joined(words),
        "squared": np.array([float(v @ v) for v in table.values()], np.float16),
        "pairs": joined(pair),
        "shapes": joined(shape),
        "bias": np.array(bias, np.float32),
        "cut": np.array(cuts, np.float32),
    }
    for name, values in (
        ("by_piece", np.stack(list(table.values())) @ worded_beta[:dim] * _VECTOR),
        ("by_pair", worded_beta[dim:]),
        ("by_shape", beta["negation"][:, None]),
    ):
        told[name], told[f"{name}_scale"] = rounded(values)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / "weights.npz", **told)
    print(f"{len(lines)} lines, {len(words)} pieces, {len(pair)} pairs, {len(shape)} shapes")


if __name__ == "__main__":
    main()
