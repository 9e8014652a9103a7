"""`naisei relationship rate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.lang import say
from naisei.relationship.cli import flags

__all__ = ["command"]

_INPUT = say("入力", "Input")
_RATER = say("採点", "Rating")
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
Dialogue = Annotated[
    str | None,
    typer.Option(
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
        rich_help_panel=_RATER,
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        min=1,
        help=say(
            "独立に採点する回数。ばらつきと一致度 α を出す",
            "Independent ratings; spread and Krippendorff's α are told.",
        ),
        rich_help_panel=_RATER,
    ),
]
Votes = Annotated[
    int,
    typer.Option(
        "--self-consistency",
        min=1,
        metavar="N",
        help=say(
            "1 回の採点を N 回の読みの中央値にする", "Let each rating be the median of N readings."
        ),
        rich_help_panel=_RATER,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help=say("採点するモデルのサンプリング温度", "Sampling temperature of the rater."),
        rich_help_panel=_RATER,
    ),
]
Checked = Annotated[
    bool,
    typer.Option(
        "--check",
        help=say(
            "モデル (またはファイルにある値) と発話からの推定が食い違うところを示す",
            "Show where the model's vectors (or those in the file) and speech disagree.",
        ),
        rich_help_panel=_RATER,
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


@grouped
def command(
    file: File,
    speakers: Speakers = None,
    dialogue: Dialogue = None,
    talk: Language = "auto",
    rater: Rater = "auto",
    model: flags.Model = None,
    repeats: Repeats = 1,
    votes: Votes = 1,
    temperature: Temperature = None,
    embedder: flags.Embedder = "auto",
    check: Checked = False,
    out: Out = None,
    csv: Csv = None,
    seed: options.Seed = 0,
    *,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    from naisei.core import InputError
    from naisei.relationship import rate_commands
    from naisei.relationship.dialogues import read_dialogue

    chosen = [s.strip() for s in speakers.replace("、", ",").split(",")] if speakers else []
    read = read_dialogue(file, speakers=chosen, dialogue=dialogue)
    wanted = rate_commands.Output(out=out, csv=csv, json=sitting.json, check=check, seed=seed)
    if rater == "speech" or (rater == "auto" and model is None):
        if repeats > 1 or votes > 1:
            raise InputError(
                say("発話からの推定は何度しても同じです", "the estimate from speech never varies"),
                place="--repeats" if repeats > 1 else "--self-consistency",
                remedy=say("--model でモデルを指定してください", "name a model by --model"),
            )
        raise typer.Exit(rate_commands.by_speech(read, wanted))
    from naisei.models.embedders.registry import resolve
    from naisei.relationship.cli.groups import sitting_of

    config = rate_commands.config_of(
        read,
        model=model,
        language=talk,
        repeats=repeats,
        votes=votes,
        temperature=temperature,
        embedder=resolve(embedder),
        seed=seed,
    )
    code = rate_commands.by_model(
        config, sitting_of(endpoint, sitting), wanted, run_dir=sitting.run_dir
    )
    raise typer.Exit(code)
