"""`naisei textgame ablate`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.lang import say
from naisei.textgame.cli import flags
from naisei.textgame.cli.groups import GameSet, Sampled, session

__all__ = ["command"]

Rows = Annotated[
    str,
    typer.Option(
        "--rows",
        help=say(
            "表の行 (コンマ区切り): full,other-model,no-cot,no-one-shot,no-fa,easy-one-shot "
            "(既定)、dialogue,navigator,other-dialogue,other-navigator (料理、表 5.5 と 6.2)",
            "Rows, with commas: full,other-model,no-cot,no-one-shot,no-fa,easy-one-shot (default); "
            "dialogue,navigator,other-dialogue,other-navigator (cooking, Tables 5.5 and 6.2).",
        ),
        rich_help_panel=say("課題", "Task"),
    ),
]
OtherModel = Annotated[
    str | None,
    typer.Option(
        "--other-model",
        metavar="PROVIDER:NAME",
        help=say(
            "行 other-… のモデル (論文では表 3.2 の「-GPT4」、表 6.2 の GPT-4.1)",
            "Model of the rows other-…: “-GPT4” of the thesis's Table 3.2, GPT-4.1 of 6.2.",
        ),
        rich_help_panel=say("モデル", "Models"),
    ),
]


@grouped
def command(
    rows: Rows = "",
    trials: options.Trials = 1,
    tries: flags.Tries = 1,
    max_steps: flags.MaxSteps = None,
    filter: flags.Filter = "none",
    agent_option: flags.AgentOptions = None,
    model: options.Model = None,
    other_model: OtherModel = None,
    seed: options.Seed = 0,
    *,
    set: GameSet,
    sampled: Sampled,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for what only this one needs.
    from naisei.runs.options import pairs, typed
    from naisei.textgame.config import GameConfig
    from naisei.textgame.llm.ablation import configs
    from naisei.textgame.llm.commands import ablate
    from naisei.textgame.llm.prompt import LLMOptions

    roles = ("player", "reflector") if tries > 1 else ("player",)
    base = GameConfig(
        agent="llm",
        agent_options=typed(LLMOptions, pairs(agent_option or ())),
        trials=trials,
        tries=tries,
        max_steps=max_steps,
        filter=filter,
        models={role: model for role in roles if model},
        sampling=sampled.of(roles),
        seed=seed,
        **set.named(),  # type: ignore[arg-type]
    )
    chosen = configs(base, [r.strip() for r in rows.split(",") if r.strip()], other_model)
    code = ablate(chosen, session(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json)
    raise typer.Exit(code)
