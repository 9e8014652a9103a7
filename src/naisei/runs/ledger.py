"""The ledger of a run, folded from its log: the cost of each role."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from naisei.core import Usage

#: Of events and failed tries together: role, model, calls without a price, then what
#: `Spent.add` takes.
SPENT = """
SELECT role, model,
  sum(CASE WHEN usd IS NULL AND cached = 0 AND input_tokens + output_tokens > 0
      THEN CASE WHEN calls > 1 THEN calls ELSE 1 END ELSE 0 END),
  sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  sum(lost_input + lost_output), sum(cached), sum(repaired), coalesce(sum(usd), 0.0)
FROM (
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM events WHERE role IS NOT NULL
  UNION ALL
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM lost WHERE role IS NOT NULL) AS each
GROUP BY role, model"""
#: What the effects of each episode cost, as `USAGE` after the episode, a row for each role and
#: model. {}: the table.
USED = """
SELECT episode, role, model, sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  CASE WHEN sum(CASE WHEN usd IS NULL AND calls > 0 THEN 1 ELSE 0 END) = 0 THEN sum(usd) END,
  cached, repaired, sum(lost_input), sum(lost_output)
FROM {} WHERE role IS NOT NULL GROUP BY episode, role, model, cached, repaired
ORDER BY min(seq)"""


_SUMS = (
    *("unpriced", "calls", "attempts", "input_tokens", "output_tokens"),
    *("lost", "cached", "repaired", "usd"),
)


@dataclass(slots=True)
class Spent:
    """The cost of one role. lost: tokens of unusable replies, included in the totals, as are
    cached_input (read from the endpoint's cache of prefixes) and reasoning. cached: calls answered
    from a cache of replies. unpriced: calls whose price is unknown."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    lost: int = 0
    cached: int = 0
    repaired: int = 0
    usd: float = 0.0
    unpriced: int = 0
    cached_input: int = 0
    reasoning: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, *sums: float) -> None:
        """Add sums in the order of `SPENT`."""
        for name, more in zip(_SUMS, sums, strict=True):
            setattr(self, name, getattr(self, name) + more)

    def to_json(self) -> dict[str, JsonValue]:
        """As in the result object: input, output, total, lost tokens, calls, attempts, …"""
        return {
            "input": self.input_tokens,
            "output": self.output_tokens,
            "total": self.tokens,
            "lost": self.lost,
            "calls": self.calls,
            "attempts": self.attempts,
            "cached": self.cached,
            "repaired": self.repaired,
            "cached_input": self.cached_input,
            "reasoning": self.reasoning,
            "usd": None if self.unpriced else self.usd,
        }


@dataclass(slots=True)
class Ledger:
    """Totals by role. Failed tries count: they were paid for too."""

    roles: dict[str, Spent] = field(default_factory=dict)
    #: Models that answered without a known price.
    unpriced: set[str] = field(default_factory=set)

    def add(self, usage: Usage | None) -> None:
        if usage is None:
            return
        unpriced = usage.usd is None and bool(usage.tokens) and not usage.cached
        spent = self.roles.setdefault(usage.role, Spent())
        spent.cached_input += usage.cached_input
        spent.reasoning += usage.reasoning
        spent.add(
            max(usage.calls, 1) if unpriced else 0,
            usage.calls,
            usage.attempts,
            usage.input_tokens,
            usage.output_tokens,
            usage.lost_input + usage.lost_output,
            usage.cached,
            usage.repaired,
            usage.usd or 0.0,
        )
        if unpriced:
            self.unpriced.add(usage.model)

    @property
    def tokens(self) -> int:
        return sum(s.tokens for s in self.roles.values())

    @property
    def known_usd(self) -> float:
        """US dollars of the calls whose price is known."""
        return float(sum(s.usd for s in self.roles.values()))

    @property
    def usd(self) -> float | None:
        """US dollars in all; `None` if the price of any call is unknown."""
        return None if self.unpriced else self.known_usd

    def to_json(self) -> dict[str, JsonValue]:
        return {role: spent.to_json() for role, spent in sorted(self.roles.items())}
