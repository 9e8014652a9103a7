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
        Trial(goal, template, thing, beliefs.worth(goal, template))
        for goal, template, thing in _options(notes)
        if (template, thing) not in blocked
        and not (at_hand and not matching(notes.roles, notes.scene.can, template, thing))
    ]
    return max(found, key=lambda t: (t.worth, t.goal, t.template, t.thing), default=None)


def _options(notes: Notes) -> Iterator[tuple[str, str, str]]:
    assert notes.assignment is not None
    open_things = [
        t for t in notes.assignment.needs if not notes.closed and notes.open_directions(t)
    ]
    templates = [t for t in sorted(notes.known.offers) if not t.startswith(_MOVING)]
    for thing in open_things:
        for goal in notes.open_directions(thing):
            yield from ((goal, t, thing) for t in templates if NEEDED in t)
    if not open_things and (step := notes.closing()) is not None:
        goal, dish = step
        yield from ((goal, t, dish) for t in templates if DISH in t)
        yield from ((goal, c, "") for c in sorted(notes.scene.can) if " " not in c)
    if notes.world.frontier() or any(p.closed for p in notes.world.places):
        yield CURIOSITY, EXPLORE, ""
    things = {t for p in notes.world.places for t in p.things} & notes.portable
    for thing in sorted(things - set(notes.held) - set(notes.assignment.needs)):
        yield CURIOSITY, f"take {thing}", thing
