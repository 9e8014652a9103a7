"""What is known of one game, and what its points and losses teach."""

from __future__ import annotations

import re

from naisei.textgame.learning.beliefs import CURIOSITY, END, Beliefs
from naisei.textgame.learning.directions import Assignment, read_assignment
from naisei.textgame.learning.knowledge import Knowledge, Offer
from naisei.textgame.learning.templates import DISH, NEEDED, Roles, instrument
from naisei.textgame.reading import Scene, read_scene
from naisei.textgame.schemas import View
from naisei.textgame.world_map import WorldMap

__all__ = ["Notes"]

_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\n+")
_ARTICLES = {"a", "an", "some", "the"}


class Notes:
    """Kept up to date with every view; raises the counts of `known`."""

    def __init__(self, known: Knowledge, beliefs: Beliefs) -> None:
        self.known, self._beliefs = known, beliefs
        self.world = WorldMap()
        self.scene: Scene = read_scene(View())
        #: Held thing → the words before its name.
        self.held: dict[str, frozenset[str]] = {}
        self.assignment: Assignment | None = None
        self.done: set[tuple[str, str]] = set()
        self.portable: set[str] = set()
        self.book_at = -1
        #: How many things fit into the hands, once that was seen.
        self.limit: int | None = None
        self.most_held = 0
        #: Instrument → the place whose text names it.
        self.named_at: dict[str, int] = {}
        self.stuck: set[tuple[int, str]] = set()
        self.openings: list[tuple[str, bool]] = []
        #: Whether the last view offered a kind of command that never was before.
        self.something_new = False
        self.score = 0

    @property
    def roles(self) -> Roles:
        task = self.assignment
        return Roles(
            task.needs if task else (),
            tuple(thing for _, thing in task.closing) if task else (),
            self.portable,
        )

    def see(self, view: View, last: str) -> None:
        """Take in the answer to the last command; empty at the start."""
        template, thing = self.roles.template(last) if last else ("", "")
        before = self.held.get(thing, frozenset())
        tried_for = self._goals(template, thing) if self.assignment else []
        self._look(view, last)
        if last and self.assignment is not None:
            self._learn(view, template, thing, tried_for, before)
        self.score = view.score
        if self.assignment is None and (read := read_assignment(view.feedback)) is not None:
            self.assignment, self.book_at = read, self.world.here
        if self.assignment is not None and not view.done:
            self._note_offers(view)
            self._note_marks()
        self._note_instruments(view)

    def open_directions(self, thing: str) -> list[str]:
        """Verbs that the recipe still asks for on an ingredient."""
        assert self.assignment is not None
        return [v for v, t in self.assignment.directions if t == thing and (v, t) not in self.done]

    def closing(self) -> tuple[str, str] | None:
        """The next direction about no ingredient; (`END`, dish) when all are done."""
        assert self.assignment is not None
        for step in self.assignment.closing:
            if step not in self.done:
                return step
        return (END, self.assignment.closing[-1][1]) if self.assignment.closing else None

    @property
    def closed(self) -> bool:
        """Whether the first direction about no ingredient is done: nothing is gathered then."""
        return bool(self.assignment and set(self.assignment.closing) & self.done)

    def where(self, thing: str) -> int | None:
        """The nearest place where a thing is known to be; -1 if it is held."""
        if thing in self.held:
            return -1
        distance = self.world.distances()
        places = [
            p.number
            for p in self.world.places
            if p.number in distance and (thing in p.things or thing in p.fixtures)
        ]
        return min(places, key=lambda p: (distance[p], p), default=self.named_at.get(thing))

    def finish(self) -> None:
        """The game is over: what it showed of houses and hands is kept."""
        self.known.games += 1
        self.known.houses.add(self.world, self.openings)
        if self.assignment is not None and self.limit is not None:
            row = self.known.limits.setdefault(str(len(self.assignment.needs)), {})
            row[str(self.limit)] = row.get(str(self.limit), 0) + 1

    @property
    def hands(self) -> int:
        """How many things are taken to fit: as seen in this game, else the least that former
        games with so many ingredients allowed."""
        if self.limit is not None:
            return self.limit
        if self.assignment is None:
            return 99
        learned = self.known.limits.get(str(len(self.assignment.needs)), {})
        least = min(map(int, learned), default=99)
        return 99 if self.most_held > least else least

    def _look(self, view: View, last: str) -> None:
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        place = self.world.arrive(
            self.scene, rest if verb == "go" and "-= " in view.feedback else ""
        )
        self.held = _held(view)
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((place.number, rest))
        elif verb == "open" and rest not in place.doors.values():
            self.openings.append((rest, rest in self.scene.lying.values()))
        taken = rest.partition(" from ")[0]
        if verb == "take":
            if taken not in self.held:
                self.limit = len(self.held)  # listed, and yet refused
        elif (
            self.held
            and not self.scene.lying
            and (set(place.things) & self.portable) - set(self.held)
        ):
            self.limit = len(self.held)  # what could be taken cannot be taken now
        self.portable |= set(self.held) | set(self.scene.lying)
        self.most_held = max(self.most_held, len(self.held))

    def _goals(self, template: str, thing: str) -> list[str]:
        """What the command may have been good for."""
        if NEEDED in template:
            return self.open_directions(thing) or ["<none>"]
        step = self.closing()
        return [step[0]] if step and (DISH in template or " " not in template) else []

    def _learn(
        self, view: View, template: str, thing: str, goals: list[str], before: frozenset[str]
    ) -> None:
        if not goals or template.startswith(("take ", "go")):
            return
        if view.score > self.score:
            weights = self._credit(goals, template)
            for goal, weight in weights.items():
                self.known.tally(goal, template).gained += weight
            best = max(goals, key=lambda goal: weights[goal])
            self.done.add((best, thing))
            for word in self.held.get(thing, frozenset()) - before:
                row = self.known.marks.setdefault(best, {})
                row[word] = row.get(word, 0) + 1
            return
        for goal in goals:
            tally = self.known.tally(goal, template)
            if view.lost:
                tally.lost += 1
            else:
                tally.nothing += 1

    def _credit(self, goals: list[str], template: str) -> dict[str, float]:
        """Goal → its share of a point: all of it for the one that surely explains it, else by
        how likely the template was to bring each."""
        means = {goal: self._beliefs.mean(goal, template) for goal in goals}
        best = max(goals, key=lambda goal: means[goal])
        if self._beliefs.sure(best, template):
            return {goal: float(goal == best) for goal in goals}
        return {goal: mean / sum(means.values()) for goal, mean in means.items()}

    def _note_offers(self, view: View) -> None:
        roles, self.something_new = self.roles, False
        templates = {roles.template(c)[0] for c in view.candidates}
        for template in sorted(templates):
            if NEEDED not in template and DISH not in template:
                continue
            self.something_new |= template not in self.known.offers
            offer = self.known.offers.setdefault(template, Offer())
            offer.times += 1
            offer.held += instrument(template) in self.held
            offer.rooms[view.room] = offer.rooms.get(view.room, 0) + 1

    def _note_instruments(self, view: View) -> None:
        for tool in {instrument(t) for t in self.known.offers} - {""} - set(self.held):
            if tool not in self.portable and re.search(rf"\b{re.escape(tool)}\b", view.description):
                self.named_at.setdefault(tool, self.world.here)

    def _note_marks(self) -> None:
        """What an ingredient is already: a direction whose word it bears is done."""
        assert self.assignment is not None
        for verb, thing in self.assignment.directions:
            words = self.known.marks.get(verb, {})
            best = max(words, key=lambda w: (words[w], w), default="")
            if best and best in self.held.get(thing, frozenset()):
                self.done.add((verb, thing))

    def curious(self, outcome: str, found: bool) -> None:
        """Something was done only to see what it would make possible."""
        tally = self.known.tally(CURIOSITY, outcome)
        tally.gained += found
        tally.nothing += not found


def _held(view: View) -> dict[str, frozenset[str]]:
    """What can be dropped is held; the inventory tells how it is."""
    names = [c.removeprefix("drop ") for c in view.candidates if c.startswith("drop ")]
    phrases = [p.strip(" .") for p in _SEPARATOR.split(view.inventory.partition(":")[2])]
    found = {}
    for name in names:
        phrase = next((p for p in phrases if p == name or p.endswith(f" {name}")), name)
        found[name] = frozenset(phrase.removesuffix(name).split()) - _ARTICLES
    return found
