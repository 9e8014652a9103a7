"""Limits of an episode and of a run, and the meter that they are held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

__all__ = ["Limits", "Meter", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one performed effect cost.

    role, model: whose call. calls: answered requests (0 for a cache hit). attempts:
    requests sent, failed ones included. *_tokens: as the endpoint counted them. lost_*:
    those of them that went into replies that were no answer and were asked for again.
    usd: price in US dollars, `None` where the price is unknown.
    """

    role: str = ""
    model: str = ""
    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    cached: bool = False
    repaired: bool = False
    lost_input: int = 0
    lost_output: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def used(self) -> tuple[int, int]:
        """Input and output tokens of the replies that were used: what a server's faults
        do not change."""
        return self.input_tokens - self.lost_input, self.output_tokens - self.lost_output

    def wasted(self) -> Usage:
        """The same, of an effect that failed: everything was lost."""
        return replace(self, lost_input=self.input_tokens, lost_output=self.output_tokens)


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds; `None` means none. seconds are those spent in performing effects.

    A bound is looked at before each effect, so that the last one may overstep it; parts of
    a `Gather` are each held against what was used before it, and so may several. A bound
    in usd counts as reached once a call has no known price: it could not be kept.
    """

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Meter:
    """Running totals of what `Limits` bounds. Replayed effects count like performed ones.

    unpriced: calls whose price is unknown.
    """

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    unpriced: int = 0

    def add(self, usage: Usage | None, seconds: float) -> None:
        """Count one effect."""
        self.steps += 1
        self.seconds += seconds
        if usage is not None:
            self.calls += usage.calls
            self.tokens += usage.tokens
            self.usd += usage.usd or 0.0
            self.unpriced += usage.calls if usage.usd is None else 0

    def copy(self) -> Meter:
        """A meter that counts on from here by itself."""
        return replace(self)

    def join(self, branches: Iterable[Meter]) -> None:
        """Count what copies of this meter have counted since they were made."""
        start = self.copy()
        for branch in branches:
            for f in fields(Meter):
                since = getattr(branch, f.name) - getattr(start, f.name)
                setattr(self, f.name, getattr(self, f.name) + since)

    def reached(self, limits: Limits) -> str:
        """The first limit that is used up, in words, or an empty string."""
        for f in fields(limits):
            bound, used = getattr(limits, f.name), getattr(self, f.name)
            if bound is not None and used >= bound:
                return f"{f.name}: {used:g} of {bound:g}"
        if limits.usd is not None and self.unpriced:
            return f"usd: the price of {self.unpriced} calls is unknown"
        return ""
