"""Agreement of annotators: Krippendorff's α, and precision and recall of sets of marks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from naisei.runs.statistics import cluster_sums, mean_metric
from naisei.runs.task import Metric

__all__ = ["krippendorff_alpha", "masi_distance", "set_precision", "set_recall"]


Floats = npt.NDArray[np.float64]
Sets = Sequence[Collection[Hashable]]
_NAN = float("nan")


def nominal_distance(a: Hashable, b: Hashable) -> float:
    """0 for the same value, else 1."""
    return float(a != b)


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


def krippendorff_alpha(
    units: Sequence[Sequence[Any]],
    *,
    distance: Callable[[Any, Any], float] = nominal_distance,
    clusters: Sequence[Hashable] | None = None,
    name: str = "alpha",
    resamples: int = 2_000,
    seed: int = 0,
) -> Metric:
    """Krippendorff's α = 1 − D_o / D_e (Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability"), with a bootstrap 95 % interval.

    units: for each thing that was coded the value of each coder, `None` where one gave none;
    values are hashable (frozensets for `masi_distance`). Units with fewer than two values
    tell nothing about agreement and are left out; `Metric.n` counts the others. distance:
    symmetric, 0 for equal values (the squared difference function δ² of the paper).

    The interval is that of resampled units, or of whole `clusters` of them (say, all the
    actions judged for one item); chance is estimated anew in each resample, and resamples
    without any variation are left out. NaN with a reason where no unit has two values or
    where all values are equal: then there is nothing that chance could get wrong.
    """
    labels = list(range(len(units))) if clusters is None else list(clusters)
    coded = [
        (label, values)
        for label, unit in zip(labels, units, strict=True)
        if len(values := [v for v in unit if v is not None]) >= 2
    ]
    if not coded:
        return Metric(name, _NAN, reason="no unit was coded twice")
    kept = [label for label, _ in coded]
    kinds: dict[Any, int] = {
        v: i for i, v in enumerate(dict.fromkeys(v for _, u in coded for v in u))
    }
    apart = np.array([[distance(a, b) for b in kinds] for a in kinds])
    counts = np.zeros((len(coded), len(kinds)))
    for row, (_, values) in zip(counts, coded, strict=True):
        for v in values:
            row[kinds[v]] += 1
    # Both sums over all ordered pairs of values, within a unit and within everything.
    within = np.einsum("uc,cd,ud->u", counts, apart, counts) / (counts.sum(axis=1) - 1)
    if not apart.any():
        return Metric(name, _NAN, reason="all values are equal, so agreement by chance is total")
    value = float(_alpha(within.sum(keepdims=True), counts.sum(axis=0)[None, :], apart)[0])
    low, high = _interval(within, counts, apart, kept, resamples, seed)
    return Metric(name, value, low, high, len(coded))


def _alpha(within: Floats, totals: Floats, apart: Floats) -> Floats:
    """α of each row. within: shape (r,); totals, how often each value was given: (r, values)."""
    expected = np.einsum("rc,rc->r", totals @ apart, totals) / (totals.sum(axis=1) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - within / expected, _NAN)


def _interval(
    within: Floats,
    counts: Floats,
    apart: Floats,
    labels: Sequence[Hashable],
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    """Percentile interval over clusters; (NaN, NaN) for fewer than two."""
    index = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    n = len(index)
    if n < 2:
        return _NAN, _NAN
    sums, _ = cluster_sums(within, labels)
    per_cluster = np.zeros((n, counts.shape[1]))
    np.add.at(per_cluster, [index[label] for label in labels], counts)
    rng = np.random.default_rng(seed)
    times = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    drawn = _alpha(times @ sums, times @ per_cluster, apart)
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) == 0:
        return _NAN, _NAN
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def set_precision(
    marks: Sets,
    truth: Sets,
    *,
    average: Literal["micro", "items"] = "micro",
    clusters: Sequence[Hashable] | None = None,
    name: str = "precision",
    seed: int = 0,
) -> Metric:
    """The share of marks that are in the truth, with a bootstrap 95 % interval.

    marks, truth: a set for each item, in the same order. micro: over all marks together,
    `Metric.n` of them. items: the mean of every item's share, over the `n` items that have
    marks at all. Resampled are items, or whole `clusters` of them. NaN without any mark.
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
        seed=seed,
        reason="no item has a mark",
    )


def set_recall(
    marks: Sets,
    truth: Sets,
    *,
    average: Literal["micro", "items"] = "micro",
    clusters: Sequence[Hashable] | None = None,
    name: str = "recall",
    seed: int = 0,
) -> Metric:
    """The share of the truth that was marked: `set_precision` with its sides changed."""
    found = set_precision(truth, marks, average=average, clusters=clusters, name=name, seed=seed)
    if found.reason:
        return Metric(name, _NAN, reason="no item has anything to find")
    return found
