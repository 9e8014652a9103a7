"""100,000 memories of 384 numbers: three questions together, on one core.

    python benchmarks/stream.py [--memories 100000] [--rounds 30]

Next to it the loop that generative-agents code runs for every question: one memory at a time,
a cosine of two vectors each, then three min-max normalisations and a sort. Printed are the
median time of both, the time of an append at the start and at the end, and what the memories
take. Both must name the same best 40. Fails (exit code 1) if the loop takes less than 30 times as
long, the memories take more than 420 MB, or a late append costs over twice an early one.
"""

import argparse
import os
import resource
import statistics
import sys
import time
from datetime import datetime, timedelta

import numpy as np

from naisei.memory.stream import Entry, Stream

#: One thread; the libraries read these when they are loaded.
ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BAR_TIMES, BAR_MB, BAR_GROWTH = 30.0, 420.0, 2.0
DIM, QUESTIONS, BEST = 384, 3, 40
START = datetime(2026, 1, 1)
TEXT = "そういえば、昨日の帰りに駅前の本屋で、前に話していた本を見つけたんですよ。({})"


def peak_mb() -> float:
    """Of this process, in 10⁶ bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def filled(count: int) -> tuple[Stream, list[float]]:
    """A stream of `count` memories, and the seconds that each append took."""
    draw = np.random.default_rng(0)
    stream, took = Stream(), []
    for n in range(count):
        vector = draw.standard_normal(DIM, dtype=np.float32)
        entry = Entry(
            id=f"s{n // 40}.t{n % 40}",
            time=START + timedelta(minutes=n),
            speaker="田中 ケンタ" if n % 2 else "高橋 さおり",
            text=TEXT.format(n),
            importance=int(draw.integers(1, 11)),
            source={"session": n // 40, "turn": n % 40},
        )
        began = time.perf_counter()
        stream.append(entry, vector)
        took.append(time.perf_counter() - began)
    return stream, took


def item_by_item(
    nodes: list[tuple[str, np.ndarray, int, datetime]], queries: np.ndarray, now: datetime
) -> list[str]:
    """The ids of the best, by a loop over the memories for every question."""

    def scaled(values: list[float]) -> list[float]:
        low, high = min(values), max(values)
        return [(value - low) / (high - low) for value in values]

    relevance = [-1.0] * len(nodes)
    for query in queries:
        for n, (_, vector, _, _) in enumerate(nodes):
            cosine = np.dot(vector, query) / (np.linalg.norm(vector) * np.linalg.norm(query))
            relevance[n] = max(relevance[n], float(cosine))
    hours = [max(0.0, (now - when).total_seconds() / 3600) for _, _, _, when in nodes]
    parts = zip(
        scaled(relevance),
        scaled([float(importance) for _, _, importance, _ in nodes]),
        scaled([0.995**h for h in hours]),
        strict=True,
    )
    scores = {node[0]: r + i + t for node, (r, i, t) in zip(nodes, parts, strict=True)}
    return sorted(scores, key=lambda id: -scores[id])[:BEST]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--memories", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=30)
    asked = options.parse_args()
    before = peak_mb()
    stream, took = filled(asked.memories)
    queries = np.random.default_rng(1).standard_normal((QUESTIONS, DIM), dtype=np.float32)
    now = START + timedelta(minutes=asked.memories)
    times, busy = [], []
    for _ in range(asked.rounds + 1):
        began, used = time.perf_counter(), time.thread_time()
        found = stream.search(queries, now=now, k=BEST)
        times.append((time.perf_counter() - began) * 1e3)
        busy.append((time.thread_time() - used) * 1e3)
    memories, median = peak_mb() - before, statistics.median(times[1:])
    tenth = max(len(took) // 10, 1)
    early, late = (statistics.median(part) * 1e6 for part in (took[:tenth], took[-tenth:]))

    draw, nodes = np.random.default_rng(0), []
    for entry in stream:
        vector = draw.standard_normal(DIM, dtype=np.float32)
        draw.integers(1, 11)
        nodes.append((entry.id, vector, entry.importance, entry.time))
    began = time.thread_time()
    expected = item_by_item(nodes, queries, now)
    loop = (time.thread_time() - began) * 1e3
    computing = statistics.median(busy[1:])
    same = [one.entry.id for one in found] == expected

    print(f"{asked.memories} memories x {DIM}, {QUESTIONS} questions together, one core")
    print(f"  retrieval, median {median:8.1f} ms   least {min(times):.1f}")
    print(f"  of that, computing{computing:7.1f} ms   the rest: other programs")
    print(
        f"  item by item      {loop:8.1f} ms   {loop / computing:.0f} times   bar {BAR_TIMES:.0f}"
    )
    print(f"  memory            {memories:8.1f} MB   bar {BAR_MB:.0f}")
    print(f"  append, median    {early:8.1f} µs at first, {late:.1f} µs at last")
    print(f"  the same best {BEST}: {'yes' if same else 'NO'}")
    kept = (
        loop >= BAR_TIMES * computing and memories <= BAR_MB and late <= BAR_GROWTH * early and same
    )
    return 0 if kept else 1


if __name__ == "__main__":
    if any(os.environ.get(name) != "1" for name in ONE):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE})
    raise SystemExit(main())
