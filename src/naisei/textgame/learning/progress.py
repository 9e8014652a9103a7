"""What is done of one game's recipe, as far as points and the words of states tell."""

from __future__ import annotations

from collections.abc import Collection

from naisei.textgame.learning.beliefs import END, Beliefs
from naisei.textgame.learning.directions import Assignment

__all__ = ["Progress"]

#: The goal of working on what needs no more work.
_NONE = "<none>"


class Progress:
    """Raises the counts of what is known with every point, and every command without one."""

    def __init__(self, assignment: Assignment, beliefs: Beliefs) -> None:
        self._assignment, self._beliefs = assignment, beliefs
        self._known, self._credit = beliefs.known, beliefs.credit
        self._done: set[tuple[str, str]] = set()
        #: Ingredient → templates that brought a point on it.
        self._used: dict[str, set[str]] = {}
        #: … of which nobody knows for which direction it was, and the words before the
        #: ingredient's name when the first of them came.
        self._puzzling: dict[str, tuple[str, ...]] = {}
        self._words: dict[str, frozenset[str]] = {}

    def chances(self, thing: str) -> dict[str, float]:
        """Verbs that the recipe may still ask for on an ingredient → how likely it does."""
        return self._credit.chances(self._unsettled(thing), self._puzzling.get(thing, ()))

    def open_directions(self, thing: str) -> list[str]:
        """As many of these as are left, the most likely."""
        chances = self.chances(thing)
        left = sorted(chances, key=lambda verb: -chances[verb])
        return left[: round(sum(chances.values()))]

    def used(self, thing: str) -> Collection[str]:
        """Templates that brought a point on the ingredient, whatever it was for."""
        return self._used.get(thing, ())

    def closing(self) -> tuple[str, str] | None:
        """The next direction about no ingredient; (`END`, dish) when all are done."""
        steps = self._assignment.closing
        undone = (step for step in steps if step not in self._done)
        return next(undone, (END, steps[-1][1]) if steps else None)

    @property
    def closed(self) -> bool:
        """Whether the first direction about no ingredient is done: nothing is gathered then."""
        return bool(set(self._assignment.closing) & self._done)

    def of_dish(self) -> dict[str, float]:
        """The goal of a command about no ingredient."""
        step = self.closing()
        return {step[0]: 1.0} if step else {}

    def missed(self, template: str, chances: dict[str, float], *, lost: bool) -> None:
        """No point came of a command that may have been for these goals."""
        for goal, chance in (chances or {_NONE: 1.0}).items():
            tally = self._known.tally(goal, template)
            if lost:
                tally.lost += chance
            else:
                tally.nothing += chance
        self._credit.changed()

    def point_for_dish(self, template: str, thing: str) -> None:
        step = self.closing()
        assert step is not None, "a recipe without a dish has no such goal"
        self._known.tally(step[0], template).gained += 1
        self._done.add((step[0], thing))
        self._credit.changed()

    def point(self, thing: str, template: str, before: frozenset[str], now: frozenset[str]) -> None:
        """A command brought a point on an ingredient; before, now: the words before its name."""
        verbs = self._unsettled(thing)
        if not verbs:
            return
        self._used.setdefault(thing, set()).add(template)
        new = now - before
        told = [verb for verb in verbs if self._mark(verb) in new]
        if len(verbs) == 1:
            self._clear(verbs[0], thing, template)
            for word in new:
                row = self._known.marks.setdefault(verbs[0], {})
                row[word] = row.get(word, 0) + 1
        elif len(told) == 1 and thing not in self._puzzling:
            self._clear(told[0], thing, template)
        else:
            self._words.setdefault(thing, before)
            self._set_puzzle(thing, (*self._puzzling.get(thing, ()), template))
        self._credit.changed()

    def see(self, thing: str, words: Collection[str]) -> None:
        """A direction whose word the ingredient bears is done."""
        for verb in self._unsettled(thing):
            if self._mark(verb) in words:
                self._seen_done(verb, thing)

    def _seen_done(self, verb: str, thing: str) -> None:
        templates = self._puzzling.get(thing, ())
        came_with_a_point = bool(templates) and self._mark(verb) not in self._words[thing]
        if came_with_a_point and len(templates) > 1:
            return  # with which of them?
        self._set_puzzle(thing, ())
        if came_with_a_point:
            self._clear(verb, thing, templates[0])
        else:
            self._done.add((verb, thing))
            self._set_puzzle(thing, templates)
        self._credit.changed()

    def _unsettled(self, thing: str) -> list[str]:
        directions = self._assignment.directions
        return [v for v, t in directions if t == thing and (v, t) not in self._done]

    def _mark(self, verb: str) -> str:
        """The word that tells that a direction is done; empty while there is none."""
        words = self._known.marks.get(verb, {})
        return max(words, key=lambda word: (words[word], word), default="")

    def _clear(self, verb: str, thing: str, template: str) -> None:
        self._known.tally(verb, template).gained += 1
        self._done.add((verb, thing))

    def _set_puzzle(self, thing: str, templates: tuple[str, ...]) -> None:
        """These brought points for the unsettled directions, instead of those before."""
        verbs = sorted(self._unsettled(thing))
        if before := self._puzzling.pop(thing, ()):
            self._known.puzzle(verbs, sorted(before), -1)
        if len(verbs) == len(templates) == 1:
            self._clear(verbs[0], thing, templates[0])
        elif templates:
            self._known.puzzle(verbs, sorted(templates), 1)
            if len(templates) == len(verbs):
                self._done |= {(verb, thing) for verb in verbs}
            else:
                self._puzzling[thing] = templates
