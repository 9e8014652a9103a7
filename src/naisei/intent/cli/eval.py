"""`naisei intent eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.intent.cli import flags
from naisei.lang import say

__all__ = ["command"]

_TASK = say("課題", "Task")

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=say(
            "質問集 (JSON Lines)。handbook は同梱のもの",
            "Questions as JSON lines; `handbook` is the bundled file.",
        ),
    ),
]
Split = Annotated[
    Literal["dev", "test", "all"],
    typer.Option("--split", help=say("質問集のどの部分か", "Which part."), rich_help_panel=_TASK),
]
Simulator = Annotated[
    Literal["rule", "unknowing", "llm"],
    typer.Option(
        "--simulator",
        help=say(
            "ユーザー役: rule (規則)、unknowing (何も知らない対照)、llm",
            "Who plays the user: rule, unknowing (a control that knows nothing), llm.",
        ),
        rich_help_panel=_TASK,
    ),
]
Ablations = Annotated[
    bool,
    typer.Option(
        "--ablations",
        help=say(
            "聞き返しなし、書き直しなし、BM25 だけ、埋め込みだけ、何も知らないユーザーと比べる",
            "Compare with: no asking, no rewriting, BM25 only, dense only, a user who knows "
            "nothing.",
        ),
        rich_help_panel=_TASK,
    ),
]
Rows = Annotated[
    list[str] | None,
    typer.Option(
        "--row",
        metavar="NAME",
        help=say(
            "比べる行を選ぶ (複数可): full no-asking no-rewriting bm25 dense unknowing",
            "Compare these, repeatable: full, no-asking, no-rewriting, bm25, dense, unknowing.",
        ),
        rich_help_panel=_TASK,
    ),
]
SimulatorModel = Annotated[str | None, options.role_model("simulator")]


@grouped
def command(
    file: File = "handbook",
    index: flags.IndexDir = Path(".naisei-index"),
    split: Split = "all",
    limit: options.Limit = None,
    simulator: Simulator = "rule",
    ablations: Ablations = False,
    row: Rows = None,
    seed: options.Seed = 0,
    simulator_model: SimulatorModel = None,
    *,
    behaviour: flags.Behaviour,
    models: flags.Models,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for it.
    from naisei.intent.cli.read import config_of
    from naisei.intent.evaluation.commands import evaluate
    from naisei.intent.evaluation.config import ABLATIONS
    from naisei.intent.evaluation.execute import Session

    assistant = config_of(index, behaviour, models, flags.Person())
    session = Session(
        settings=endpoint.settings(sitting.concurrency),
        # Without a model, work side by side gains nothing and falsifies the latency.
        concurrency=sitting.concurrency if assistant.models or simulator == "llm" else 1,
        budget=sitting.budget,
        cache=sitting.cache,
        quiet=sitting.quiet,
    )
    code = evaluate(
        file,
        assistant,
        session,
        split=split,
        limit=limit,
        seed=seed,
        simulator=simulator,
        simulator_model=simulator_model or models.model,
        rows=tuple(row or (ABLATIONS if ablations else ())),
        run_dir=sitting.run_dir,
        json=sitting.json,
    )
    raise typer.Exit(code)
