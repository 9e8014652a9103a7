"""A house in which actions change where things are: rooms, things, and what happened to them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files

from naisei.clarify.schemas import Action
from naisei.core import Act, Handler, Observation, Where

#: 「缶切りを棚にしまう」: a thing, and where it goes.
_MOVE = re.compile(r"^(?P<thing>[^をに]+)を(?:(?P<place>[^に]+)に)?(?P<verb>.+)$")
#: 「コップじゃなくて」
_DENIED = re.compile(r"^.*(?:じゃ|では)な(?:くて?|い)[、。]?")
#: Where what is brought, and what is tidied away, is afterwards.
_NEAR, _AWAY = "あなたのそば", "片付けた"


class House(Handler):
    """Performs `Act`. rooms: things by room, in order; places that actions make are added behind.

    text: the words of an action by its number.
    """

    def __init__(self, rooms: dict[str, Sequence[str]], text: Callable[[int], str]) -> None:
        self.rooms: dict[str, list[str]] = {room: [*things] for room, things in rooms.items()}
        self._text = text
        #: The actions done, oldest first.
        self.done: list[str] = []

    def perform(self, effect: Act, where: Where) -> Observation:
        also = effect.action.get("also", [])
        for number in (effect.action["execute"], *also):
            self._do(self._text(int(number)))
        return Observation(text=self.done[-1], reward=1.0, done=True)

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        if result.reward:
            self.perform(effect, where)

    def _do(self, action: str) -> None:
        self.done.append(action)
        if (found := _MOVE.match(action)) is None:
            return
        brought = found["verb"].startswith(("持って", "取って"))
        place = found["place"] or (_NEAR if brought else _AWAY)
        for things in self.rooms.values():
            if found["thing"] in things:
                things.remove(found["thing"])
        self.rooms.setdefault(place, []).append(found["thing"])


def named(said: str, actions: Iterable[Action], *, like: str) -> int | None:
    """The action whose thing is named, and not denied; with the same verb as `like` where there are
    several; `None` where none or several remain."""
    wanted = _DENIED.sub("", said) or said
    moves = {action.id: _MOVE.match(action.text) for action in actions}
    found = {id: move for id, move in moves.items() if move and move["thing"] in wanted}
    verb = _MOVE.match(like)
    same = [id for id, move in found.items() if verb and move["verb"] == verb["verb"]]
    return next(iter(same or found)) if len(same or found) == 1 else None


def rooms_of(world: str) -> dict[str, Sequence[str]]:
    """The rooms of a bundled world; none of one that is not bundled."""
    found = json.loads((files("naisei.data") / "agents" / "worlds.json").read_text("utf-8"))
    rooms: dict[str, Sequence[str]] = found.get(world, {})
    return rooms
