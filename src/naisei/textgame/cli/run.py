"""`naisei textgame run`."""

from __future__ import annotations

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.textgame.cli import flags
from naisei.textgame.cli.groups import GameSet, Sampled, session

__all__ = ["command"]


@grouped
def command(
    agent: flags.Agent = "planner",
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
    set: GameSet,
    sampled: Sampled,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for what only a run needs.
    from naisei.runs.options import pairs, typed
    from naisei.textgame.commands import carry_out
    from naisei.textgame.config import GameConfig
    from naisei.textgame.player import player_kind

    kind = player_kind(agent)
    named = {"player": player_model or model, "reflector": reflector_model or model}
    models = {role: name for role, name in named.items() if name and role in kind.roles}
    config = GameConfig(
        agent=agent,
        agent_options=typed(kind.settings, pairs(agent_option or ())),
        trials=trials,
        tries=tries,
        max_steps=max_steps,
        filter=filter,
        models=models,
        sampling=sampled.of(models),
        seed=seed,
        **set.named(),  # type: ignore[arg-type]
    )
    code = carry_out(config, session(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json)
    raise typer.Exit(code)
