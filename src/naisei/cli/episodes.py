"""`naisei runs annotations|search|keep|chart`: what is done with runs that are there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli.fork import Dir
from naisei.cli.printing import print_tables
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.plugins import pairs
from naisei.runs.directory import RunDirectory
from naisei.runs.export import study_runs
from naisei.runs.tables import records
from naisei.system.config import Printed, flag
from naisei.system.instances import add_rows, rows_of
from naisei.terminal import Console, json_text, visible

ANNOTATIONS_HELP = say(
    "人が読んだ評価の一致度。--format でそのまま書き出す",
    "How far people's readings agree; with --format, the readings themselves.",
)
SEARCH_HELP = say("全実行・全件の本文を探す", "Look for a text in all episodes of all runs.")
CHART_HELP = say(
    "実行をまたぐ一つの図: 指標を設定の値やシードに対して、区間付きで",
    "One chart over runs: a metric against a setting or the seed, with intervals.",
)
KEEP_HELP = say(
    "1 件をデータの 1 行にする (元のデータと同じ形の JSON Lines に足す)",
    "Make an episode an instance of a data set: a line of JSON in that data set's form.",
)


def agreement(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help=say(
                "実行か、データを読んだフォルダー (runs/annotations/NAME)",
                "A run, or the folder of a data set that was read (runs/annotations/NAME).",
            ),
        ),
    ],
    form: Annotated[
        Literal["csv", "jsonl"] | None,
        typer.Option("--format", help=say("書き出しの形式", "Export as.")),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=say("書き込むファイル", "Write here, not to stdout.")),
    ] = None,
    *,
    printed: Printed,
) -> None:
    from naisei.runs.annotations import read_annotations
    from naisei.runs.rubrics import agreements, readings

    read = [a for a in read_annotations(directory) if a.unit]
    if not read:
        raise InputError(
            say("読まれた件がありません", "nothing was read here"),
            place=str(directory),
            remedy=say(
                "`naisei web` の実行のページで「読んで評価する」を開いてください",
                "open `Read and judge them` on the page of the run in `naisei web`",
            ),
        )
    if form is not None:
        table = readings(read)
        text = table.to_csv() if form == "csv" else table.to_jsonl()
        if output is None:
            sys.stdout.write(text)
        else:
            write_atomically(output, text)
        return
    tables = agreements(directory, read)
    if printed.as_json:
        rows = [row for table in tables for row in records(table)]
        print(json_text({"readings": len(read), "agreement": rows}))
    else:
        print_tables(tables, Console())


def search(
    text: Annotated[str, typer.Argument(help=say("探す言葉", "What to look for."))],
    root: Annotated[
        Path, typer.Argument(help=say("実行か、そのフォルダー", "A run, or the folder of runs."))
    ] = Path("runs"),
    prompts: Annotated[
        bool, typer.Option("--prompts", help=say("プロンプトも", "Prompts, too."))
    ] = False,
    *,
    printed: Printed,
) -> None:
    from naisei.runs.listing import found, found_at
    from naisei.runs.search import Search

    single = (root / "config.json").exists()
    if not single and not found(root):
        study_runs(root)  # tells why there is nothing
    looked = Search(text, [found_at(root)] if single else found(root), prompts)
    for hit in looked:
        where = f"{hit.run} {hit.episode} {hit.step} {hit.kind}"
        print(json_text(hit.to_json()) if printed.as_json else visible(f"{where}: {hit.excerpt}"))
    print(looked.told(), file=sys.stderr)


def keep(
    directory: Dir,
    episode: Annotated[
        str, typer.Option("--episode", metavar="I", help=say("件の名前", "An instance#trial."))
    ],
    to: Annotated[Path, typer.Option("--to", help=say("足す先のファイル", "The file to add to."))],
    changed: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help=say(
                "行の項目を直す。正しい答えなど (複数可)",
                "Change a field of the row, such as what is right; repeatable.",
            ),
        ),
    ] = None,
    *,
    printed: Printed,
) -> None:
    with RunDirectory.look(directory) as run:
        form, rows = rows_of(run, episode)
    count = add_rows(form, rows, pairs(changed or []), to)
    if printed.as_json:
        print(json_text({"output": str(to), "form": form, "added": len(rows), "rows": count}))
    else:
        print(f"{to}: +{len(rows)} ({form}, {count})")


class Charted(Printed):
    metric: str = flag(
        "", "指標 (省くと実行を代表するもの)", "The metric; by default the headline."
    )
    x: str = flag(
        "",
        "横軸にする設定 (例: quota、seed)。省くと、違いが一つならそれ",
        "The setting on the x axis, such as quota or seed; by default the only one that differs.",
    )
    output: Path | None = flag(
        None, "図のファイル (.svg、.pdf、.png)", "The picture: .svg, .pdf or .png.", short="-o"
    )


def chart(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help=say("実行または比較実験", "Runs or studies.")),
    ],
    *,
    printed: Charted,
) -> None:
    from naisei.runs.across import across_runs
    from naisei.runs.charts import table_chart
    from naisei.system.studies import headline_name

    runs = {str(path): path for d in directories for path in study_runs(d).values()}
    table = across_runs(runs, printed.metric or headline_name(next(iter(runs.values()))), printed.x)
    drawn = table_chart(table)
    if printed.output is not None and drawn is not None:
        from naisei.runs.pictures import draw

        if printed.output.suffix == ".svg":
            write_atomically(printed.output, drawn.file())
        else:
            draw(drawn, printed.output)
    if printed.as_json:
        to = printed.output and str(printed.output)
        print(json_text({"output": to, "rows": records(table)}))
    else:
        print_tables([table], Console())
