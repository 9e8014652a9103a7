"""`naisei clarify run`."""

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

_TASK = say("課題", "Task")

Clarify = Annotated[
    bool,
    typer.Option(
        "--clarify/--no-clarify",
        help=say("質問を許可するか", "Whether asking is allowed at all."),
        rich_help_panel=_TASK,
    ),
]
Independent = Annotated[
    bool,
    typer.Option(
        "--independent",
        help=say(
            "試行を互いに独立な繰り返しとする (pass^k のため)",
            "Trials are repetitions that know nothing of each other (for pass^k).",
        ),
        rich_help_panel=_TASK,
    ),
]


@grouped
def command(
    agent: flags.Agents = None,
    agent_option: flags.AgentOptions = None,
    model: flags.Models = None,
    memory: flags.Memory = None,
    trials: options.Trials = 3,
    clarify: Clarify = True,
    independent: Independent = False,
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
        agents=agent or (),
        agent_options=agent_option or (),
        models=model or (),
        model_of=roles.wish(),
        memory=memory,
        simulator=rulebook.simulator,
        sampling=sampled.wish(),
        rules={
            "trials": trials,
            "quota": rulebook.quota,
            "clarify": clarify,
            "forbidden": rulebook.forbidden,
        },
        others={
            **items.wish(),
            "independent": independent,
            "alpha": rulebook.alpha,
            "embedder": rulebook.embedder,
        },
    )
    code = commands.run(
        wish, session(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json
    )
    raise typer.Exit(code)
