"""Players: the protocol, the registry, and filters of commands."""

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

# A player sees a view and chooses a command.
#
# A player is made anew for every game. It may keep what it has seen, but does no I/O: what it
# needs from the world (a model, an embedding) it yields as an effect.


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerContext:
    """The input for making a player.

    game: name of the game's file, for seeds only. seed: of the run and the trial. max_steps: most
    commands of the game. settings: an instance of the kind's `settings`. memo: notes from earlier
    tries at the same game; empty at the first, and for players that keep none.
    """

    game: str
    seed: int = 0
    max_steps: int = 100
    settings: BaseModel = field(default_factory=Options)
    memo: str = ""


class Player(Protocol):
    """Plays one game."""

    def decide(self, view: View) -> Flow[Decision]:
        """The next command, given the last result. Called once a step."""
        ...


@runtime_checkable
class Follows(Protocol):
    """Optional: a player that can advise a person who may choose otherwise."""

    def did(self, action: str) -> bool:
        """Another command was given than the last one decided for. False: it has lost the
        thread, and a fresh player must advise from here."""
        ...


class PlayerKind(Protocol):
    """Makes players. Entry-point group: `naisei.players`, a callable `() -> PlayerKind`.

    settings: model of `--agent-option KEY=VALUE`. roles: the model roles that its players
    call; empty for a player without a model.
    """

    settings: type[BaseModel]
    roles: tuple[str, ...]

    def new(self, context: PlayerContext) -> Player:
        """A fresh player for one game."""
        ...


@runtime_checkable
class Reflective(Protocol):
    """Optional part of a `PlayerKind` whose players learn between tries.

    Reflection calls the role `reflector`, which is among the kind's `roles`.
    """

    def memory(self, settings: BaseModel) -> Callable[[], Memory]:
        """A factory for the memory of one game, which holds notes between tries.

        Raises:
            InputError: no such memory.
        """
        ...

    def reflect(self, settings: BaseModel, result: GameResult, memory: Memory) -> Flow[str]:
        """The note on a try that did not win the game."""
        ...


#: Entry-point group of players: a callable `() -> PlayerKind`.
GROUP = "naisei.players"


def player_kind(name: str) -> PlayerKind:
    """The kind of player registered as `name`.

    Raises:
        InputError: unknown name, or it needs something that is not installed.
    """
    return cast(
        PlayerKind, plugins.load(GROUP, name, what=("プレイヤー", "player"), option="--agent")()
    )


# Which of the engine's candidates a player is shown.
#
# Source: the text-game thesis, §6.3.3: commands that begin with examine, close, eat, look, drink,
# put or insert are left out, save `examine cookbook` and `eat meal`.

Filter = Callable[[Sequence[str]], tuple[str, ...]]

_USELESS = ("examine", "close", "eat", "look", "drink", "put", "insert")
_KEPT = ("examine cookbook", "eat meal")


def _none(candidates: Sequence[str]) -> tuple[str, ...]:
    return tuple(candidates)


def _thesis(candidates: Sequence[str]) -> tuple[str, ...]:
    return tuple(c for c in candidates if c in _KEPT or c.split(" ", 1)[0] not in _USELESS)


def _strict(candidates: Sequence[str]) -> tuple[str, ...]:
    """As the thesis, and without `inventory`, since a view holds it already."""
    return tuple(c for c in _thesis(candidates) if c != "inventory")


#: Name → filter. One that leaves nothing over is not applied (see `task`).
FILTERS: Mapping[str, Filter] = {"none": _none, "thesis": _thesis, "strict": _strict}


class FilteredPlayer:
    """A player behind a filter; it sees all candidates if the filter leaves none."""

    def __init__(self, player: Player, shown: Filter) -> None:
        self._player, self._filter = player, shown

    def decide(self, view: View) -> Flow[Decision]:
        if not view.candidates:
            # The game's fault, not the player's, and no reason to stop the other games.
            raise InstrumentFailure(
                f"the game offers no command ({view.room or 'at its start'}); make it again"
            )
        kept = self._filter(view.candidates) or view.candidates
        return self._player.decide(view.model_copy(update={"candidates": kept}))
