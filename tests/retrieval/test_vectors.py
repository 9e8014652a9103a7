"""Search by meaning over many vectors: the first look loses nothing that matters."""

from pathlib import Path

import numpy as np

from naisei.retrieval import vectors
from naisei.retrieval.vectors import VectorIndex


def test_the_first_look_finds_what_the_exact_one_does(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    # As embedders have it: a common direction, some strong ones, and noise.
    strong = draw.standard_normal((40, 64)) * np.linspace(2, 0.2, 40)[:, None]
    rows = (
        draw.standard_normal((30_000, 40)) @ strong + 5 + 0.2 * draw.standard_normal((30_000, 64))
    )
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", rows)
    exact = VectorIndex(tmp_path)
    vectors._write_coarse(tmp_path, rows)
    coarse = VectorIndex(tmp_path)
    mask = np.arange(len(rows)) % 3 > 0
    for n in range(20):
        query = rows[n * 7] + 0.05 * draw.standard_normal(64).astype(np.float32)
        query /= np.linalg.norm(query)
        wanted = exact.scores(query)
        assert np.array_equal(np.argsort(-wanted)[:20], np.argsort(-coarse.scores(query))[:20])
        among = np.where(mask, wanted, -9)
        found = coarse.scores(query, mask)
        found = np.where(mask, found, -9)
        assert np.array_equal(np.argsort(-among)[:20], np.argsort(-found)[:20])
        assert coarse.cosine(3, query) == float(rows[3] @ query)
