"""`naisei emphasis eval`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.emphasis.cli import flags
from naisei.lang import language, say

__all__ = ["command"]

_NAMES = (
    "rule, crf, bilstm, transformer, transformer-title, transformer-crf, transformer-title-crf, "
    "crf-context, stack, stack-tuned, llm"
)
Taggers = Annotated[
    list[str] | None,
    typer.Option(
        "--tagger",
        metavar="NAME[:KEY=VALUE,…]",
        show_default="rule, crf, crf-context",
        help=say(
            "タガー (複数可): " + _NAMES,
            "A tagger, repeatable: " + _NAMES,
        ),
    ),
]
EmptyTitle = Annotated[
    bool,
    typer.Option(
        "--empty-title",
        help=say(
            "同じ学習済みのタガーに、タイトルを空にした文書も与える",
            "Also give the same trained tagger the documents without titles.",
        ),
    ),
]


@grouped
def command(
    corpus: flags.Corpus,
    tagger: Taggers = None,
    empty_title: EmptyTitle = False,
    model: options.Model = None,
    *,
    folds: flags.Folds,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for it.
    from naisei.emphasis.evaluation.commands import evaluate
    from naisei.emphasis.evaluation.config import EvalConfig
    from naisei.emphasis.evaluation.execute import Session
    from naisei.emphasis.evaluation.recipes import LLM
    from naisei.emphasis.evaluation.specs import parsed

    configs = {}
    for spec in dict.fromkeys(tagger or ("rule", "crf", "crf-context")):
        name, settings = parsed(spec)
        configs[spec] = EvalConfig(
            corpus=str(corpus),
            tagger=name,
            options=settings,
            parts=folds.folds,
            dev=folds.dev,
            seed=folds.seed,
            seeds=folds.seeds,
            first=folds.first,
            empty_title=empty_title and name != LLM,
            language=language(),
            models={"editor": model} if model and name == LLM else {},
        )
    session = Session(
        settings=endpoint.settings(sitting.concurrency),
        concurrency=sitting.concurrency,
        budget=sitting.budget,
        cache=sitting.cache,
        quiet=sitting.quiet,
    )
    raise typer.Exit(evaluate(configs, session, run_dir=sitting.run_dir, json=sitting.json))
