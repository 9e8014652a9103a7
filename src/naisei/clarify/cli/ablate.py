"""`naisei clarify ablate`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.clarify.cli import flags
from naisei.clarify.cli.groups import Items, Roles, Rulebook, Sampled, session
from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.cli.lang import say

__all__ = ["command"]

Rows = Annotated[
    str,
    typer.Option(
        help=say(
            "表の行 (コンマ区切り): full,no-tur,no-clarify,no-both,reflexion",
            "Rows, with commas: full,no-tur,no-clarify,no-both,reflexion.",
        ),
        rich_help_panel=say("課題", "Task"),
    ),
]


@grouped
def command(
    agent: flags.Agent = None,
    agent_option: flags.AgentOptions = None,
    rows: Rows = "",
    model: flags.Model = None,
    trials: options.Trials = 5,
    *,
    items: Items,
    roles: Roles,
    rulebook: Rulebook,
    sampled: Sampled,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    from naisei.clarify import commands
    from naisei.clarify.choose import Wish

    wish = Wish(
        agents=[agent] if agent else (),
        agent_options=agent_option or (),
        models=[model] if model else (),
        model_of=roles.wish(),
        simulator=rulebook.simulator,
        sampling=sampled.wish(),
        rules={"trials": trials, "quota": rulebook.quota, "forbidden": rulebook.forbidden},
        others={**items.wish(), "alpha": rulebook.alpha, "embedder": rulebook.embedder},
    )
    chosen = [r.strip() for r in rows.split(",") if r.strip()]
    code = commands.ablate(
        wish, chosen, session(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json
    )
    raise typer.Exit(code)
