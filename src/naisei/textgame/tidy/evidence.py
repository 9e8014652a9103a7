"""What the score has told: right and wrong places, for a thing and for things like it."""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.textgame.tidy.naming import NamedThing

__all__ = ["Evidence"]

#: By likeness (same word and state, same class and state, same family and state): how much a
#: right place gains, what is left of a wrong one, and of one where such a thing lay about.
_RIGHT = (40.0, 12.0, 3.0)
_WRONG = (0.05, 0.15, 0.5)
_FOUND = (0.3, 0.5, 0.9)


@dataclass
class Evidence:
    """Receptacles are told apart by (place, name)."""

    right: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)
    wrong: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)
    found: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)

    def refused(self, thing: NamedThing, at: tuple[int, str]) -> bool:
        """Whether this very thing got no point there."""
        return any(other.name == thing.name and place == at for other, place in self.wrong)

    def lay(self, thing: NamedThing, at: tuple[int, str]) -> bool:
        """Whether the thing lay there when it was first seen."""
        return any(other.name == thing.name and place == at for other, place in self.found)

    def factor(self, thing: NamedThing, at: tuple[int, str]) -> float:
        """What experience makes of the prior, > 0; 1 without any. Of several experiences of a
        sort the strongest counts, since they are much the same evidence."""
        right = max((_RIGHT[k] for k in self._like(self.right, thing, at)), default=1.0)
        wrong = min((_WRONG[k] for k in self._like(self.wrong, thing, at)), default=1.0)
        found = min((_FOUND[k] for k in self._like(self.found, thing, at)), default=1.0)
        return right * wrong * found

    @staticmethod
    def _like(
        known: list[tuple[NamedThing, tuple[int, str]]], thing: NamedThing, at: tuple[int, str]
    ) -> list[int]:
        out = []
        for other, place in known:
            if place == at and (level := likeness(thing, other)) is not None:
                out.append(level)
        return out


def likeness(one: NamedThing, other: NamedThing) -> int | None:
    """0: the same word in the same state; 1: the same class; 2: the same family; `None`."""
    if _state(one) != _state(other):
        return None
    if one.head == other.head and one.kind == other.kind:
        return 0
    if one.kind and one.kind == other.kind:
        return 1
    # Where a state decides, it decides for the whole family.
    sent = one.places == other.places and one.state and one.state != "clean"
    if sent and one.family == other.family:
        return 1
    return 2 if one.family and one.family == other.family else None


def _state(thing: NamedThing) -> str:
    """Clean is how things are when nothing is said."""
    return "" if thing.state == "clean" else thing.state
