"""`naisei clarify audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.clarify.cli import flags
from naisei.clarify.cli.groups import session
from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.cli.lang import say

__all__ = ["command"]

Simulator = Annotated[
    str,
    typer.Option(help=say("rule または llm", "rule or llm."), rich_help_panel=say("課題", "Task")),
]


@grouped
def command(
    data: options.Data = "ambigact40-open",
    split: flags.Split = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    simulator: Simulator = "rule",
    model: flags.Model = None,
    simulator_model: flags.SimulatorModel = None,
    *,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    from naisei.clarify import commands
    from naisei.clarify.audit.task import AuditConfig

    chosen = simulator_model or model
    config = AuditConfig(
        data=data,
        split=split,
        limit=limit,
        simulator=simulator,
        models={"simulator": chosen} if chosen and simulator == "llm" else {},
        seed=seed,
    )
    code = commands.audit(
        config, session(endpoint, sitting), run_dir=sitting.run_dir, json=sitting.json
    )
    raise typer.Exit(code)
