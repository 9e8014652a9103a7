"""The player kind `planner`: cooking games, and tidying games by the player `tidy`."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BaseModel

from naisei.core import Flow
from naisei.lang import say
from naisei.plugins import Options
from naisei.textgame.cooking_state import APPLIANCES, KNIFE, CookingState, Task
from naisei.textgame.game_state import HELD
from naisei.textgame.planner.explore import (
    Errand,
    Errands,
    Job,
    Look,
    Prior,
    best_look,
    learned,
    plan_errands,
)
from naisei.textgame.planner.mind import HouseMind
from naisei.textgame.player import Follows, Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, View

# The planner of cooking games: find the cookbook, gather, process, cook, eat.
#
# It never cooks or cuts an ingredient twice or against the recipe, and never eats one.

_COOKBOOK = "cookbook"


class CookingPlanner:
    """Plays one game. prior: statistics of earlier games."""

    def __init__(self, prior: Prior) -> None:
        self.known = CookingState()
        self._prior = prior
        self._last = ""
        self._mind = HouseMind(prior)
        #: The plan as text.
        self._plan: list[str] = []

    def decide(self, view: View) -> Flow[Decision]:
        """The next command; yields no effects."""
        self.known.see(view, self._last)
        self._plan = []
        command, thoughts = self._choose()
        self._last = command
        mind = self._mind.mind_of(self.known, self._missing(), self._plan or [thoughts])
        return Decision(action=command, thoughts=thoughts, mind=mind)
        yield  # makes this a generator

    def did(self, action: str) -> bool:
        """Record that a command other than the decided one was given."""
        self._last = action
        return True

    def _missing(self) -> list[str]:
        """Needed things that have not been seen yet."""
        if self.known.recipe is None:
            return [_COOKBOOK] if self.known.where(_COOKBOOK) is None else []
        tasks = self.known.tasks()
        missing = [t.name for t in tasks if self.known.where(t.name) is None]
        return missing + self._missing_tools(tasks)

    def _choose(self) -> tuple[str, str]:
        can = self.known.scene.can
        # With full hands the engine may not list it, but accepts it.
        if "eat meal" in can or "meal" in self.known.held:
            return "eat meal", say("料理ができた", "the meal is ready")
        if self.known.recipe is None:
            return self._find_cookbook()
        tasks = self.known.tasks()
        if spoilt := [t.name for t in tasks if t.spoilt]:
            return "", say(
                f"{spoilt[0]} はもうレシピどおりにできない",
                f"{spoilt[0]} can never be as the recipe wants it",
            )
        if missing := self._missing():
            return self._gather(tasks, missing)
        return self._run_errands(tasks)

    def _find_cookbook(self) -> tuple[str, str]:
        for command in ("examine cookbook", "read cookbook"):
            if command in self.known.scene.can:
                return command, say("レシピを読む", "reading the recipe")
        return self._look_for([_COOKBOOK])

    def _missing_tools(self, tasks: list[Task]) -> list[str]:
        known = self.known
        wanted = [KNIFE] if any(t.cut for t in tasks) and known.where(KNIFE) is None else []
        verbs = dict.fromkeys(t.cook for t in tasks if t.cook)
        return wanted + [
            APPLIANCES[verb][0]
            for verb in verbs
            if not any(name in known.appliances for name in APPLIANCES[verb])
        ]

    def _gather(self, tasks: list[Task], missing: list[str]) -> tuple[str, str]:
        """If something is missing: take things here, else go to the nearest promising place."""
        if (command := self._at_hand(tasks)) is not None:
            return command
        look = best_look(self.known.world, missing, self._prior, stuck=self.known.stuck)
        near = self._nearest(tasks)
        if near is not None and (look is None or near[0] <= look.cost - 1):
            _, at, name = near
            return self.known.walk(at), say(f"{name} を取りに行く", f"fetching the {name}")
        return self._follow(look, missing)

    def _nearest(self, tasks: list[Task]) -> tuple[int, int, str] | None:
        """(commands, place, name) of the nearest ingredient to fetch."""
        if not (self._has_free_hand() or self._spare(tasks)):
            return None
        distance = self.known.world.distances()
        found = [
            (distance[at], at, t.name)
            for t in tasks
            if (at := self.known.where(t.name)) is not None and at != HELD and at in distance
        ]
        return min(found, default=None)

    def _spare(self, tasks: list[Task]) -> list[str]:
        """Held things that are not needed; also the knife once everything is cut."""
        needed = {t.name for t in tasks} | ({KNIFE} if any(t.cut for t in tasks) else set())
        return sorted(set(self.known.held) - needed)

    def _at_hand(self, tasks: list[Task]) -> tuple[str, str] | None:
        """A command that advances the recipe here without a downside."""
        known = self.known
        for task in tasks:
            if task.name in known.held:
                if task.cook and (command := self._cook_here(task)):
                    return command, say("ここで加熱できる", "it can be cooked here")
                if task.cut and KNIFE in known.held:
                    return f"{task.cut} {task.name} with {KNIFE}", say("切る", "cutting")
        here = [t.name for t in tasks if t.name in known.world.place.things]
        if here and not self._has_free_hand() and (spare := self._spare(tasks)):
            return f"drop {spare[0]}", say("手を空ける", "freeing a hand")
        if self._has_free_hand():
            for name in here:
                if name in known.scene.lying:
                    return self.known.take(name), say("材料がある", "an ingredient is here")
            cuts = any(t.cut and t.name in known.held for t in tasks)
            if cuts and KNIFE in known.scene.lying:
                return self.known.take(KNIFE), say(
                    "切る材料を持っている", "something in hand needs cutting"
                )
        return None

    def _has_free_hand(self) -> bool:
        return len(self.known.held) < self.known.hands

    def _cook_here(self, task: Task) -> str:
        for name in APPLIANCES[task.cook]:
            if f"cook {task.name} with {name}" in self.known.scene.can:
                return f"cook {task.name} with {name}"
        return ""

    def _look_for(self, wanted: list[str]) -> tuple[str, str]:
        look = best_look(self.known.world, wanted, self._prior, stuck=self.known.stuck)
        return self._follow(look, wanted)

    def _follow(self, look: Look | None, wanted: list[str]) -> tuple[str, str]:
        what = ", ".join(wanted)
        if look is None:
            return "", say(
                f"すべて探したが見つからない: {what}", f"searched everywhere, not found: {what}"
            )
        thoughts = say(f"{what} を探す", f"looking for {what}")
        room = self.known.world.places[look.place].room
        self._plan = [
            say(f"{room} の {look.open} を開ける", f"open the {look.open} in the {room}")
            if look.open
            else say(f"{room} から {look.go} へ", f"{look.go} from the {room}"),
            thoughts,
        ]
        if look.place != self.known.world.here:
            return self.known.walk(look.place), thoughts
        if look.open:
            return f"open {look.open}", thoughts
        return self.known.go(look.go), thoughts

    def _run_errands(self, tasks: list[Task]) -> tuple[str, str]:
        """Follow the cheapest plan, once everything is found."""
        known = self.known
        if all(t.name in known.held and not t.cut and not t.cook for t in tasks):
            if known.world.here == known.cooking_place:
                return "prepare meal", say("材料がそろった", "everything is ready")
            return self.known.walk(known.cooking_place), say("台所に戻る", "back to the kitchen")
        plan = plan_errands(self._errands(tasks))
        if plan is None:
            return "", say("計画が立たない", "no plan leads to the meal")
        self._plan = [self._in_words(errand, tasks) for errand in plan[1]]
        return self._carry_out(plan[1][0], tasks)

    def _in_words(self, errand: Errand, tasks: list[Task]) -> str:
        if errand.kind == "walk":
            room = self.known.world.places[errand.place].room
            return say(f"{room} へ", f"to the {room}")
        if errand.thing > len(tasks):
            name = say("要らない物", "what is not needed")
        else:
            name = KNIFE if errand.thing == len(tasks) else tasks[errand.thing].name
        return f"{errand.kind} {name}"

    def _errands(self, tasks: list[Task]) -> Errands:
        known = self.known
        world = known.world
        jobs = []
        for task in tasks:
            at = known.where(task.name)
            assert at is not None
            cook_at = self._appliance(task) if task.cook else None
            jobs.append(Job(task.name, at, bool(task.cut), cook_at))
        return Errands(
            jobs=jobs,
            knife_at=known.where(KNIFE) if any(t.cut for t in tasks) else None,
            spare=len(self._spare(tasks)),
            hands=known.hands,
            here=world.here,
            goal=known.cooking_place,
            distance={p.number: world.distances(p.number) for p in world.places},
        )

    def _appliance(self, task: Task) -> int:
        return next(
            self.known.appliances[name]
            for name in APPLIANCES[task.cook]
            if name in self.known.appliances
        )

    def _carry_out(self, errand: Errand, tasks: list[Task]) -> tuple[str, str]:
        if errand.kind == "walk":
            return self.known.walk(errand.place), say("次の用事へ", "to the next errand")
        if errand.kind == "cook":
            return self._cook_here(tasks[errand.thing]), say("レシピどおりに加熱", "cooking")
        if errand.kind == "cut":
            task = tasks[errand.thing]
            return f"{task.cut} {task.name} with {KNIFE}", say("レシピどおりに切る", "cutting")
        if errand.thing > len(tasks):
            return f"drop {self._spare(tasks)[0]}", say("手を空ける", "freeing a hand")
        name = KNIFE if errand.thing == len(tasks) else tasks[errand.thing].name
        if errand.kind == "drop":
            return f"drop {name}", say("手を空ける", "freeing a hand")
        return self.known.take(name), say("必要なもの", "it is needed")


# The family of a game, from its first text.

_COOKING = re.compile(r"\b(?:cookbook|recipe|hungry|cook\w*|meal|starving|chef)\b", re.I)
_TIDYING = re.compile(
    r"\b(?:clean(?: \w+){0,3} up|clean(?: \w+){0,3} (?:house|place|room|home)|messy|mess|untidy|"
    r"tid(?:y|ied|ying)|out of place|put (?:\w+ ){0,4}away|where (?:it|they) belongs?|"
    r"(?:proper|usual|right|correct|rightful) (?:location|place)s?|spick and span)\b",
    re.I,
)


def is_tidying(first_text: str) -> bool:
    """Whether words of tidying outnumber those of cooking."""
    return _words(_TIDYING, first_text) > _words(_COOKING, first_text)


def _words(pattern: re.Pattern[str], first_text: str) -> int:
    return len({word.lower() for word in pattern.findall(_intro(first_text))})


def _intro(text: str) -> str:
    """The text before the first room description, since furniture in it would be misleading."""
    return text.partition("-= ")[0] or text


class ByFamily:
    """Delegates to one of two players, chosen by the first text."""

    def __init__(
        self, *, cooking: Callable[[], Player], tidying: Callable[[], Player], max_steps: int
    ) -> None:
        self._cooking, self._tidying, self._max_steps = cooking, tidying, max_steps
        self._player: Player | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """The decision of the player for the game's family."""
        if self._player is None:
            # An adviser that starts later does not see the first text.
            begins = view.steps_left == self._max_steps and view.feedback
            if begins and not _words(_TIDYING, view.feedback) + _words(_COOKING, view.feedback):
                return Decision(action="", thoughts=_neither())
            self._player = (self._tidying if is_tidying(view.feedback) else self._cooking)()
        return (yield from self._player.decide(view))

    def did(self, action: str) -> bool:
        """Record that a different command was given; returns whether the player can
        continue."""
        return isinstance(self._player, Follows) and self._player.did(action)


def _neither() -> str:
    return say(
        "冒頭の文章は料理でも片付けでもない。課題が冒頭に書いてあるゲームには --agent quest "
        "(plugins/naisei-textgame-quest)",
        "the first text is about neither cooking nor tidying; for games whose first text states "
        "the task there is --agent quest (plugins/naisei-textgame-quest)",
    )


class PlannerOptions(Options):
    """prior: use statistics of training games; without it all ways are equal."""

    prior: bool = True


class _Kind:
    settings: type[BaseModel] = PlannerOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        settings = PlannerOptions.model_validate(context.settings.model_dump())
        return ByFamily(
            cooking=lambda: CookingPlanner(learned() if settings.prior else Prior()),
            tidying=lambda: _tidy(context),
            max_steps=context.max_steps,
        )


def _tidy(context: PlayerContext) -> Player:
    # Imported here: its tables are read only for tidying games.
    from naisei.textgame.tidy.kind import TidyPlayer

    return TidyPlayer(context)


def build() -> PlayerKind:
    """The player kind `planner`."""
    return _Kind()
