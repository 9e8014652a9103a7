"""`naisei data`: list, show, validate and export the bundled data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from naisei.cli.parameters import with_options
from naisei.core import InputError
from naisei.data_sets import (
    DataSet,
    catalogue,
    data_set,
    export,
    faults_of,
)
from naisei.lang import say
from naisei.system.config import Printed
from naisei.terminal import json_text, visible
from naisei.transcripts import FORMS

#: Maximum number of reported errors per file.
_TOLD = 20

app = typer.Typer(
    no_args_is_help=True,
    help=say("同梱データを見る・検証する・書き出す", "List, show, validate, export bundled data."),
)
Name = Annotated[str, typer.Argument(metavar="NAME", help=say("データの名前", "A data set."))]


def _about(data: DataSet) -> dict[str, Any]:
    return {
        "name": data.name,
        "title": say(*data.title),
        "licence": data.licence,
        "languages": list(data.languages),
        "rows": {c.name: {s: len(r) for s, r in c.splits().items()} for c in data.configs},
    }


@app.command("list", help=say("同梱データの一覧", "List the bundled data sets."))
@with_options
def list_(*, printed: Printed) -> None:
    listed = [_about(data) for data in catalogue().values()]
    if printed.as_json:
        print(json_text(listed))
        return
    for each in listed:
        total = sum(n for splits in each["rows"].values() for n in splits.values())
        print(f"{each['name']:24}{total:>6}  {each['licence']:12}{each['title']}")


@app.command(
    help=say(
        "読める会話ファイルの形式の一覧", "List the forms of conversation files that are read."
    )
)
@with_options
def forms(*, printed: Printed) -> None:
    if printed.as_json:
        print(json_text([{"name": form.name, "about": say(*form.about)} for form in FORMS]))
        return
    for form in FORMS:
        print(f"{form.name:18}{say(*form.about)}")


@app.command(help=say("データの中身とカードを見る", "Show what a data set holds, and its card."))
@with_options
def show(name: Name, *, printed: Printed) -> None:
    data = data_set(name)
    about = _about(data)
    if printed.as_json:
        forms = {config.name: config.form() for config in data.configs}
        print(json_text({**about, "card": str(data.card), "schemas": forms}))
        return
    print(f"{name}: {about['title']} ({data.licence}, {', '.join(data.languages)})\n")
    for config in data.configs:
        splits = ", ".join(f"{s} {n}" for s, n in about["rows"][config.name].items())
        print(f"- {config.name}: {splits}\n  {', '.join(config.form()['properties'])}")
    print("\n" + visible(data.card.read_text("utf-8")))


@app.command(
    "export",
    help=say(
        "Hugging Face の datasets が開けるフォルダーに書き出す",
        "Export as a folder that Hugging Face's datasets opens.",
    ),
)
@with_options
def export_(
    name: Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", help=say("新しいフォルダー", "A new folder."))
    ],
    form: Annotated[
        Literal["parquet", "jsonl"], typer.Option("--format", help=say("形式", "The format."))
    ] = "parquet",
    *,
    printed: Printed,
) -> None:
    export(data_set(name), output, form)
    print(json_text({"output": str(output)}) if printed.as_json else output)


@app.command(
    "validate",
    help=say(
        "JSON Schema に合うか調べる: 同梱データ、書き出したフォルダー、自分の JSON Lines",
        "Check against JSON Schema: a data set, an exported folder, JSON lines of your own.",
    ),
)
@with_options
def validate_(
    what: Annotated[
        str, typer.Argument(metavar="NAME|DIR|FILE", help=say("調べるもの", "What to check."))
    ],
    like: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="NAME[/CONFIG]",
            help=say("FILE の形: データの名前", "The form of FILE: that of a data set."),
        ),
    ] = "",
    actions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=say(
                "FILE は自分の依頼のデータで、行動の一覧はこのファイル (clarify run --actions)",
                "FILE holds requests of your own, about the actions of this file, as for "
                "clarify run --actions.",
            ),
        ),
    ] = None,
    *,
    printed: Printed,
) -> None:
    if actions is None:
        faults = list(faults_of(what, like))
    else:
        from naisei.clarify.data import load

        load(Path(what), split="all", actions=actions)  # reports the invalid line
        faults = []
    if printed.as_json:
        print(json_text({"valid": not faults, "faults": faults}))
    if faults:
        more = len(faults) - _TOLD
        raise InputError(
            say(f"形の合わないところが {len(faults)} 個あります", f"{len(faults)} faults of form")
            + "".join(f"\n  {fault}" for fault in faults[:_TOLD])
            + (say(f"\n  … ほか {more} 個", f"\n  … and {more} more") if more > 0 else ""),
            place=what,
        )
    if not printed.as_json:
        print(say("形は正しいです", "valid"))
