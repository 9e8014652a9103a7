"""`naisei relationship ablate`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.lang import say
from naisei.relationship.cli import flags
from naisei.relationship.cli.groups import Reflecting, Roles, Talking, config, sitting_of

__all__ = ["command"]

EveryTurn = Annotated[
    bool,
    typer.Option(
        "--relationship-reflection-every-turn/--session-start-only",
        help=say(
            "内省する二条件で、発話のたびに読むか、各回の始めだけか",
            "In the two conditions with reflection: after each utterance, or as sessions start.",
        ),
        rich_help_panel=say("関係値内省", "Relationship reflection"),
    ),
]


@grouped
def command(
    more: flags.More = None,
    every_turn: EveryTurn = True,
    seed: options.Seed = 0,
    *,
    talking: Talking,
    reflecting: Reflecting,
    roles: Roles,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for what only an ablation needs.
    from naisei.relationship.ablate_commands import ablate

    made = config(
        talking,
        reflecting,
        roles,
        more=more,
        seed=seed,
        mode="turn" if every_turn else "session",
        inject=True,
    )
    code = ablate(made, sitting_of(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json)
    raise typer.Exit(code)
