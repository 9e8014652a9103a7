"""Simulated worlds in which actions move things between rooms."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib.resources import files

from pydantic import JsonValue

from naisei.agent.unprompted import nouns
from naisei.clarify.schemas import Action
from naisei.core import Act, Handler, Observation, Where
from naisei.textgame.schemas import START, View
from naisei.textgame.texts import readable

#: 「缶切りを棚にしまう」: a thing and its destination.
_MOVE = re.compile(r"^(?P<thing>[^をに]+)を(?:(?P<place>[^に]+)に)?(?P<verb>.+)$")
#: 「コップじゃなくて」
_DENIED = re.compile(r"^.*(?:じゃ|では)な(?:くて?|い)[、。]?")
#: 「コップもお願い」, without a verb
_ALSO = re.compile(r"も(?:[、。\s]*$|お願い|おねがい|頼|ちょうだい|ください|ね|いい)")
#: 「しまっといて」, without a destination
_PUT_AWAY = re.compile(r"しま[っいうえ]|片(?:付|づ)け|かたづけ|(?:戻|もど|直|なお)し")
#: Places of things after bringing and tidying.
_NEAR, _AWAY = "あなたのそば", "片付けた"
#: Beginnings of verbs of bringing.
_BRING = ("持って", "取って")


class House(Handler):
    """Performs `Act`. rooms: things by room, in order; new places are appended.

    text: returns the text of an action by its number.
    """

    def __init__(self, rooms: Mapping[str, Sequence[str]], text: Callable[[int], str]) -> None:
        self.rooms: dict[str, list[str]] = {room: [*things] for room, things in rooms.items()}
        self._text = text

    def perform(self, effect: Act, where: Where) -> Observation:
        also = effect.action.get("also", [])
        done = [self._text(int(number)) for number in (effect.action["execute"], *also)]
        for action in done:
            self._do(action)
        rooms: JsonValue = {room: [*things] for room, things in self.rooms.items()}
        return Observation(text=done[-1], reward=1.0, done=True, info={"rooms": rooms})

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        if result.reward:
            self.perform(effect, where)

    def _do(self, action: str) -> None:
        if (found := _MOVE.match(action)) is None:
            return
        brought = found["verb"].startswith(_BRING)
        place = found["place"] or (_NEAR if brought else _AWAY)
        for things in self.rooms.values():
            if found["thing"] in things:
                things.remove(found["thing"])
        self.rooms.setdefault(place, []).append(found["thing"])


class GameHouse(Handler):
    """Performs `Act` in a text game, by number in the last list of commands; `START` begins it.
    Every accepted command counts as done, whatever its score."""

    def __init__(self, game: Handler) -> None:
        self._game = game
        self._commands: list[str] = []

    async def perform(self, effect: Act, where: Where) -> Observation:
        command = self._command(effect)
        performed = self._game.perform(Act(command), where)
        seen = await performed if isinstance(performed, Awaitable) else performed
        assert isinstance(seen, Observation)
        view = View.of(seen)
        self._commands = [*view.candidates]
        carried = [readable(view.inventory)] if view.inventory else []
        rooms: JsonValue = {view.room: [readable(view.description), *carried]}
        own: dict[str, JsonValue] = {
            "told": readable(view.feedback),
            "rooms": rooms,
            "candidates": [*self._commands],
            "seen": seen.model_dump(mode="json"),
        }
        text = "" if command == START else command
        return Observation(text=text, reward=1.0, done=True, info=own)

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        if result.reward:
            seen = Observation.model_validate(result.info["seen"])
            self._game.restore(Act(self._command(effect)), seen, where)
            self._commands = [str(c) for c in result.info["candidates"]]  # type: ignore[union-attr]

    def _command(self, effect: Act) -> str:
        if effect.action == START:
            return START
        return self._commands[int(effect.action["execute"]) - 1]


def named(said: str, actions: Iterable[Action], *, like: str) -> int | None:
    """The action whose thing is named and not denied; if there are several, the one with the verb
    of `like`; `None` unless unique."""
    moves = {action.id: _MOVE.match(action.text) for action in actions}
    wanted = without_denied(said)
    found = {id: move for id, move in moves.items() if move and move["thing"] in wanted}
    verb = _MOVE.match(like)
    same = [id for id, move in found.items() if verb and move["verb"] == verb["verb"]]
    return next(iter(same or found)) if len(same or found) == 1 else None


def without_denied(said: str) -> str:
    """The wanted part of 「コップじゃなくてグラス」."""
    return _DENIED.sub("", said) or said


def left_out(said: str, actions: Iterable[Action], *, like: str) -> int | None:
    """The action of an elliptical request, completed from the last action `like`: 「コップも」
    names another thing, 「しまっといて」 another verb for the same thing; `None` otherwise."""
    if _ALSO.search(said):
        return named(said, actions, like=like)
    if (last := _MOVE.match(like)) is None:
        return None
    every = {action.id: move for action in actions if (move := _MOVE.match(action.text))}
    moves = {id: move for id, move in every.items() if move["thing"] == last["thing"]}
    if any(move["thing"] in said for id, move in every.items() if id not in moves):
        return None
    known = frozenset().union(*(nouns(move[0]) for move in moves.values()))
    wish = said.rstrip("。！!").rpartition("。")[2]
    if not nouns(wish) <= known:
        return None
    found = [id for id, move in moves.items() if move["verb"][:2] in wish]
    if not found and _PUT_AWAY.search(wish):
        found = [id for id, move in moves.items() if not move["verb"].startswith(_BRING)]
    return found[0] if len(found) == 1 else None


def rooms_of(world: str) -> dict[str, Sequence[str]]:
    """The rooms of a bundled world; empty for other worlds."""
    found = json.loads((files("naisei.data") / "agents" / "worlds.json").read_text("utf-8"))
    rooms: dict[str, Sequence[str]] = found.get(world, {})
    return rooms
