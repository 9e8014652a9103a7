"""`naisei textgame run`."""

from __future__ import annotations

import os

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.core import InputError
from naisei.textgame.cli import flags

__all__ = ["command"]


@grouped
def command(
    agent: flags.Agent = "planner",
    games: flags.Games = None,
    twc: flags.Twc = None,
    ftwp: flags.Ftwp = None,
    split: flags.Split = "",
    level: flags.Level = "",
    limit: options.Limit = None,
    trials: options.Trials = 1,
    tries: flags.Tries = 1,
    max_steps: flags.MaxSteps = None,
    filter: flags.Filter = "none",
    agent_option: flags.AgentOptions = None,
    model: options.Model = None,
    player_model: flags.PlayerModel = None,
    reflector_model: flags.ReflectorModel = None,
    seed: options.Seed = 0,
    *,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for what only a run needs.
    from naisei.runs.options import pairs, typed
    from naisei.textgame.commands import carry_out
    from naisei.textgame.config import GameConfig
    from naisei.textgame.execute import Session
    from naisei.textgame.players.registry import player_kind

    kind = player_kind(agent)
    named = {"player": player_model or model, "reflector": reflector_model or model}
    config = GameConfig(
        agent=agent,
        agent_options=typed(kind.settings, pairs(agent_option or ())),
        games=_games({"": games, "twc:": twc, "ftwp:": ftwp}),
        split=split,
        level=level,
        limit=limit,
        trials=trials,
        tries=tries,
        max_steps=max_steps,
        filter=filter,
        models={role: name for role, name in named.items() if name and role in kind.roles},
        seed=seed,
    )
    # Every game has an interpreter of its own, so as many run as there are cores.
    at_once = min(sitting.concurrency, os.cpu_count() or 1)
    session = Session(
        settings=endpoint.settings(at_once),
        concurrency=at_once,
        budget=sitting.budget,
        cache=sitting.cache,
        quiet=sitting.quiet,
    )
    raise typer.Exit(carry_out(config, session, run_dir=sitting.run_dir, json=sitting.json))


def _games(given: dict[str, object]) -> str:
    named = [f"{prefix}{path}" for prefix, path in given.items() if path is not None]
    if len(named) != 1:
        raise InputError(
            "no games are named" if not named else "several sets of games are named",
            place="--games",
            remedy="give one of --games DIR, --twc DIR and --ftwp DIR; naisei textgame make "
            "cooking --out DIR makes games",
        )
    return named[0]
