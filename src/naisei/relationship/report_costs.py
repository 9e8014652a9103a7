"""What each turn cost, by role, from the events of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from naisei.core import Event
from naisei.relationship.book import RECORD

__all__ = ["Cost", "TurnCost", "turn_costs"]


@dataclass(slots=True)
class Cost:
    """calls: answered requests; attempts: those sent. repaired: answers asked for once more.
    failed: effects that failed."""

    calls: int = 0
    attempts: int = 0
    tokens: int = 0
    repaired: int = 0
    failed: int = 0


@dataclass(slots=True)
class TurnCost:
    """One utterance with what was asked for it and after it; turn −1: before the first."""

    session: int
    turn: int
    roles: dict[str, Cost] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(cost.calls for cost in self.roles.values())

    @property
    def tokens(self) -> int:
        return sum(cost.tokens for cost in self.roles.values())


def turn_costs(events: Iterable[Event]) -> list[TurnCost]:
    """Speakers' calls count for the utterance that they lead to, all others for the one before."""
    out: list[TurnCost] = []
    now = TurnCost(1, -1)
    spoken: list[Event] = []
    for event in events:
        request = cast(dict[str, Any], event.request)
        if (
            event.kind == "remember"
            and request["memory"] == RECORD
            and "session" in request["item"]
        ):
            _keep(out, now)
            now = TurnCost(int(request["item"]["session"]["number"]), -1)
        elif event.kind == "say":
            _keep(out, now)
            now = TurnCost(int(request["meta"]["session"]), int(request["meta"]["turn"]))
            for earlier in spoken:
                _add(now, earlier)
            spoken = []
        elif event.kind == "chat" and request["role"] == "speaker":
            spoken.append(event)
        elif event.kind == "chat":
            _add(now, event)
    for left in spoken:
        _add(now, left)
    _keep(out, now)
    return out


def _keep(out: list[TurnCost], turn: TurnCost) -> None:
    if turn.turn >= 0 or turn.roles:
        out.append(turn)


def _add(turn: TurnCost, event: Event) -> None:
    role = str(cast(dict[str, Any], event.request)["role"])
    cost = turn.roles.setdefault(role, Cost())
    cost.failed += event.failure is not None
    if (usage := event.usage) is not None:
        cost.calls += usage.calls
        cost.attempts += usage.attempts
        cost.tokens += usage.tokens
        cost.repaired += usage.repaired
