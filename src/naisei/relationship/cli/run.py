"""`naisei relationship run`."""

from __future__ import annotations

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.relationship.cli import flags
from naisei.relationship.cli.groups import Reflecting, Roles, Talking, config, sitting_of

__all__ = ["command"]


@grouped
def command(
    more: flags.More = None,
    relationship_reflection: flags.Reflection = False,
    every_turn: flags.EveryTurn = False,
    no_inject: flags.NoInject = False,
    seed: options.Seed = 0,
    *,
    talking: Talking,
    reflecting: Reflecting,
    roles: Roles,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for what only a run needs.
    from naisei.relationship.commands import carry_out

    wanted = relationship_reflection or every_turn or no_inject
    made = config(
        talking,
        reflecting,
        roles,
        more=more,
        seed=seed,
        mode="turn" if every_turn else "session" if wanted else "off",
        inject=not no_inject,
    )
    code = carry_out(
        made, sitting_of(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json
    )
    raise typer.Exit(code)
