"""What a script amounts to: counts by character and check, its worst lines, tone over time.

Nothing here grows with the script but the sums of a fixed number of stretches.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from naisei.core import Status
from naisei.director.bulk import Judged
from naisei.director.verdict import CHECK_NAMES
from naisei.lang import say
from naisei.runs.statistics import wilson_interval
from naisei.runs.task import Table

__all__ = ["Tally", "Worst", "tables", "tally"]

#: Lines that are listed, and points of a curve (a longer script is averaged over stretches).
_WORST, _POINTS = 25, 120


@dataclass(frozen=True, slots=True)
class Worst:
    """One of the worst lines. checks: name, status, reason, suggestion and spans of each."""

    number: int
    speaker: str
    text: str
    status: Status
    checks: tuple[tuple[str, Status, str, str, tuple[str, ...]], ...]


@dataclass
class _Curve:
    """Tone scores in order; when there are too many points, neighbours are averaged."""

    width: int = 1
    sums: list[tuple[float, int]] = field(default_factory=list)

    def add(self, score: int) -> None:
        if self.sums and self.sums[-1][1] < self.width:
            total, n = self.sums[-1]
            self.sums[-1] = (total + score, n + 1)
        else:
            self.sums.append((float(score), 1))
        if len(self.sums) > _POINTS:
            pairs = zip(self.sums[::2], [*self.sums[1::2], (0.0, 0)], strict=False)
            self.sums = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
            self.width *= 2

    @property
    def points(self) -> list[float]:
        return [total / n for total, n in self.sums]


@dataclass
class Tally:
    """Counts over a script. status, checks: by character, in the order of their first line."""

    names: dict[str, str] = field(default_factory=dict)
    status: dict[str, Counter[Status]] = field(default_factory=dict)
    checks: dict[str, Counter[tuple[str, Status]]] = field(default_factory=dict)
    curves: dict[str, _Curve] = field(default_factory=dict)
    worst: list[Worst] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(sum(counts.values()) for counts in self.status.values())


def tally(lines: Iterable[Judged]) -> Tally:
    """Count as the lines come."""
    out = Tally()
    heap: list[tuple[tuple[int, int, int], Worst]] = []
    for line, verdict in lines:
        assert line.character is not None
        who = line.character.id
        if who not in out.names:
            out.names[who] = line.character.name
            out.status[who], out.checks[who] = Counter(), Counter()
            out.curves[who] = _Curve()
        out.status[who][verdict.status] += 1
        bad = [c for c in verdict.checks if c.status is not Status.PASS]
        for check in bad:
            out.checks[who][check.name, check.status] += 1
        out.curves[who].add(verdict.tone.score)
        if not bad:
            continue
        rank = (sum(c.status is Status.RETRY for c in bad), len(bad), -line.number)
        if len(heap) < _WORST or rank > heap[0][0]:
            found = Worst(
                line.number,
                line.character.name,
                line.text[:400],
                verdict.status,
                tuple((c.name, c.status, c.reason, c.suggestion, c.evidence) for c in bad),
            )
            (heapq.heappush if len(heap) < _WORST else heapq.heapreplace)(heap, (rank, found))
    out.worst = [worst for _, worst in sorted(heap, key=lambda entry: entry[0], reverse=True)]
    return out


def tables(found: Tally) -> tuple[Table, Table]:
    """Pass rates with Wilson's 95 % intervals: by character, and by character and check."""
    note = say(
        "PASS の割合: 何も指摘のない発言。区間は Wilson の 95 % (発言は独立とみなす)。",
        "PASS rate: lines without any remark. Intervals: Wilson, 95 %, lines as independent.",
    )
    whole: list[tuple[str | float | int, ...]] = []
    by_check: list[tuple[str | float | int, ...]] = []
    for who, name in found.names.items():
        counts = found.status[who]
        n = sum(counts.values())
        warned, rejected = counts[Status.WARN], counts[Status.RETRY]
        whole.append((name, n, *_share(n - warned - rejected, n), warned, rejected))
        for check in CHECK_NAMES:
            warned, rejected = (
                found.checks[who][check, status] for status in (Status.WARN, Status.RETRY)
            )
            by_check.append((name, check, n, *_share(n - warned - rejected, n), warned, rejected))
    rate = ("PASS rate", "PASS rate low", "PASS rate high")
    return (
        Table("By character", ("character", "lines", *rate, "WARN", "RETRY"), tuple(whole), note),
        Table(
            "By character and check",
            ("character", "check", "lines", *rate, "WARN", "RETRY"),
            tuple(by_check),
        ),
    )


def _share(hits: int, n: int) -> tuple[float, float, float]:
    return (hits / n, *wilson_interval(hits, n))
