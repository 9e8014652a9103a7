"""`naisei runs export` and `report`: export a run to files for people and programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli.episodes import Dir
from naisei.cli.parameters import with_options
from naisei.cli.printing import print_either
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.runs.directory import LOG, RunDirectory
from naisei.runs.export import Frame, export_jsonl, frame
from naisei.system.config import Printed
from naisei.terminal import json_text, visible

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help=say("書き込むファイル", "Write here, not to stdout.")),
]


def write(text: str, to: Path | None) -> None:
    if to is None:
        sys.stdout.write(_printable(text))
        return
    _check_output(to)
    write_atomically(to, text)


def _printable(text: str) -> str:
    """Return text unchanged for programs, without control characters for a terminal."""
    return visible(text) if sys.stdout.isatty() else text


def _check_output(to: Path) -> None:
    """Raises `InputError` for a file that is part of a run."""
    own = ("config.json", "results.jsonl", "store.json", LOG)
    if to.name.startswith(own) and (to.parent / "config.json").exists():
        raise InputError(
            say(
                "実行そのもののファイルに上書きすることになります", "this would write over the run"
            ),
            place=str(to),
            remedy=say("別の名前にしてください", "give another name"),
        )


@with_options
def export(
    directory: Dir,
    form: Annotated[
        Literal["jsonl", "csv", "parquet", "inspect"],
        typer.Option("--format", help=say("形式", "The format.")),
    ] = "jsonl",
    each: Annotated[
        str | None,
        typer.Option(
            "--each",
            metavar="PATH",
            help=say(
                "1 行にする結果の中のリスト (例: trials、sessions.moments)",
                "The list in a result to have a row each, such as trials or sessions.moments.",
            ),
        ),
    ] = None,
    events: Annotated[
        bool,
        typer.Option(
            "--events", help=say("全やりとりも含める (jsonl)", "With all effects (jsonl).")
        ),
    ] = False,
    output: Output = None,
    *,
    printed: Printed,
) -> None:
    if form == "inspect":
        _export_inspect(directory, output, as_json=printed.as_json)
        return
    study = not (directory / "config.json").exists()
    table = study or each is not None or form != "jsonl"
    if events and table:
        raise InputError(
            say(
                "やりとりは、実行 1 つの JSON Lines でだけ書き出せます",
                "events have a form in the JSON lines of a single run alone",
            ),
            place="--events",
            remedy=say(
                "--format jsonl とし、--each を付けないでください",
                "use --format jsonl, without --each",
            ),
        )
    if printed.as_json and output is None:
        raise InputError(
            say("標準出力は書き出しそのものに使われます", "stdout holds the export itself"),
            place="--json",
            remedy=say("--output を付けてください", "add --output"),
        )
    if table:
        _export_table(frame(directory, each=each), form, output, as_json=printed.as_json)
        return
    with RunDirectory.look(directory) as run:
        if output is None:
            sys.stdout.writelines(export_jsonl(run, events=events))
        else:
            write("".join(export_jsonl(run, events=events)), output)
        if printed.as_json:
            scored, failed, _ = run.log.counts()
            print(json_text({"output": str(output), "episodes": scored + failed}))


def _export_inspect(directory: Path, output: Path | None, *, as_json: bool) -> None:
    from naisei.cli.inspect_ai import export_log

    path = output or directory / "log.eval"
    _check_output(path)
    export_log(directory, path)
    print_either(as_json, {"output": str(path)}, str(path))


def _export_table(table: Frame, form: str, output: Path | None, *, as_json: bool) -> None:
    if form == "parquet":
        if output is None:
            raise InputError(
                say("Parquet は標準出力に書けません", "Parquet is not written to stdout"),
                place="--format parquet",
                remedy=say("--output を付けてください", "add --output"),
            )
        _check_output(output)
        table.to_parquet(output)
    else:
        write(table.to_csv() if form == "csv" else table.to_jsonl(), output)
    if as_json:
        print(json_text({"output": str(output), "rows": len(table)}))


@with_options
def report(
    directory: Dir,
    form: Annotated[
        Literal["html", "markdown", "csv"],
        typer.Option("--format", help=say("形式", "The format.")),
    ] = "html",
    output: Output = None,
    *,
    printed: Printed,
) -> None:
    from naisei.runs.report import csv_report, markdown_report, write_report

    with RunDirectory.look(directory) as run:
        if form == "html":
            if output is not None:
                _check_output(output)
            path = write_report(run, output)
        else:
            text = markdown_report(run) + "\n" if form == "markdown" else csv_report(run)
            if output is None and not printed.as_json:
                sys.stdout.write(_printable(text))
                return
            path = output or run.path / f"report.{'md' if form == 'markdown' else 'csv'}"
            write(text, path)
    print_either(printed.as_json, {"report": str(path)}, str(path))
