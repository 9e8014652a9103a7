"""From what is known to commands: moving, searching, carrying, and what could be tried next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from naisei.lang import say
from naisei.textgame.learning.game_state import Notes
from naisei.textgame.learning.knowledge import (
    CURIOSITY,
    DISH,
    NEEDED,
    Beliefs,
    instrument,
    matching,
)
from naisei.textgame.planner.explore import HELD, Errand, Errands, Job, best_look, plan_errands

__all__ = ["Housework", "Trial", "best_trial"]


#: Stands for whatever may be there: a word that is no thing's name.
_ANYTHING = "anything"


class Housework:
    """Commands towards a place, a thing, or the use of learned rules."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._tool = ""

    def search(self, wanted: Sequence[str]) -> tuple[str, str] | None:
        """Towards the unknown place that promises most; `None` if all was seen."""
        notes = self._notes
        look = best_look(notes.world, wanted, notes.known.houses, stuck=notes.stuck)
        if look is None:
            return None
        thought = say(f"{', '.join(wanted)} を探す", f"looking for {', '.join(wanted)}")
        if look.place != notes.world.here:
            return self.walk(look.place), thought
        return (f"open {look.open}" if look.open else self._go(look.go)), thought

    def explore(self) -> str | None:
        """Towards any unknown place or closed container."""
        found = self.search([_ANYTHING])
        return found[0] if found else None

    def is_new(self, command: str) -> bool:
        """Whether a command leads where nobody has been, or opens something."""
        verb, _, rest = command.partition(" ")
        return verb == "open" or self._notes.world.place.ways.get(rest) is None

    def walk(self, place: int) -> str:
        route = self._notes.world.route(place)
        assert route, "only places that can be reached are walked to"
        return self._go(route[0])

    def fetch(self, thing: str, *, keep: Collection[str]) -> str | None:
        """Towards holding a thing; hands are freed for it. `None` if nobody knows where it is."""
        notes = self._notes
        at = notes.where(thing)
        if at is None or at == HELD:
            return None
        if at != notes.world.here:
            return self.walk(at)
        if thing in notes.scene.lying and len(notes.held) < notes.hands:
            return self._take(thing)
        notes.cannot_take(thing)
        return self._drop(keep=keep)

    def towards(self, template: str, thing: str) -> str | None:
        """Towards a moment in which the template can be done with the thing in hand."""
        notes = self._notes
        if tool := instrument(template):
            if self._is_held(template):
                return None if tool in notes.held else (
                    self.fetch(tool, keep=(thing,)) or self._searched(tool)
                )  # fmt: skip
            at = notes.where(tool)
            if at is None:
                return self._searched(tool)
            return None if at in (notes.world.here, HELD) else self.walk(at)
        if (room := self._room(template)) is not None and room != notes.world.here:
            return self.walk(room)
        return None

    def _searched(self, thing: str) -> str | None:
        found = self.search([thing])
        return found[0] if found else None

    def _is_held(self, template: str) -> bool:
        """Whether what it is done with has to be in the hands, as the offers so far tell."""
        offer = self._notes.known.offers.get(template)
        return offer is not None and 2 * offer.held >= offer.times

    def _room(self, template: str) -> int | None:
        """The place of the room where the template was offered most, if this game has it."""
        notes = self._notes
        offer = notes.known.offers.get(template)
        rooms = offer.rooms if offer else {}
        reach = notes.world.distances()
        fits = [p for p in notes.world.places if p.number in reach and p.room in rooms]
        best = max(fits, key=lambda p: (rooms[p.room], -reach[p.number]), default=None)
        return best.number if best else None

    def at_hand(self, ways: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
        """A sure rule that can be used here and now; and while something is not found yet, an
        ingredient that lies here."""
        notes = self._notes
        for thing, templates in ways.items():
            for template in templates if thing in notes.held else ():
                if command := matching(notes.roles, notes.scene.can, template, thing):
                    return command, say("学んだとおりに", "as learned")
        if self._missing(ways) and len(notes.held) < notes.hands:
            for thing in ways:
                if thing in notes.scene.lying:
                    return self._take(thing), say("材料がある", "an ingredient is here")
        return None

    def gather(
        self, ways: Mapping[str, Sequence[str]], blocked: set[tuple[str, str]]
    ) -> tuple[str, str] | None:
        """Towards all ingredients in hand, with all that is sure done to them; `None` when that
        is so."""
        notes = self._notes
        if missing := self._missing(ways):
            if step := self.search(missing):
                return step
            # This game has no such thing.
            blocked |= {
                (template, thing)
                for thing, templates in ways.items()
                for template in templates
                if instrument(template) in missing
            }
        if any(notes.where(thing) is None for thing in ways):
            return "", say("材料が見つからない", "an ingredient is nowhere to be found")
        errands = self._errands({
            thing: [t for t in templates if (t, thing) not in blocked]
            for thing, templates in ways.items()
        })  # fmt: skip
        plan = plan_errands(errands)
        if plan is None or not plan[1]:
            return None
        return self._carry_out(plan[1][0], ways)

    def _missing(self, ways: Mapping[str, Sequence[str]]) -> list[str]:
        """What is needed, and nobody knows where it is: ingredients, then instruments."""
        tools = (instrument(t) for templates in ways.values() for t in templates)
        wanted = dict.fromkeys([*ways, *filter(None, tools)])
        return [thing for thing in wanted if self._notes.where(thing) is None]

    def _errands(self, ways: Mapping[str, Sequence[str]]) -> Errands:
        notes, jobs, tools = self._notes, [], []
        for thing, templates in ways.items():
            by_hand = [t for t in templates if instrument(t) and self._is_held(t)]
            placed = [t for t in templates if instrument(t) and not self._is_held(t)]
            tools += [instrument(t) for t in by_hand]
            at, cook_at = notes.where(thing), None
            if placed:
                cook_at = notes.where(instrument(placed[0]))
            assert at is not None
            jobs.append(Job(thing, at, bool(by_hand), cook_at))
        self._tool = tools[0] if tools else ""
        spare = len(self._spare(ways))
        return Errands(
            jobs=jobs,
            knife_at=notes.where(self._tool) if self._tool else None,
            spare=spare,
            hands=max(notes.hands, 1),
            here=notes.world.here,
            goal=notes.book_at,
            distance={p.number: notes.world.distances(p.number) for p in notes.world.places},
        )

    def _spare(self, needed: Collection[str]) -> list[str]:
        return sorted(set(self._notes.held) - set(needed) - {self._tool})

    def _carry_out(
        self, errand: Errand, ways: Mapping[str, Sequence[str]]
    ) -> tuple[str, str] | None:
        things = list(ways)
        if errand.kind == "walk":
            return self.walk(errand.place), say("次の用事へ", "to the next errand")
        if errand.kind in ("cook", "cut"):
            return None  # it would have been done at hand: the rule does not hold here
        if errand.thing > len(things):
            return f"drop {self._spare(ways)[0]}", say("手を空ける", "freeing a hand")
        name = self._tool if errand.thing == len(things) else things[errand.thing]
        if errand.kind == "drop":
            return f"drop {name}", say("手を空ける", "freeing a hand")
        if name not in self._notes.scene.lying:
            self._notes.cannot_take(name)
            return self._drop(keep=(name,)) or "", say("手を空ける", "freeing a hand")
        return self._take(name), say("必要なもの", "it is needed")

    def _go(self, direction: str) -> str:
        here = self._notes.world.place
        return f"open {here.doors[direction]}" if direction in here.shut else f"go {direction}"

    def _take(self, thing: str) -> str:
        place = self._notes.scene.lying[thing]
        return f"take {thing} from {place}" if place else f"take {thing}"

    def _drop(self, *, keep: Collection[str]) -> str | None:
        """Something in hand, what no recipe needs first."""
        notes = self._notes
        needs = notes.assignment.needs if notes.assignment else ()
        loose = sorted(set(notes.held) - set(keep), key=lambda t: (t in needs, t))
        return f"drop {loose[0]}" if loose else None


#: A way of looking for commands that were never offered; the other is to take a thing.
EXPLORE = "explore"
#: Moving things about the house: they serve the player's own purposes, and are not tried.
_MOVING = ("take ", "go")


@dataclass(slots=True)
class Trial:
    """A template about a thing, to bring the goal's point. command: once it has been given, the
    trial is over."""

    goal: str
    template: str
    thing: str
    worth: float
    command: str = ""

    def thought(self) -> str:
        if self.goal == CURIOSITY:
            what = self.thing or say("先の部屋", "unknown rooms")
            return say(f"{what} で何ができるようになるか見る", f"what does {what} make possible?")
        return say(
            f"{self.goal} には {self.template} か (期待 {self.worth:+.2f})",
            f"does {self.template} do for {self.goal}? (worth {self.worth:+.2f})",
        )


def best_trial(
    notes: Notes, beliefs: Beliefs, blocked: Collection[tuple[str, str]], *, at_hand: bool = False
) -> Trial | None:
    """Worth most of all that is not blocked; at_hand: only what can be done this moment."""
    found = [
        Trial(goal, template, thing, beliefs.worth(goal, template, chance=chance))
        for goal, template, thing, chance in _options(notes)
        if (template, thing) not in blocked
        and not (at_hand and not matching(notes.roles, notes.scene.can, template, thing))
    ]
    return max(found, key=lambda t: (t.worth, t.goal, t.template, t.thing), default=None)


def _options(notes: Notes) -> Iterator[tuple[str, str, str, float]]:
    """(goal, template, thing, the chance that the goal is still open)."""
    assert notes.assignment is not None
    progress = notes.progress
    open_things = [
        t for t in notes.assignment.needs if not progress.closed and progress.open_directions(t)
    ]
    templates = [t for t in sorted(notes.known.offers) if not t.startswith(_MOVING)]
    for thing in open_things:
        fresh = [t for t in templates if NEEDED in t and t not in progress.used(thing)]
        for goal, chance in progress.chances(thing).items():
            yield from ((goal, t, thing, chance) for t in fresh)
    if not open_things and (step := progress.closing()) is not None:
        goal, dish = step
        yield from ((goal, t, dish, 1.0) for t in templates if DISH in t)
        yield from ((goal, c, "", 1.0) for c in sorted(notes.scene.can) if " " not in c)
    if notes.world.frontier() or any(p.closed for p in notes.world.places):
        yield CURIOSITY, EXPLORE, "", 1.0
    things = {t for p in notes.world.places for t in p.things} & notes.portable
    for thing in sorted(things - set(notes.held) - set(notes.assignment.needs)):
        yield CURIOSITY, f"take {thing}", thing, 1.0
