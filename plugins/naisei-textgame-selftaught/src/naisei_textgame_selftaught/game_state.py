"""The state of one game during learning, and what its points and losses teach."""

from __future__ import annotations

import re
from collections.abc import Collection

from naisei.textgame.game_state import GameState
from naisei.textgame.schemas import View
from naisei_textgame_selftaught.knowledge import (
    CURIOSITY,
    DISH,
    END,
    NEEDED,
    Assignment,
    Beliefs,
    Knowledge,
    Offer,
    Roles,
    instrument,
    read_assignment,
)

#: The goal of commands on finished ingredients.
_NONE = "<none>"


class Progress:
    """Updates the knowledge with every point, and every command without one."""

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
        """Verb that may still be open for an ingredient → probability."""
        return self._credit.chances(self._unsettled(thing), self._puzzling.get(thing, ()))

    def open_directions(self, thing: str) -> list[str]:
        """The most likely open directions, as many as are left."""
        chances = self.chances(thing)
        left = sorted(chances, key=lambda verb: -chances[verb])
        return left[: round(sum(chances.values()))]

    def used(self, thing: str) -> Collection[str]:
        """Templates that brought a point on the ingredient, for any direction."""
        return self._used.get(thing, ())

    def closing(self) -> tuple[str, str] | None:
        """The next direction without ingredient; (`END`, dish) when all are done."""
        steps = self._assignment.closing
        undone = (step for step in steps if step not in self._done)
        return next(undone, (END, steps[-1][1]) if steps else None)

    @property
    def closed(self) -> bool:
        """Whether the first direction without ingredient is done; then gathering is over."""
        return bool(set(self._assignment.closing) & self._done)

    def of_dish(self) -> dict[str, float]:
        """The goal of a command without ingredient."""
        step = self.closing()
        return {step[0]: 1.0} if step else {}

    def missed(self, template: str, chances: dict[str, float], *, lost: bool) -> None:
        """A command without a point; it may have been for these goals."""
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
        """A command brought a point on an ingredient. before, now: the words before its name."""
        verbs = self._unsettled(thing)
        if not verbs:
            return
        self._used.setdefault(thing, set()).add(template)
        new = now - before
        marked = [verb for verb in verbs if self._mark(verb) in new]
        if len(verbs) == 1:
            self._clear(verbs[0], thing, template)
            for word in new:
                row = self._known.marks.setdefault(verbs[0], {})
                row[word] = row.get(word, 0) + 1
        elif len(marked) == 1 and thing not in self._puzzling:
            self._clear(marked[0], thing, template)
        else:
            self._words.setdefault(thing, before)
            self._set_puzzle(thing, (*self._puzzling.get(thing, ()), template))
        self._credit.changed()

    def see(self, thing: str, words: Collection[str]) -> None:
        """Mark directions as done whose words precede the ingredient's name."""
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
        """The word that shows that a direction is done; "" if unknown."""
        words = self._known.marks.get(verb, {})
        return max(words, key=lambda word: (words[word], word), default="")

    def _clear(self, verb: str, thing: str, template: str) -> None:
        self._known.tally(verb, template).gained += 1
        self._done.add((verb, thing))

    def _set_puzzle(self, thing: str, templates: tuple[str, ...]) -> None:
        """Replace the puzzle of an ingredient: these templates brought points for unsettled
        directions."""
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


_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\n+")
_NOTHING_ASKED = Assignment((), (), ())
_ARTICLES = {"a", "an", "some", "the"}


class LearningState(GameState[frozenset[str]]):
    """The observed state of a game; updates the counts of `known`.

    held: thing → the words before its name.
    """

    def __init__(self, known: Knowledge, beliefs: Beliefs) -> None:
        super().__init__()
        self.known, self._beliefs = known, beliefs
        self.assignment: Assignment | None = None
        self.progress = Progress(_NOTHING_ASKED, beliefs)
        self.book_at = -1
        self.most_held = 0
        #: Instrument → place whose text names it.
        self.named_at: dict[str, int] = {}
        #: Whether the last view offered a new kind of command.
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
        """Update from the answer to the last command ("" at the start)."""
        template, thing = self.roles.template(last) if last else ("", "")
        before = self.held.get(thing, frozenset())
        tried_for = self._goals(template, thing)
        super().see(view, last)
        self.most_held = max(self.most_held, len(self.held))
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
        """Like `GameState.where`; an instrument seen only in a text is at that place."""
        at = super().where(thing)
        return self.named_at.get(thing) if at is None else at

    def finish(self) -> None:
        """Store what the finished game showed about houses and carrying limits."""
        self.known.games += 1
        self.known.houses.add(self.world, self.openings)
        if self.assignment is not None and self.capacity is not None:
            row = self.known.limits.setdefault(str(len(self.assignment.needs)), {})
            row[str(self.capacity)] = row.get(str(self.capacity), 0) + 1

    @property
    def hands(self) -> int:
        """The assumed carrying limit: this game's, else the lowest of earlier games with as many
        ingredients."""
        if self.capacity is not None:
            return self.capacity
        if self.assignment is None:
            return 99
        learned = self.known.limits.get(str(len(self.assignment.needs)), {})
        least = min(map(int, learned), default=99)
        return 99 if self.most_held > least else least

    def cannot_take(self, thing: str) -> None:
        """Whether the thing is visible but nothing here can be taken: hands are full."""
        if self.held and not self.scene.lying and thing in self.world.place.things:
            self.capacity = len(self.held)

    def read_held(self, view: View) -> dict[str, frozenset[str]]:
        return _inventory_names(view, self._names(view))

    def _names(self, view: View) -> set[str]:
        """Names of portable things: those in commands and in the recipe."""
        roles = self.roles
        listed = {roles.template(command)[1] for command in view.candidates}
        return listed | self.portable | set(roles.needed) | set(roles.dishes)

    def _goals(self, template: str, thing: str) -> dict[str, float] | None:
        """Possible goals of a command with their probabilities; `None` for commands about neither
        an ingredient nor the dish."""
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
        """Count whether an exploratory command led to new kinds of commands."""
        tally = self.known.tally(CURIOSITY, outcome)
        tally.gained += found
        tally.nothing += not found
        self._beliefs.credit.changed()


def _inventory_names(view: View, named: Collection[str]) -> dict[str, frozenset[str]]:
    """Thing → words before its name in the inventory. named: known names."""
    found = {}
    for phrase in _SEPARATOR.split(view.inventory.partition(":")[2]):
        words = phrase.strip(" .").split()
        if words and words[0] in _ARTICLES:
            words = words[1:]
        # The longest known name, else the whole text.
        starts = (k for k in range(len(words)) if " ".join(words[k:]) in named)
        start = next(starts, 0)
        if words:
            found[" ".join(words[start:])] = frozenset(words[:start])
    return found
