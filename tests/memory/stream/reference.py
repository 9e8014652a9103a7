"""The search of a stream written plainly: one memory at a time, Python's own floats."""

import math
from collections.abc import Sequence
from datetime import datetime

from naisei.memory.stream import Entry, ScoreWeights

Vector = Sequence[float] | None


def unit(a: Sequence[float]) -> list[float]:
    """Length 1, to the nearest 2⁻²⁴."""
    length = math.sqrt(math.fsum(x * x for x in a))
    return [round(x / length * 2**24) / 2**24 for x in a]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(unit(a), unit(b), strict=True))


def scaled(values: Sequence[float | None]) -> list[float]:
    known = [v for v in values if v is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if high - low <= 1e-12:
        return [0.0] * len(values)
    return [0.0 if v is None else (v - low) / (high - low) for v in values]


def reference(
    memories: Sequence[tuple[Entry, Vector]],
    queries: Sequence[Sequence[float]] | None,
    now: datetime,
    weights: ScoreWeights,
) -> list[tuple[str, float]]:
    """(id, score) of all memories, best first."""
    asked = [q for q in queries or () if any(q)]
    relevance = [
        max(cosine(q, vector) for q in asked) if asked and vector is not None else None
        for _, vector in memories
    ]
    hours = [max(0.0, (now - entry.time).total_seconds() / 3600) for entry, _ in memories]
    parts = zip(
        scaled(relevance),
        scaled([float(entry.importance) for entry, _ in memories]),
        scaled([weights.decay**h for h in hours]),
        strict=True,
    )
    scores = [
        round(weights.relevance * r + weights.importance * i + weights.recency * t, 12)
        for r, i, t in parts
    ]
    found = zip((entry for entry, _ in memories), scores, strict=True)
    ranked = sorted(found, key=lambda f: (-f[1], -f[0].time.timestamp(), f[0].id))
    return [(entry.id, score) for entry, score in ranked]
