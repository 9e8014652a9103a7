"""The player kind `quest`: games that state a task, or in which something must be found."""

from __future__ import annotations

import re

from pydantic import BaseModel

from naisei.core import Flow
from naisei.lang import say
from naisei.textgame.game_state import GameState
from naisei.textgame.planner import kind as planner
from naisei.textgame.planner.explore import Prior, best_look
from naisei.textgame.player import Follows, Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, Mind, View
from naisei.textgame.texts import read_foods
from naisei_textgame_quest.steps import Step, doing, named, read_steps

_KEY = re.compile(r"\b(?:pass|latch)?key(?:card)?\b", re.I)
#: Most steps of the reported plan.
_PLAN_STEPS = 5
_STOVE = re.compile(r"put .+ on stove")


class QuestState(GameState[str]):
    """The observed state of a game, and the barred ways."""

    def __init__(self) -> None:
        super().__init__()
        #: (place, direction) of a barred way → things held when it was tried.
        self.barred: dict[tuple[int, str], frozenset[str]] = {}

    def read_held(self, view: View) -> dict[str, str]:
        return dict.fromkeys(read_foods(view.inventory), "")

    def see(self, view: View, last: str) -> None:
        before = self.world.here
        super().see(view, last)
        verb, _, direction = last.partition(" ")
        if verb == "go" and self.world.here == before:
            self.barred[before, direction] = frozenset(self.held)
        place = self.world.place
        for way, door in place.doors.items():
            gone = f"go {way}" in self.scene.can or door in self.scene.closed
            if gone:
                self.barred.pop((place.number, way), None)
            elif f"close {door}" not in self.scene.can:
                self.barred[place.number, way] = frozenset(self.held)
        # To exploration, a barred way is a door that does not open.
        place.shut |= {way for number, way in self.barred if number == place.number}


class QuestPlayer:
    """Executes the steps of the first text in order, and searches for what it does not see.

    It explores the map, opens closed things, takes keys and tries them; when no steps are left and
    the game continues, it takes whatever it finds.
    """

    def __init__(self) -> None:
        self.known = QuestState()
        self._steps: list[Step] | None = None
        self._last = ""
        self._tried: dict[str, int] = {}
        self._been: set[tuple[Step, int, frozenset[str]]] = set()

    def decide(self, view: View) -> Flow[Decision]:
        """The next command; yields no effects."""
        if self._steps is None:
            self._steps = list(read_steps(view.feedback))
        barred = set(self.known.barred)
        self.known.see(view, self._last)
        shut = [
            way for way in self.known.barred if way not in barred and self._last == f"go {way[1]}"
        ]
        command, thoughts = self._choose()
        self._last = command
        mind = Mind(
            plan=tuple(step.words for step in self._steps[:_PLAN_STEPS]) or (thoughts,),
            surprise=say(f"{shut[0][1]} へは通れなかった", f"no way through to the {shut[0][1]}")
            if shut
            else "",
        )
        return Decision(action=command, thoughts=thoughts, mind=mind)
        yield  # makes this a generator

    def did(self, action: str) -> bool:
        """Record that another command was given than decided."""
        self._last = action
        return True

    def _choose(self) -> tuple[str, str]:
        assert self._steps is not None
        while self._steps and self._is_done(self._steps[0]):
            self._steps.pop(0)
        if self._steps:
            step = self._steps[0]
            if (command := doing(step, self.known.scene.can)) is not None:
                self._steps.pop(0)
                return command, say("言われたとおりに", "as the task says")
            if (found := self._towards(step)) is not None:
                return found
            # The step is impossible now: a later one may make it possible.
            for later in self._steps[1:]:
                if later.verb != "go" and (command := doing(later, self.known.scene.can)):
                    del self._steps[: self._steps.index(later) + 1]
                    return command, say("先にできることをする", "what can be done already")
        return self._search(self._wanted()) or (
            "",
            say("できることはすべて試した", "everything was tried"),
        )

    def _is_done(self, step: Step) -> bool:
        can, words = self.known.scene.can, step.words
        if step.verb == "take":
            held = [thing.lower() for thing in self.known.held]
            return step.thing in held or any(named(words, t) for t in held if not step.thing)
        if step.verb in ("open", "unlock"):
            return any(c.startswith("close ") and named(words, c[6:]) for c in can) or (
                step.verb == "unlock"
                and any(c.startswith("open ") and named(words, c[5:]) for c in can)
            )
        return False

    def _towards(self, step: Step) -> tuple[str, str] | None:
        """The next command towards a place where the step is possible, if known."""
        known, place = self.known, self.known.world.place
        if step.verb == "go":
            door = place.doors.get(step.direction, "")
            if not door:
                return None
            if door in known.scene.closed:
                return f"open {door}", say("扉を開ける", "opening the door")
            return self._unlock(door)
        if step.verb in ("open", "unlock"):
            for name in sorted({*place.fixtures, *place.doors.values()}, key=len, reverse=True):
                if named(step.words, name) and (found := self._unlock(name)):
                    return found
        if step.verb == "lock":
            for command in sorted(known.scene.can):
                if command.startswith("close ") and named(step.words, command[6:]):
                    return command, say("閉めてから鍵をかける", "to be closed before it is locked")
        if step.verb in ("put", "insert"):
            held = [thing for thing in known.held if named(step.words, thing)]
            if not held:
                return None
            closed = [name for name in known.scene.closed if named(step.words, name)]
            if closed:
                return f"open {closed[0]}", say("入れ物を開ける", "opening what it goes into")
        return self._walk(step)

    def _walk(self, step: Step) -> tuple[str, str] | None:
        """Towards the place that a step names, or where its thing was seen."""
        world = self.known.world
        distance = world.distances()
        near = [
            (distance[p.number], p.number)
            for p in world.places
            if p.number in distance
            and p.number != world.here
            and (
                any(named(step.words, name) for name in {*p.things, *p.fixtures})
                if step.verb == "take"
                else any(named(step.words, name) for name in {*p.fixtures, *p.things})
                or named(step.words, p.room)
            )
        ]
        # Once per set of held things: nothing else changes there.
        held = frozenset(self.known.held)
        near = [at for at in near if (step, at[1], held) not in self._been]
        if not near:
            return None
        _, at = min(near)
        if len(self.known.world.route(at) or ()) == 1:
            self._been.add((step, at, held))
        return self.known.walk(at), say("見かけた場所へ", "going where it was seen")

    def _unlock(self, name: str) -> tuple[str, str] | None:
        for command in sorted(self.known.scene.can):
            if command.startswith(f"unlock {name} with "):
                return command, say("鍵を使う", "using a key")
        return None

    def _wanted(self) -> list[str]:
        return [step.words for step in self._steps or ()]

    def _search(self, wanted: list[str]) -> tuple[str, str] | None:
        """Look for unseen things: keys, locks, closed things, ways; then try everything."""
        known, can = self.known, self.known.scene.can
        for command in sorted(can):
            if command.startswith("unlock "):
                return command, say("鍵を使う", "using a key")
        for thing in sorted(known.scene.lying):
            needed = any(named(words, thing) for words in wanted)
            if (needed or _KEY.search(thing)) and self._fresh(f"take {thing}"):
                return known.take(thing), say(f"{thing} が要る", f"the {thing} is needed")
        look = best_look(known.world, wanted, Prior(), stuck=known.stuck | self._shut_off())
        if look is not None:
            thoughts = say("まだ見ていないところを見る", "exploring")
            if look.place != known.here:
                return known.walk(look.place), thoughts
            return (f"open {look.open}" if look.open else known.go(look.go)), thoughts
        return self._try_keys() or self._take_anything() or self._cook_anything()

    def _shut_off(self) -> set[tuple[int, str]]:
        return {(p, self.known.world.places[p].doors.get(d, "")) for p, d in self.known.barred}

    def _try_keys(self) -> tuple[str, str] | None:
        """Towards a barred way with a key that was not tried there."""
        held = frozenset(self.known.held)
        distance = self.known.world.distances()
        near = [
            (distance[place], place)
            for (place, _), tried in self.known.barred.items()
            if held - tried and place in distance and place != self.known.here
        ]
        if not near:
            return None
        return self.known.walk(min(near)[1]), say("鍵を試しに行く", "to try a key there")

    def _take_anything(self) -> tuple[str, str] | None:
        """Nothing is left to explore: take things here, then elsewhere."""
        known = self.known
        for thing in sorted(known.scene.lying):
            if self._fresh(f"take {thing}"):
                return known.take(thing), say("ほかに手がない", "nothing else to try")
        for thing in known.world.place.things:
            self._fresh(f"take {thing}")  # cannot be taken here
        distance = known.world.distances()
        near = [
            (distance[p.number], p.number)
            for p in known.world.places
            if p.number in distance
            and p.number != known.here
            and any(f"take {t}" not in self._tried for t in p.things if t not in known.held)
        ]
        if not near:
            return None
        return known.walk(min(near)[1]), say("残した物を取りに行く", "fetching what was left")

    def _cook_anything(self) -> tuple[str, str] | None:
        """Put held things on a stove, in case the unstated goal is a meal."""
        known = self.known
        for command in sorted(known.scene.can):
            if _STOVE.search(command) and self._fresh(command):
                return command, say("料理かもしれない", "it may be for cooking")
        distance = known.world.distances()
        near = [
            (distance[p.number], p.number)
            for p in known.world.places
            if p.number in distance
            and p.number != known.here
            and any("stove" in name for name in {*p.things, *p.fixtures})
        ]
        left = [t for t in known.held if f"put {t} on stove" not in self._tried]
        if not near or not left:
            return None
        return known.walk(min(near)[1]), say("台所へ", "to the kitchen")

    def _fresh(self, command: str) -> bool:
        """Whether the command is tried for the first time; marks it as tried."""
        self._tried[command] = self._tried.get(command, 0) + 1
        return self._tried[command] == 1


_COOKING = re.compile(r"\b(?:cookbook|recipe|hungry|cook\w*|meal|starving|chef)\b", re.I)
_RECIPE = re.compile(r"\b(?:cookbook|recipe)\b", re.I)


def is_quest(first_text: str) -> bool:
    """Whether the first text states steps, or no task at all, and mentions no cookbook."""
    # Only the text before the first room, whose furniture would mislead.
    intro = first_text.partition("-= ")[0] or first_text
    if _RECIPE.search(intro):
        return False
    return bool(read_steps(intro)) or not _COOKING.search(intro)


class QuestOrPlanner:
    """Delegates to `QuestPlayer` or `planner`, chosen by the first text."""

    def __init__(self, context: PlayerContext) -> None:
        self._context = context
        self._player: Player | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """The decision of the chosen player."""
        if self._player is None:
            # With fewer steps left, this is not the game's first text.
            begins = view.steps_left in (0, self._context.max_steps)
            quest = begins and not planner.is_tidying(view.feedback) and is_quest(view.feedback)
            self._player = QuestPlayer() if quest else planner.build().new(self._context)
        return (yield from self._player.decide(view))

    def did(self, action: str) -> bool:
        """Record that another command was given than decided; returns whether the player can
        continue."""
        return isinstance(self._player, Follows) and self._player.did(action)


class _Kind:
    settings: type[BaseModel] = planner.PlannerOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        return QuestOrPlanner(context)


def build() -> PlayerKind:
    """The player kind `quest`."""
    return _Kind()
