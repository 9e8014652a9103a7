"""Turns knowledge into commands: moving, searching, carrying, and what to try next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from naisei.lang import say
from naisei.textgame.game_state import HELD
from naisei.textgame.planner.explore import Errand, Errands, Job, best_look, plan_errands
from naisei_textgame_selftaught.game_state import LearningState
from naisei_textgame_selftaught.knowledge import (
    CURIOSITY,
    DISH,
    NEEDED,
    Beliefs,
    instrument,
    matching,
)

#: Placeholder for any unknown thing.
_ANYTHING = "anything"


class Skills:
    """Built-in skills (walk, search, take, drop) and the use of learned rules."""

    def __init__(self, state: LearningState) -> None:
        self._state = state
        self._tool = ""

    def search(self, wanted: Sequence[str]) -> tuple[str, str] | None:
        """Towards the most promising unknown place; `None` if everything was seen."""
        state = self._state
        look = best_look(state.world, wanted, state.known.houses, stuck=state.stuck)
        if look is None:
            return None
        thought = say(f"{', '.join(wanted)} を探す", f"looking for {', '.join(wanted)}")
        if look.place != state.world.here:
            return state.walk(look.place), thought
        return (f"open {look.open}" if look.open else state.go(look.go)), thought

    def explore(self) -> str | None:
        """Towards any unknown place or closed container."""
        found = self.search([_ANYTHING])
        return found[0] if found else None

    def is_new(self, command: str) -> bool:
        """Whether a command explores or opens something."""
        verb, _, rest = command.partition(" ")
        return verb == "open" or self._state.world.place.ways.get(rest) is None

    def fetch(self, thing: str, *, keep: Collection[str]) -> str | None:
        """Towards holding a thing, freeing hands if needed; `None` if its place is unknown."""
        state = self._state
        at = state.where(thing)
        if at is None or at == HELD:
            return None
        if at != state.world.here:
            return state.walk(at)
        if thing in state.scene.lying and len(state.held) < state.hands:
            return state.take(thing)
        state.cannot_take(thing)
        return self._drop(keep=keep)

    def towards(self, template: str, thing: str) -> str | None:
        """Towards a state in which the template is possible with the held thing."""
        state = self._state
        if tool := instrument(template):
            if self._is_held(template):
                return None if tool in state.held else (
                    self.fetch(tool, keep=(thing,)) or self._searched(tool)
                )  # fmt: skip
            at = state.where(tool)
            if at is None:
                return self._searched(tool)
            return None if at in (state.world.here, HELD) else state.walk(at)
        if (room := self._room(template)) is not None and room != state.world.here:
            return state.walk(room)
        return None

    def _searched(self, thing: str) -> str | None:
        found = self.search([thing])
        return found[0] if found else None

    def _is_held(self, template: str) -> bool:
        """Whether the template's instrument must be held, according to past offers."""
        offer = self._state.known.offers.get(template)
        return offer is not None and 2 * offer.held >= offer.times

    def _room(self, template: str) -> int | None:
        """The place of the room where the template was offered most, if known."""
        state = self._state
        offer = state.known.offers.get(template)
        rooms = offer.rooms if offer else {}
        reach = state.world.distances()
        fits = [p for p in state.world.places if p.number in reach and p.room in rooms]
        best = max(fits, key=lambda p: (rooms[p.room], -reach[p.number]), default=None)
        return best.number if best else None

    def at_hand(self, ways: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
        """A sure rule that applies now; or, while something is missing, an ingredient here."""
        state = self._state
        for thing, templates in ways.items():
            for template in templates if thing in state.held else ():
                if command := matching(state.roles, state.scene.can, template, thing):
                    return command, say("学んだとおりに", "as learned")
        if self._missing(ways) and len(state.held) < state.hands:
            for thing in ways:
                if thing in state.scene.lying:
                    return state.take(thing), say("材料がある", "an ingredient is here")
        return None

    def gather(
        self, ways: Mapping[str, Sequence[str]], blocked: set[tuple[str, str]]
    ) -> tuple[str, str] | None:
        """Towards holding all ingredients, with all sure rules applied; `None` when done."""
        state = self._state
        if missing := self._missing(ways):
            if step := self.search(missing):
                return step
            # Not in this game.
            blocked |= {
                (template, thing)
                for thing, templates in ways.items()
                for template in templates
                if instrument(template) in missing
            }
        if any(state.where(thing) is None for thing in ways):
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
        """Needed things whose place is unknown: ingredients, then instruments."""
        tools = (instrument(t) for templates in ways.values() for t in templates)
        wanted = dict.fromkeys([*ways, *filter(None, tools)])
        return [thing for thing in wanted if self._state.where(thing) is None]

    def _errands(self, ways: Mapping[str, Sequence[str]]) -> Errands:
        state, jobs, tools = self._state, [], []
        for thing, templates in ways.items():
            by_hand = [t for t in templates if instrument(t) and self._is_held(t)]
            placed = [t for t in templates if instrument(t) and not self._is_held(t)]
            tools += [instrument(t) for t in by_hand]
            at, cook_at = state.where(thing), None
            if placed:
                cook_at = state.where(instrument(placed[0]))
            assert at is not None
            jobs.append(Job(thing, at, bool(by_hand), cook_at))
        self._tool = tools[0] if tools else ""
        spare = len(self._spare(ways))
        return Errands(
            jobs=jobs,
            knife_at=state.where(self._tool) if self._tool else None,
            spare=spare,
            hands=max(state.hands, 1),
            here=state.world.here,
            goal=state.book_at,
            distance={p.number: state.world.distances(p.number) for p in state.world.places},
        )

    def _spare(self, needed: Collection[str]) -> list[str]:
        return sorted(set(self._state.held) - set(needed) - {self._tool})

    def _carry_out(
        self, errand: Errand, ways: Mapping[str, Sequence[str]]
    ) -> tuple[str, str] | None:
        state, things = self._state, list(ways)
        if errand.kind == "walk":
            return state.walk(errand.place), say("次の用事へ", "to the next errand")
        if errand.kind in ("cook", "cut"):
            return None  # at_hand would have applied it: the rule fails here
        if errand.thing > len(things):
            return f"drop {self._spare(ways)[0]}", say("手を空ける", "freeing a hand")
        name = self._tool if errand.thing == len(things) else things[errand.thing]
        if errand.kind == "drop":
            return f"drop {name}", say("手を空ける", "freeing a hand")
        if name not in state.scene.lying:
            state.cannot_take(name)
            return self._drop(keep=(name,)) or "", say("手を空ける", "freeing a hand")
        return state.take(name), say("必要なもの", "it is needed")

    def _drop(self, *, keep: Collection[str]) -> str | None:
        """Drop a held thing, unneeded ones first."""
        state = self._state
        needs = state.assignment.needs if state.assignment else ()
        loose = sorted(set(state.held) - set(keep), key=lambda t: (t in needs, t))
        return f"drop {loose[0]}" if loose else None


#: Exploring, to get new kinds of commands; the alternative is taking a thing.
EXPLORE = "explore"
#: Commands that only move things; they are never tried as rules.
_MOVING = ("take ", "go")


@dataclass(slots=True)
class Trial:
    """A template to try on a thing for a goal. command: the trial ends once it was given."""

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
    state: LearningState,
    beliefs: Beliefs,
    blocked: Collection[tuple[str, str]],
    *,
    at_hand: bool = False,
) -> Trial | None:
    """The trial with the highest value that is not blocked; at_hand: only what is possible now."""
    found = [
        Trial(goal, template, thing, beliefs.worth(goal, template, chance=chance))
        for goal, template, thing, chance in _options(state)
        if (template, thing) not in blocked
        and not (at_hand and not matching(state.roles, state.scene.can, template, thing))
    ]
    return max(found, key=lambda t: (t.worth, t.goal, t.template, t.thing), default=None)


def _options(state: LearningState) -> Iterator[tuple[str, str, str, float]]:
    """(goal, template, thing, probability that the goal is open)."""
    assert state.assignment is not None
    progress = state.progress
    open_things = [
        t for t in state.assignment.needs if not progress.closed and progress.open_directions(t)
    ]
    templates = [t for t in sorted(state.known.offers) if not t.startswith(_MOVING)]
    for thing in open_things:
        fresh = [t for t in templates if NEEDED in t and t not in progress.used(thing)]
        for goal, chance in progress.chances(thing).items():
            yield from ((goal, t, thing, chance) for t in fresh)
    if not open_things and (step := progress.closing()) is not None:
        goal, dish = step
        yield from ((goal, t, dish, 1.0) for t in templates if DISH in t)
        yield from ((goal, c, "", 1.0) for c in sorted(state.scene.can) if " " not in c)
    if state.world.frontier() or any(p.closed for p in state.world.places):
        yield CURIOSITY, EXPLORE, "", 1.0
    things = {t for p in state.world.places for t in p.things} & state.portable
    for thing in sorted(things - set(state.held) - set(state.assignment.needs)):
        yield CURIOSITY, f"take {thing}", thing, 1.0
