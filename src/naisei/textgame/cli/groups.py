"""The groups of flags that the text games' commands share; see `naisei.cli.grouped`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from naisei.cli import options
from naisei.cli.groups import Endpoint, Sitting
from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.cli import flags

if TYPE_CHECKING:
    from naisei.textgame.execute import Session

__all__ = ["GameSet", "Sampled", "session"]


@dataclass(frozen=True, slots=True)
class GameSet:
    """Which games."""

    games: flags.Games = None
    twc: flags.Twc = None
    ftwp: flags.Ftwp = None
    split: flags.Split = ""
    level: flags.Level = ""
    limit: options.Limit = None

    def named(self) -> dict[str, str | int | None]:
        """As `GameConfig` names them. Raises `InputError` unless just one set is given."""
        given = {"": self.games, "twc:": self.twc, "ftwp:": self.ftwp}
        named = [f"{prefix}{path}" for prefix, path in given.items() if path is not None]
        if len(named) != 1:
            raise InputError(
                say("ゲームが指定されていません", "no games are named")
                if not named
                else say("ゲームの指定が二つ以上あります", "several sets of games are named"),
                place="--games",
                remedy=say(
                    "--games DIR、--twc DIR、--ftwp DIR のどれか一つを指定してください。"
                    "ゲームは naisei textgame make cooking --out DIR で作れます",
                    "give one of --games DIR, --twc DIR and --ftwp DIR; naisei textgame make "
                    "cooking --out DIR makes games",
                ),
            )
        return {
            "games": named[0],
            "split": self.split,
            "level": self.level,
            "limit": self.limit,
        }


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the models of player and reflector are told; else the endpoint's own."""

    temperature: flags.Temperature = None
    max_output_tokens: flags.OutputTokens = None

    def of(self, roles: Iterable[str]) -> dict[str, dict[str, float | int]]:
        """As `GameConfig.sampling`."""
        wished = {"temperature": self.temperature, "max_tokens": self.max_output_tokens}
        given = {name: value for name, value in wished.items() if value is not None}
        return dict.fromkeys(roles, given) if given else {}


def session(endpoint: Endpoint, sitting: Sitting) -> Session:
    """How a run is carried out: every game has an interpreter of its own, so as many games run
    at a time as there are cores."""
    from naisei.textgame.execute import Session

    at_once = min(sitting.concurrency, os.cpu_count() or 1)
    return Session(
        settings=endpoint.settings(at_once),
        concurrency=at_once,
        budget=sitting.budget,
        cache=sitting.cache,
        quiet=sitting.quiet,
    )
