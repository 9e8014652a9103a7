"""What is known of one game, and what its points and losses teach."""

from __future__ import annotations

import re
from collections.abc import Collection

from naisei.textgame.learning.beliefs import CURIOSITY, Beliefs
from naisei.textgame.learning.directions import Assignment, read_assignment
from naisei.textgame.learning.knowledge import Knowledge, Offer
from naisei.textgame.learning.progress import Progress
from naisei.textgame.learning.templates import DISH, NEEDED, Roles, instrument
from naisei.textgame.reading import Scene, read_scene
from naisei.textgame.schemas import View
from naisei.textgame.world_map import WorldMap

__all__ = ["Notes"]

_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\n+")
_NOTHING_ASKED = Assignment((), (), ())
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
        self.progress = Progress(_NOTHING_ASKED, beliefs)
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
        tried_for = self._goals(template, thing)
        self._look(view, last)
        if last and self.assignment is not None:
            self._learn(view, template, thing, tried_for, before)
        self.score = view.score
        if self.assignment is None and (read := read_assignment(view.feedback)) is not None:
            self.assignment, self.book_at = read, self.world.here
            self.progress = Progress(read, self._beliefs)
        if self.assignment is not None and not view.done:
            self._note_offers(view)
            for thing, words in self.held.items():
                self.progress.see(thing, words)
        self._note_instruments(view)

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

    def cannot_take(self, thing: str) -> None:
        """It is wanted and in sight, and nothing here can be taken: the hands are full."""
        if self.held and not self.scene.lying and thing in self.world.place.things:
            self.limit = len(self.held)

    def _look(self, view: View, last: str) -> None:
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        place = self.world.arrive(
            self.scene, rest if verb == "go" and "-= " in view.feedback else ""
        )
        self.held = _held(view, self._names(view))
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

    def _names(self, view: View) -> set[str]:
        """What can be held is named by commands about it, and by the recipe."""
        roles = self.roles
        listed = {roles.template(command)[1] for command in view.candidates}
        return listed | self.portable | set(roles.needed) | set(roles.dishes)

    def _goals(self, template: str, thing: str) -> dict[str, float] | None:
        """What the command may be good for, and how likely that is still wanted; `None` for
        commands that are about neither ingredient nor dish."""
        if self.assignment is None or template.startswith(("take ", "go")):
            return None
        if NEEDED in template:
            return self.progress.chances(thing)
        about_dish = DISH in template or " " not in template
        return (self.progress.of_dish() or None) if about_dish else None

    def _learn(
        self,
        view: View,
        template: str,
        thing: str,
        goals: dict[str, float] | None,
        before: frozenset[str],
    ) -> None:
        if goals is None:
            return
        if view.score <= self.score:
            self.progress.missed(template, goals, lost=view.lost)
        elif NEEDED in template:
            self.progress.point(thing, template, before, self.held.get(thing, frozenset()))
        else:
            self.progress.point_for_dish(template, thing)

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

    def curious(self, outcome: str, found: bool) -> None:
        """Something was done only to see what it would make possible."""
        tally = self.known.tally(CURIOSITY, outcome)
        tally.gained += found
        tally.nothing += not found
        self._beliefs.credit.changed()


def _held(view: View, named: Collection[str]) -> dict[str, frozenset[str]]:
    """Thing → the words before its name, as the inventory gives them. named: known names."""
    found = {}
    for phrase in _SEPARATOR.split(view.inventory.partition(":")[2]):
        words = phrase.strip(" .").split()
        if words and words[0] in _ARTICLES:
            words = words[1:]
        # The longest name that is known; else all of it.
        starts = (k for k in range(len(words)) if " ".join(words[k:]) in named)
        start = next(starts, 0)
        if words:
            found[" ".join(words[start:])] = frozenset(words[:start])
    return found
