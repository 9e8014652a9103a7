"""Players: protocol, registry, and command filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast, runtime_checkable

from pydantic import BaseModel

from naisei import plugins
from naisei.core import Flow, InstrumentFailure
from naisei.memory import Memory
from naisei.plugins import Options
from naisei.textgame.schemas import Decision, GameResult, View

# A player chooses a command for each view.
#
# Each game gets a new player. A player may have state but does no I/O: it yields
# requests (to a model, for an embedding) as effects.


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerContext:
    """The input for creating a player.

    game: file name, for seeds only. seed: seed of run and trial. max_steps: most commands per game.
    settings: an instance of the kind's `settings`. memo: notes from earlier tries at the same game;
    "" at first, and for players without memory.
    """

    game: str
    seed: int = 0
    max_steps: int = 100
    settings: BaseModel = field(default_factory=Options)
    memo: str = ""


class Player(Protocol):
    """Plays one game."""

    def decide(self, view: View) -> Flow[Decision]:
        """The next command for the latest view. Called once per step."""
        ...


@runtime_checkable
class Follows(Protocol):
    """Optional protocol: a player that can advise a person who may choose differently."""

    def did(self, action: str) -> bool:
        """Record that a command other than the decided one was given. False: the player cannot
        continue, and a new one must advise."""
        ...


class PlayerKind(Protocol):
    """Creates players. Entry-point group: `naisei.players`, a callable `() -> PlayerKind`.

    settings: model of `--agent-option KEY=VALUE`. roles: model roles that its players call; empty
    for players without a model.
    """

    settings: type[BaseModel]
    roles: tuple[str, ...]

    def new(self, context: PlayerContext) -> Player:
        """A new player for one game."""
        ...


@runtime_checkable
class Reflective(Protocol):
    """Optional part of a `PlayerKind` whose players learn between tries.

    Reflection calls the role `reflector`, one of the kind's `roles`.
    """

    def memory(self, settings: BaseModel) -> Callable[[], Memory]:
        """A factory for the memory of one game, which stores notes between tries.

        Raises:
            InputError: unknown memory.
        """
        ...

    def reflect(self, settings: BaseModel, result: GameResult, memory: Memory) -> Flow[str]:
        """Write a note on a try that did not win."""
        ...


#: Entry-point group of players: a callable `() -> PlayerKind`.
GROUP = "naisei.players"


def player_kind(name: str) -> PlayerKind:
    """The kind of player registered as `name`.

    Raises:
        InputError: unknown name, or a missing requirement.
    """
    return cast(
        PlayerKind, plugins.load(GROUP, name, what=("プレイヤー", "player"), option="--agent")()
    )


# Filters of the engine's candidates.
#
# Source: the text-game thesis, §6.3.3: remove commands that begin with examine, close, eat, look,
# drink, put or insert, except `examine cookbook` and `eat meal`.

Filter = Callable[[Sequence[str]], tuple[str, ...]]

_USELESS = ("examine", "close", "eat", "look", "drink", "put", "insert")
_KEPT = ("examine cookbook", "eat meal")


def _none(candidates: Sequence[str]) -> tuple[str, ...]:
    return tuple(candidates)


def _thesis(candidates: Sequence[str]) -> tuple[str, ...]:
    return tuple(c for c in candidates if c in _KEPT or c.split(" ", 1)[0] not in _USELESS)


def _strict(candidates: Sequence[str]) -> tuple[str, ...]:
    """The thesis's filter; also removes `inventory`, which each view includes."""
    return tuple(c for c in _thesis(candidates) if c != "inventory")


#: Name → filter. A filter that would remove everything is not applied.
FILTERS: Mapping[str, Filter] = {"none": _none, "thesis": _thesis, "strict": _strict}


class FilteredPlayer:
    """A player behind a filter; it sees all candidates if the filter removes all."""

    def __init__(self, player: Player, filter: Filter) -> None:
        self._player, self._filter = player, filter

    def decide(self, view: View) -> Flow[Decision]:
        if not view.candidates:
            # The game is broken, not the player; other games continue.
            raise InstrumentFailure(
                f"the game offers no command ({view.room or 'at its start'}); make it again"
            )
        filtered = self._filter(view.candidates) or view.candidates
        return self._player.decide(view.model_copy(update={"candidates": filtered}))
