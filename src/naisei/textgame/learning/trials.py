"""What could be tried next, and which of it is worth most."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from naisei.lang import say
from naisei.textgame.learning.beliefs import CURIOSITY, Beliefs
from naisei.textgame.learning.notes import Notes
from naisei.textgame.learning.templates import DISH, NEEDED, matching

__all__ = ["Trial", "best_trial"]

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
