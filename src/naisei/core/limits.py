"""Limits of an episode and of a run, and the meter that they are held against."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Limits", "Meter", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one performed effect cost.

    role, model: whose call. calls: answered requests (0 for a cache hit). attempts:
    requests sent, failed ones included. *_tokens: as the endpoint counted them.
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

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds; `None` means none. seconds are those spent in performing effects."""

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Meter:
    """Running totals of what `Limits` bounds. Replayed effects count like performed ones."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def add(self, usage: Usage | None, seconds: float) -> None:
        self.steps += 1
        self.seconds += seconds
        if usage is not None:
            self.calls += usage.calls
            self.tokens += usage.tokens
            self.usd += usage.usd or 0.0

    def reached(self, limits: Limits) -> str:
        """The first limit that is used up, in words, or an empty string."""
        for f in fields(limits):
            bound, used = getattr(limits, f.name), getattr(self, f.name)
            if bound is not None and used >= bound:
                return f"{f.name}: {used:g} of {bound:g}"
        return ""
