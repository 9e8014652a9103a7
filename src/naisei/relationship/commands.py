"""The subcommands that print tables: rate, compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from naisei.cli.flags import tell_ineffective
from naisei.cli.printing import print_result, print_tables
from naisei.lang import say
from naisei.relationship.config import RatingConfig
from naisei.relationship.dialogues import Dialogue, read_dialogue
from naisei.relationship.effect import CompareOptions, effect_of
from naisei.relationship.pseudonyms import Pseudonyms
from naisei.relationship.rating import (
    RateOptions,
    Rating,
    config_fields,
    language_of,
    rate_by_speech,
    refuse_for_speech,
)
from naisei.relationship.rating_output import (
    rating_tables,
    reasons,
    to_agent_json,
    write_rating,
)
from naisei.runs.lines import print_lines
from naisei.system.execute import RunOptions, check_models, execute
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.runs.result import RunResult


def rate_command(
    configure: Callable[..., RatingConfig],
    running: RunOptions,
    *,
    options: RateOptions,
    run_dir: Path | None,
    as_json: bool,
) -> None:
    """`naisei relationship rate`."""
    read = read_dialogue(
        options.file, speakers=options.chosen, dialogue=options.dialogue, form=options.form
    )
    console = Console(stderr=as_json)
    for note in read.preview:
        console.print(note, style="dim", highlight=False)
    original = read
    if options.pseudonyms:
        pseudonyms = Pseudonyms(language_of(read))
        read = pseudonyms.masked(read)
        console.print(pseudonyms.legend(), style="dim", highlight=False)
    config = configure(**config_fields(read))
    if options.rater == "speech" or (options.rater == "auto" and not config.models):
        tell_ineffective(["--run-dir"] if run_dir is not None else [])
        refuse_for_speech(config)
        rating, result = rate_by_speech(read), None
        print_tables(rating_tables(rating.of(original)), console)
    else:
        rating, result = _by_model(config, running, run_dir, console, original)
    if n := original.left_out:
        note = say(
            f"ほかの話者の発話、ほかの人への発話 {n} 件は除きました",
            f"{n} lines by others or to others are left out",
        )
        console.print(note, style="yellow")
    if rating.repeats:
        print_lines(reasons(rating.of(original)), console)
        for path in write_rating(rating, options.out, options.csv):
            console.print(say("書きました: ", "Written: ") + str(path))
    if as_json:
        line = to_agent_json(rating) if result is None else result.to_json()
        print(json.dumps(line, ensure_ascii=False, allow_nan=False), flush=True)
    raise typer.Exit(0 if result is None else result.exit_code)


def _by_model(
    config: RatingConfig,
    options: RunOptions,
    run_dir: Path | None,
    console: Console,
    original: Dialogue,
) -> tuple[Rating, RunResult]:
    # Importing the model packages takes a second.
    from naisei.relationship.rating_task import rating_of
    from naisei.relationship.system import RATING

    check_models(RATING, config)
    result = execute(RATING, config, options, run_dir=run_dir)
    rating = rating_of(config, result.outcome.rows)
    tables = rating_tables(rating.of(original)) if rating.repeats else ()
    printed = replace(result, summary=replace(result.summary, tables=tables))
    print_result(printed, console=console)
    return rating, result


def compare_command(options: CompareOptions) -> None:
    """`naisei relationship compare`."""
    effect = effect_of(options.run_with, options.run_without, seed=options.seed)
    console = Console(stderr=options.as_json)
    print_tables(effect.tables(), console)
    for note in effect.notes:
        console.print(note, style="yellow")
    if options.as_json:
        print(json.dumps(effect.to_json(), ensure_ascii=False, allow_nan=False))
