"""What a player is: it sees a view and decides for a command.

A player is made anew for every game. It may keep what it has seen, but does no I/O: what it
needs from the world (a model, an embedding) it yields as an effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from naisei.core import Flow
from naisei.memory import Memory
from naisei.runs.options import Options
from naisei.textgame.schemas import Decision, GameResult, View

__all__ = ["Follows", "Player", "PlayerContext", "PlayerKind", "Reflective"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerContext:
    """What a player is made with.

    game: name of the game's file, for seeds only. seed: of the run and the trial. max_steps: how
    many commands the game lasts at most. settings: an instance of the kind's `settings`. memo:
    notes from earlier tries at the same game; empty at the first, and for players that keep none.
    """

    game: str
    seed: int = 0
    max_steps: int = 100
    settings: BaseModel = field(default_factory=Options)
    memo: str = ""


class Player(Protocol):
    """Plays one game."""

    def decide(self, view: View) -> Flow[Decision]:
        """The next command, given what came of the last one. Called once a step."""
        ...


@runtime_checkable
class Follows(Protocol):
    """A player that can advise a person who does not always do as it says. Optional."""

    def did(self, action: str) -> bool:
        """Another command was given than the last one decided for. False: it has lost the
        thread, and a fresh player must advise from here."""
        ...


class PlayerKind(Protocol):
    """Makes players. Entry-point group: `naisei.players`, a callable `() -> PlayerKind`.

    settings: what `--agent-option KEY=VALUE` may set. roles: the model roles that its players
    call; empty for a player without a model.
    """

    settings: type[BaseModel]
    roles: tuple[str, ...]

    def new(self, context: PlayerContext) -> Player:
        """A fresh player for one game."""
        ...


@runtime_checkable
class Reflective(Protocol):
    """What a `PlayerKind` has besides if its players learn from one try at a game to the next.

    Whoever reflects calls the role `reflector`, which is among the kind's `roles`.
    """

    def memory(self, settings: BaseModel) -> Callable[[], Memory]:
        """What makes the memory of one game; it holds the notes between its tries.

        Raises:
            InputError: no such memory.
        """
        ...

    def reflect(self, settings: BaseModel, result: GameResult, memory: Memory) -> Flow[str]:
        """The note on a try that did not win the game."""
        ...
