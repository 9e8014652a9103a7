"""What an attack reports, and what is made of it: counts, and how to repeat what got through."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try. kind: of attack. fell: whether it got through. outcome: in a word or two, for the
    counts. note: what is needed to repeat it."""

    kind: str
    outcome: str
    fell: bool = False
    note: str = ""


@dataclass
class Tally:
    """Counts attempts, and prints those that fell as they come, with the command that repeats
    them."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    fell: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return self.counts.total()

    def add(self, attempts: Iterable[Attempt], replay: str) -> None:
        """replay: the command that makes these attempts again."""
        for attempt in attempts:
            self.counts[attempt.kind, attempt.outcome] += 1
            if attempt.fell:
                self.fell[attempt.outcome] += 1
                told = f"FELL {attempt.kind}: {attempt.outcome}: {attempt.note[:600]}"
                print(f"{told}\n   again: {replay}", flush=True)

    def show(self) -> None:
        for (kind, outcome), n in sorted(self.counts.items()):
            print(f"   {kind:32} {outcome:24} {n:6}", flush=True)

    def line(self, **more: object) -> str:
        """JSON."""
        return json.dumps({**more, "attempts": len(self), "fell": self.fell.total()})
