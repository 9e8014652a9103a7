"""How often 95 % intervals hold the true value: shares, and paired differences of shares.

    python -m benchmarks.intervals [--samples N]

Binary outcomes in clusters of 1 to 3 (as the scenes of ambigact40-open have), of 5, and of 12 (as
households have). Within clusters they correlate by the beta-binomial model; differences are of two
runs on the same units, whose correlation comes from the cluster and the unit. The table stands in
docs/runs.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from naisei.runs.significance import paired_difference
from naisei.runs.statistics import interval

CLUSTERS = (5, 8, 10, 15, 20, 40, 181)
SHARES = (0.5, 0.8, 0.95)
CORRELATIONS = (0.1, 0.3)
SIZES: dict[str, tuple[int, ...]] = {"1-3": (1, 2, 3), "5": (5,), "12": (12,)}
#: What two runs solve.
PAIRS = ((0.5, 0.6), (0.8, 0.9), (0.95, 0.95))


def covered(p: float, correlation: float, size: str, clusters: int, samples: int) -> float:
    """The share of samples of outcomes whose interval holds `p`."""
    rng = np.random.default_rng([clusters, round(100 * p), round(100 * correlation), len(size)])
    apart = (1 - correlation) / correlation
    held = 0
    for _ in range(samples):
        sizes = rng.choice(SIZES[size], size=clusters)
        labels = np.repeat(np.arange(clusters), sizes)
        rates = rng.beta(p * apart, (1 - p) * apart, size=clusters)
        values = (rng.random(len(labels)) < rates[labels]).astype(float)
        low, high = interval(values, clusters=labels.tolist(), share=True)
        held += low <= p <= high
    return held / samples


def covered_difference(pair: tuple[float, float], size: str, clusters: int, samples: int) -> float:
    """The share of samples of two runs whose interval holds the true difference."""
    rng = np.random.default_rng([clusters, *(round(100 * p) for p in pair), len(size)])
    limits = [NormalDist().inv_cdf(p) for p in pair]
    held = 0
    for _ in range(samples):
        labels = np.repeat(np.arange(clusters), rng.choice(SIZES[size], size=clusters))
        n = len(labels)
        shared = 0.5 * rng.normal(size=clusters)[labels] + np.sqrt(0.3) * rng.normal(size=n)
        runs = []
        for limit in limits:
            own = np.sqrt(0.15) * rng.normal(size=clusters)[labels]
            latent = shared + own + np.sqrt(0.3) * rng.normal(size=n)
            runs.append((latent < limit).astype(float))
        found = paired_difference(runs[0], runs[1], clusters=labels.tolist(), share=True)
        held += found.low <= pair[1] - pair[0] <= found.high
    return held / samples


def rows(samples: int) -> Iterator[list[str]]:
    """Cells of the table: what is estimated, the clusters' size, coverage by their number."""
    for size in SIZES:
        for p in SHARES:
            for r in CORRELATIONS:
                cells = [covered(p, r, size, m, samples) for m in CLUSTERS]
                yield [f"{p}, r = {r}", size, *(f"{c:.3f}" for c in cells)]
        for pair in PAIRS:
            cells = [covered_difference(pair, size, m, max(1, samples // 4)) for m in CLUSTERS]
            yield [f"{pair[1]} - {pair[0]}", size, *(f"{c:.3f}" for c in cells)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=4000)
    samples = parser.parse_args().samples
    print("| true value | size | " + " | ".join(f"{m} clusters" for m in CLUSTERS) + " |")
    print("|" + "---|" * (len(CLUSTERS) + 2))
    for cells in rows(samples):
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
