"""`naisei reproduce SOURCE`: every table and figure of a source, with the source's values beside
ours."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli.parameters import with_options
from naisei.cli.sources import NAMES, read_source
from naisei.core import fingerprint
from naisei.lang import say
from naisei.plugins import pairs
from naisei.system.config import Printed
from naisei.terminal import Console, json_text

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    help=say(
        "論文・資料の表と図を、論文の値と並べて一つのフォルダーに作る。ほかの設定 (--limit、"
        "--simulator-model、--base-url など) は、中で動かすコマンドのもの",
        "Every table and figure of a source, its figures beside ours, in one folder. Further flags "
        "(--limit, --simulator-model, --base-url …) are those of the commands that it runs.",
    ),
)
@with_options
def reproduce(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="|".join(NAMES), help=say("論文・資料", "Which."))
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROVIDER:NAME",
            envvar="NAISEI_MODEL",
            help=say("モデル (複数可)", "A model, repeatable."),
        ),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            help=say(
                "乱数シード (複数可。シードをまたいで集計する)",
                "Seed, repeatable: figures are pooled over the seeds.",
            )
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=PATH",
            help=say(
                "同梱していないデータやモデルの場所 (複数可)。足りないものは名前を示す",
                "Where data or a trained model is, repeatable; what is missing is named.",
            ),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=say("フォルダー (既定: runs/ の下)", "The folder; under runs/ by default."),
        ),
    ] = None,
    *,
    printed: Printed,
) -> None:
    inputs = pairs(given or [], "--input")
    words = ["naisei", "reproduce", source]
    words += [word for name in model or [] for word in ("--model", name)]
    words += [word for each in seed or [] for word in ("--seed", str(each))]
    words += [word for key, value in inputs.items() for word in ("--input", f"{key}={value}")]
    words += context.args
    from naisei.cli.printing import print_tables
    from naisei.cli.reproduction import Reproduction, write_all

    found = read_source(source)
    folder = output or Path("runs") / f"reproduce-{source}-{fingerprint(words)[:7]}"
    bench = Reproduction(found, folder, model or [], seed or [0], inputs, tuple(context.args))
    bench.carry_out()
    tables = write_all(bench, shlex.join(words))
    print_tables(tables, Console(stderr=printed.as_json))
    if printed.as_json:
        files_made = sorted(p.name for p in folder.iterdir() if p.is_file())
        print(json_text({"output": str(folder), "files": files_made, "not_run": bench.missing}))
    else:
        print(say("フォルダー: ", "Folder: ") + str(folder))
