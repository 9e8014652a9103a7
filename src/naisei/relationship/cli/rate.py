"""`naisei relationship rate`: the relationship in a dialogue that there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from naisei.cli.printing import metrics_table, print_result, print_tables
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.japanese.normal import is_japanese
from naisei.lang import say
from naisei.relationship.config import RatedLine, RatingConfig
from naisei.relationship.dialogues import Dialogue, read_dialogue
from naisei.relationship.rating import Rating, from_file, rate_by_speech
from naisei.relationship.rating_output import (
    check_against_speech,
    reasons,
    to_agent_json,
    to_csv,
    turns_table,
    write_agent_file,
)
from naisei.system.execute import RunOptions, check_models, execute
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.runs.result import RunResult

__all__ = ["command", "fields_of"]


_INPUT = say("入力", "Input")
_RATING = say("採点", "Rating")
_OUTPUT = say("出力", "Output")

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=say(
            "会話: JSON、JSONL、CSV (speaker,text)、「名前: 発話」の文章、agent_a.json",
            "A dialogue: JSON, JSONL, CSV (speaker,text), lines of `name: text`, or agent_a.json.",
        ),
    ),
]
Speakers = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help=say(
            "読む二人、A を先に (三人以上なら必要)",
            "The two to read, A first; needed if there are more.",
        ),
        rich_help_panel=_INPUT,
    ),
]
DialogueId = Annotated[
    str | None,
    typer.Option(
        "--dialogue",
        metavar="ID",
        help=say("何本も入ったファイルのうちの一本", "One dialogue of a file that holds several."),
        rich_help_panel=_INPUT,
    ),
]
Language = Annotated[
    Literal["auto", "ja", "en"],
    typer.Option(
        "--talk",
        help=say(
            "指示文の言語 (auto: 会話に合わせる)", "Language of the prompts; auto: the dialogue's."
        ),
        rich_help_panel=_INPUT,
    ),
]
Rater = Annotated[
    Literal["auto", "speech", "model"],
    typer.Option(
        help=say(
            "発話から推定する (モデル不要、日本語) か、モデルに読ませる。auto: 指定があればモデル",
            "Who rates: the estimate from speech (no model, Japanese), or a model; auto: a model "
            "if one is given.",
        ),
        rich_help_panel=_RATING,
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help=say(
            "モデル (またはファイルにある値) と発話からの推定が食い違うところを示す",
            "Show where the model's vectors (or those in the file) and speech disagree.",
        ),
        rich_help_panel=_RATING,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE.json",
        help=say(
            "agent_a.json と同じ形で書く (plot で読める)",
            "Write it in the shape of agent_a.json, which plot reads.",
        ),
        rich_help_panel=_OUTPUT,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        "--csv", metavar="FILE.csv", help=say("CSV で書く", "Write CSV."), rich_help_panel=_OUTPUT
    ),
]


def command(
    configure: Callable[..., RatingConfig],
    options: RunOptions,
    *,
    file: File,
    speakers: Speakers = None,
    dialogue: DialogueId = None,
    talk: Language = "auto",
    rater: Rater = "auto",
    check: Check = False,
    out: Out = None,
    csv: Csv = None,
    run_dir: Path | None,
    as_json: bool,
) -> None:
    chosen = [s.strip() for s in speakers.replace("、", ",").split(",")] if speakers else []
    read = read_dialogue(file, speakers=chosen, dialogue=dialogue)
    config = configure(**fields_of(read, talk))
    console = Console(stderr=as_json)
    if rater == "speech" or (rater == "auto" and not config.models):
        rating, rated, result = rate_by_speech(read), _held(config, read, check), None
        print_tables([turns_table(rating)], console)
    else:
        rating, result = _by_model(config, options, run_dir, console)
        rated = rating if check and rating.repeats else None
    _print_notes(rating, console)
    extra: dict[str, Any] = {}
    if rated is not None:
        found = check_against_speech(rated, seed=config.seed)
        print_tables([metrics_table(found.metrics), found.table()], console)
        extra = {"check": found.to_json()}
    if rating.repeats:
        _write(rating, out, csv, console)
    if as_json:
        line = to_agent_json(rating) if result is None else result.to_json()
        print(json.dumps({**line, **extra}, ensure_ascii=False, allow_nan=False), flush=True)
    raise typer.Exit(0 if result is None else result.exit_code)


def fields_of(dialogue: Dialogue, language: Literal["auto", "ja", "en"] = "auto") -> dict[str, Any]:
    """What of a rating's configuration is the dialogue's. language: of the prompts."""
    if language == "auto":
        language = "ja" if any(is_japanese(line.text) for line in dialogue.lines) else "en"
    return {
        "name": dialogue.name,
        "speakers": dialogue.speakers,
        "personas": dialogue.personas,
        "language": language,
        "lines": tuple(
            RatedLine(session=x.session, turn=x.turn, speaker=x.speaker, text=x.text)
            for x in dialogue.lines
        ),
    }


def _by_model(
    config: RatingConfig, options: RunOptions, run_dir: Path | None, console: Console
) -> tuple[Rating, RunResult]:
    # The model stack takes a second to import.
    from naisei.relationship.rating_task import rating_of
    from naisei.relationship.system import RATING

    check_models(RATING, config)
    result = execute(RATING, config, options, run_dir=run_dir)
    print_result(result, console=console)
    return rating_of(config, result.outcome.rows), result


def _held(config: RatingConfig, dialogue: Dialogue, check: bool) -> Rating | None:
    """What the estimate is checked against: the vectors that the file holds.

    Raises:
        InputError: what only a model can do is asked for, or the file holds no vectors.
    """
    for flag, wanted in (("--repeats", config.repeats), ("--self-consistency", config.votes)):
        if wanted > 1:
            raise InputError(
                say("発話からの推定は何度しても同じです", "the estimate from speech never varies"),
                place=flag,
                remedy=say("--model でモデルを指定してください", "name a model by --model"),
            )
    held = from_file(dialogue) if check else None
    if check and held is None:
        raise InputError(
            say("推定と比べる値がありません", "there is nothing to compare the estimate with"),
            place="--check",
            remedy=say(
                "--model でモデルに採点させるか、関係値の入った agent_a.json を渡してください",
                "let a model rate by --model, or give an agent_a.json that holds vectors",
            ),
        )
    return held


def _print_notes(rating: Rating, console: Console) -> None:
    if rating.dialogue.left_out:
        console.print(
            say(
                f"ほかの話者の {rating.dialogue.left_out} 発話は除きました",
                f"{rating.dialogue.left_out} lines of other speakers are left out",
            ),
            style="yellow",
        )
    for line in reasons(rating) if rating.repeats else ():
        console.print(line, highlight=False)


def _write(rating: Rating, out: Path | None, csv: Path | None, console: Console) -> None:
    if out is not None:
        write_agent_file(rating, out)
    if csv is not None:
        write_atomically(csv, to_csv(rating))
    for path in filter(None, (out, csv)):
        console.print(say("書きました: ", "Written: ") + str(path))
