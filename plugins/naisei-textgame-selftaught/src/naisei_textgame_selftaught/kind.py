"""The player kind `self-taught`: uses learned knowledge without changing it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel

from naisei.core import Flow
from naisei.lang import say
from naisei.plugins import Options
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, View
from naisei_textgame_selftaught.actions import Skills, Trial, best_trial
from naisei_textgame_selftaught.game_state import LearningState
from naisei_textgame_selftaught.knowledge import (
    CURIOSITY,
    DISH,
    END,
    NEEDED,
    Beliefs,
    Knowledge,
    instrument,
    load,
    matching,
)

# The player `self-taught`: it can walk, look, take and drop, and learns the rest.
#
# It has no built-in knowledge of which command satisfies which direction, what that requires,
# what is irreversible, or how the game ends. Every command that it tries updates counts.


class SelfTaught:
    """Plays one game. known: modified while playing; pass a copy to keep it.

    draw: seed for exploration, or `None` for the best known. caution: count losses, and apply sure
    rules before trying others.
    """

    def __init__(self, known: Knowledge, *, draw: str | None = None, caution: bool = True) -> None:
        self.beliefs = Beliefs(known, draw=draw, caution=caution)
        self.state = LearningState(known, self.beliefs)
        self._skills = Skills(self.state)
        self._caution = caution
        self._trial: Trial | None = None
        #: (template, thing) that failed in this game.
        self._blocked: set[tuple[str, str]] = set()
        self._last = ""

    def decide(self, view: View) -> Flow[Decision]:
        """The next command; yields no effects."""
        self._see(view)
        command, thought = self._choose()
        self._last = command
        return Decision(action=command, thoughts=thought)
        yield  # makes this a generator

    def end(self, view: View) -> None:
        """Learn from the game's last answer."""
        self._see(view)
        self.state.finish()

    def _see(self, view: View) -> None:
        trial = self._trial
        points = self.state.score
        self.state.see(view, self._last)
        if self.state.score > points:
            self._blocked.clear()  # earlier failures may succeed now
        if trial is not None and self._last == trial.command:
            if self.state.score == points:
                self._blocked.add((trial.template, trial.thing))
            if trial.goal == CURIOSITY:
                self.state.curious(trial.template, self.state.something_new)
            self._trial = None

    def _choose(self) -> tuple[str, str]:
        state = self.state
        if state.assignment is None:
            return self._find_cookbook()
        if self._trial is not None:
            if step := self._pursue(self._trial):
                return step
            self._give_up_trial()
        if not state.progress.closed and (step := self._surely()):
            return step
        return self._try()

    def _find_cookbook(self) -> tuple[str, str]:
        for command in ("examine cookbook", "read cookbook"):
            if command in self.state.scene.can:
                return command, say("レシピを読む", "reading the recipe")
        return self._skills.search(["cookbook"]) or (
            "",
            say("料理本が見つからない", "there is no cookbook to be found"),
        )

    def _surely(self) -> tuple[str, str] | None:
        """Apply sure rules and gather."""
        ways = self._sure_ways()
        if (step := self._skills.at_hand(ways)) is not None:
            return step
        if not self._caution and (trial := self._best(at_hand=True)):
            self._trial = trial
            return self._pursue(trial)
        return self._skills.gather(ways, self._blocked)

    def _sure_ways(self) -> dict[str, list[str]]:
        """Ingredient → templates that surely satisfy an open direction."""
        state, ways = self.state, {}
        assert state.assignment is not None
        for thing in state.assignment.needs:
            ways[thing] = [
                best
                for verb in state.progress.open_directions(thing)
                if (best := self._best_template(verb, thing)) and self.beliefs.sure(verb, best)
            ]
        return ways

    def _best_template(self, goal: str, thing: str) -> str:
        templates = [t for t in self.state.known.rules.get(goal, {}) if NEEDED in t]
        used = self.state.progress.used(thing)
        usable = [t for t in sorted(templates) if t not in used and (t, thing) not in self._blocked]
        return max(usable, key=lambda t: self.beliefs.mean(goal, t), default="")

    def _best(self, *, at_hand: bool = False) -> Trial | None:
        return best_trial(self.state, self.beliefs, self._blocked, at_hand=at_hand)

    def _try(self) -> tuple[str, str]:
        """The most promising uncertain trial."""
        while (trial := self._best()) is not None:
            self._trial = trial
            if step := self._pursue(trial):
                return step
            self._give_up_trial()
        return "", say("試せることがもうない", "there is nothing left to try")

    def _give_up_trial(self) -> None:
        if self._trial is not None:
            self._blocked.add((self._trial.template, self._trial.thing))
            self._trial = None

    def _pursue(self, trial: Trial) -> tuple[str, str] | None:
        """The next command towards a trial; `None` if it is impossible in this game."""
        state, skills = self.state, self._skills
        why = trial.thought()
        if trial.goal == CURIOSITY:
            step = self._satisfy(trial)
            return (step, why) if step else None
        closing = DISH in trial.template or trial.goal == END or NEEDED not in trial.template
        if not closing and trial.goal not in state.progress.chances(trial.thing):
            return None
        if closing and trial.goal != (state.progress.closing() or ("",))[0]:
            return None
        if not closing and trial.thing not in state.held:
            if (step := skills.fetch(trial.thing, keep=(instrument(trial.template),))) is None:
                return skills.search([trial.thing])
            return step, why
        trial.command = matching(state.roles, state.scene.can, trial.template, trial.thing)
        if trial.command:
            return trial.command, why
        if closing and trial.thing and (step := skills.fetch(trial.thing, keep=())):
            return step, why  # the dish was put down
        step = skills.towards(trial.template, trial.thing)
        return (step, why) if step else None

    def _satisfy(self, trial: Trial) -> str | None:
        """The next command towards new kinds of commands: taking a thing or exploring."""
        if trial.thing:
            step = self._skills.fetch(trial.thing, keep=self._unfinished()[:1])
            if step and step.split(" from ")[0] == f"take {trial.thing}":
                trial.command = step
            return step
        step = self._skills.explore()
        if step and self._skills.is_new(step):
            trial.command = step
        return step

    def _unfinished(self) -> list[str]:
        """Held ingredients with open directions."""
        return [t for t in sorted(self.state.held) if self.state.progress.open_directions(t)]


class SelfTaughtOptions(Options):
    """knowledge: a file written by `naisei self-taught learn`; without one it knows nothing."""

    knowledge: str = ""


class _Kind:
    settings: type[BaseModel] = SelfTaughtOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        options = SelfTaughtOptions.model_validate(context.settings.model_dump())
        known = _loaded(options.knowledge) if options.knowledge else Knowledge()
        # Learning within a game is forgotten at its end.
        return SelfTaught(known.model_copy(deep=True), caution=known.caution)


@lru_cache(maxsize=4)
def _loaded(path: str) -> Knowledge:
    return load(Path(path))


def build() -> PlayerKind:
    """The player kind `self-taught`."""
    return _Kind()
