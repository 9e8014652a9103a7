"""`naisei runs fork|search|keep|chart`: commands on existing runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli.printing import print_either, print_result, print_tables
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.plugins import pairs
from naisei.runs.directory import RunDirectory
from naisei.runs.export import study_runs
from naisei.runs.tables import records
from naisei.system.config import Options, Printed, flag
from naisei.system.execute import RunOptions
from naisei.system.instances import add_rows, rows_of
from naisei.terminal import Console, json_text, visible

Dir = Annotated[
    Path, typer.Argument(metavar="DIR", help=say("実行ディレクトリ", "A run directory."))
]
FORK_HELP = say(
    "1 件を途中のステップから分岐させ、答え・プロンプト・モデルを変えて続ける",
    "Fork an episode at a step and go on with another answer, prompt or model.",
)


class _Forked(Options):
    episode: str = flag("", "件 (INSTANCE#TRIAL)", "The episode, INSTANCE#TRIAL.", metavar="E")
    step: str = flag(
        ...,
        "分岐するステップ。ここから先を新しく進める",
        "The step to fork at: from it on, all is done anew.",
        metavar="N",
    )
    answer: str | None = flag(
        None,
        "そのステップの答え、またはモデルの返答 (形式のあるものは JSON)",
        "The answer at the step, or the model's reply (JSON where that has a form).",
        metavar="TEXT",
    )
    prompt: str | None = flag(
        None,
        "そのステップでモデルに渡す最後のメッセージ",
        "The last message that the model gets at the step.",
        metavar="TEXT",
    )
    models: dict[str, str] = flag(
        {},
        "役割のモデルを変える: ROLE=PROVIDER:NAME (複数可)",
        "The model of a role: ROLE=PROVIDER:NAME, repeatable.",
        name="--model",
        panel="models",
    )
    run_dir: Path | None = flag(
        None,
        "新しい実行の置き場所。省くと runs/ の下",
        "Directory of the new run; by default one under runs/.",
        panel="run",
    )


def fork(directory: Dir, plan: _Forked, options: RunOptions, printed: Printed) -> None:
    from naisei.runs.frozen import Frozen
    from naisei.system.fork import fork_run

    if not Frozen.read(directory / "config.json").identity:
        from naisei.runs.terminal import fork_conversation

        if plan.prompt is not None or plan.models:
            raise InputError(
                say("会話では変えられません", "cannot be changed in a conversation"),
                place="--model" if plan.models else "--prompt",
                remedy="--answer",
            )
        new = fork_conversation(directory, plan.episode, plan.step, plan.run_dir, plan.answer)
        print(say(f"続きは --run-dir {new} で", f"go on with --run-dir {new}"))
        return
    result = fork_run(
        directory,
        plan.episode,
        plan.step,
        answer=plan.answer,
        prompt=plan.prompt,
        models=plan.models,
        options=options,
        run_dir=plan.run_dir,
    )
    print_result(result, as_json=printed.as_json)
    raise typer.Exit(result.exit_code)


SEARCH_HELP = say("全実行・全件の本文を探す", "Look for a text in all episodes of all runs.")
CHART_HELP = say(
    "実行をまたぐ一つの図: 指標を設定の値やシードに対して、区間付きで",
    "One chart over runs: a metric against a setting or the seed, with intervals.",
)
KEEP_HELP = say(
    "1 件をデータの 1 行にする (元のデータと同じ形の JSON Lines に足す)",
    "Make an episode an instance of a data set: a line of JSON in that data set's form.",
)


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
    from naisei.runs.listing import Search, find_runs, found_at

    if not text.strip():
        raise InputError(say("探す言葉がありません", "there is no text to look for"), place="TEXT")
    single = (root / "config.json").exists()
    if not single and not find_runs(root):
        study_runs(root)  # raises if there are no runs
    looked = Search(text, [found_at(root)] if single else find_runs(root), prompts)
    for hit in looked:
        where = f"{hit.run} {hit.episode} {hit.step} {hit.kind}"
        print(json_text(hit.to_json()) if printed.as_json else visible(f"{where}: {hit.excerpt}"))
    print(looked.describe(), file=sys.stderr)


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
    count = add_rows(form, rows, pairs(changed or [], "--set"), to)
    done = {"output": str(to), "form": form, "added": len(rows), "rows": count}
    print_either(printed.as_json, done, f"{to}: +{len(rows)} ({form}, {count})")


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
    from naisei.runs.charts import table_chart
    from naisei.runs.compare import load
    from naisei.runs.pooling import across_runs
    from naisei.system.studies import headline_name

    runs = {str(path): path for d in directories for path in study_runs(d).values()}
    loaded = [load(path, name) for name, path in runs.items()]
    table = across_runs(loaded, printed.metric or headline_name(loaded[0]), printed.x)
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
