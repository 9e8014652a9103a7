"""`naisei runs`: inspect, continue, compare and export runs."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from naisei.cli.derived import shown_live
from naisei.cli.episodes import (
    CHART_HELP,
    FORK_HELP,
    KEEP_HELP,
    SEARCH_HELP,
    Dir,
    chart,
    fork,
    keep,
    search,
)
from naisei.cli.export import Output, export, report, write
from naisei.cli.parameters import with_options
from naisei.cli.printing import print_either, print_result, print_tables
from naisei.core import InputError, Where
from naisei.lang import say
from naisei.runs import show
from naisei.runs.directory import RunDirectory
from naisei.runs.export import study_runs
from naisei.runs.frozen import Frozen
from naisei.runs.lines import as_text
from naisei.runs.report import STUDY, html_report
from naisei.runs.tables import to_csv
from naisei.system.config import Printed, flag, seed_flag
from naisei.system.execute import RunOptions, execute
from naisei.system.registry import declared, digest_of, experiment_of, task_of
from naisei.terminal import Console, json_text, visible
from naisei.text_files import read_text

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "実行記録を見る・再開する・比べる・書き出す", "List, show, resume, compare, export runs."
    ),
)


class _Compared(Printed):
    seed: int = seed_flag()
    csv: bool = flag(False, "CSV で出す", "Print CSV.", panel="output")


@app.command("list", help=say("実行の一覧", "List the runs under a folder."))
@with_options
def list_(
    root: Annotated[Path, typer.Argument(help=say("探す場所", "Where to look."))] = Path("runs"),
    *,
    printed: Printed,
) -> None:
    from naisei.runs.listing import list_text, runs  # imports numpy, which the help does not need

    found = runs(root)
    if not root.is_dir() and (root.exists() or root != Path("runs")):
        raise InputError(
            say("そのようなフォルダーはありません", "no such folder"),
            place=str(root),
            remedy=say("実行記録のあるフォルダーを指定してください", "name the folder of the runs"),
        )
    if printed.as_json:
        print(json_text([run.to_json() for run in found]))
    elif not found:
        print(say(f"{root} に実行はありません", f"no runs under {root}"), file=sys.stderr)
    else:
        print(visible(list_text(found)))


@app.command("show", help=say("実行や 1 件のやりとりを見る", "Show a run, or one episode of it."))
@with_options
def show_(
    directory: Dir,
    episode: Annotated[
        str | None,
        typer.Option(
            "--episode", metavar="I", help=say("件の名前", "An instance, or instance#trial.")
        ),
    ] = None,
    step: Annotated[
        str,
        typer.Option(
            "--step",
            metavar="N",
            help=say("このステップだけ (例: 4、1.0)", "Only this step of it, such as 4 or 1.0."),
        ),
    ] = "",
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help=say(
                "モデルに送ったリクエストと、返ってきた応答をそのまま JSON で",
                "Each request as it was sent to a model, and the raw response, as JSON.",
            ),
        ),
    ] = False,
    *,
    printed: Printed,
) -> None:
    if not (directory / "config.json").exists() and (directory / STUDY).exists():
        _show_study(directory, as_json=printed.as_json)
        return
    with RunDirectory.look(directory) as run:
        if raw:
            sent = show.exchanges(run, show.find_episode(run, episode or ""), step)
            print(json_text(sent, indent=None if printed.as_json else 2))
        elif episode is None and not step:
            if printed.as_json:
                print(json_text(show.run_json(run)))
            else:
                print(visible(show.run_text(run)))
        else:
            name = show.find_episode(run, episode or "")
            if printed.as_json:
                print(json_text(show.episode_json(run, name)))
            else:
                print(visible(show.episode_text(run, name, step, words=_in_words(run, name))))


def _in_words(run: RunDirectory, episode: str) -> str:
    """Return a scored episode as rendered by its system; empty without the system or the data."""
    instance, _, trial = episode.rpartition("#")
    result = run.log.result(episode)
    if result is not None:
        with suppress(InputError, ValidationError):  # the stored result is printed instead
            task = task_of(run.frozen, run.path)
            return as_text(task.render_episode(Where(instance, int(trial)), result))
    return ""


def _show_study(directory: Path, *, as_json: bool) -> None:
    """Print its tables, or with JSON the result object of each run, by label."""
    if not as_json:
        print(visible((directory / "study.md").read_text(encoding="utf-8")))
        return
    runs = {}
    for label, path in study_runs(directory).items():
        with RunDirectory.look(path) as run:
            runs[label] = show.run_json(run)
    print(json_text({"run_dir": str(directory), "runs": runs}))


@app.command(
    help=say(
        "1 件・失敗した件・比較実験を、オフラインで読める 1 枚の HTML にする",
        "An episode, the failures or a study as one HTML file that needs no network.",
    )
)
def share(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help=say("実行か比較実験のディレクトリ", "Directory of a run or a study."),
        ),
    ],
    episode: Annotated[
        list[str] | None,
        typer.Option(
            "--episode",
            metavar="I",
            help=say("件の名前 (複数可)", "An instance, or instance#trial; repeatable."),
        ),
    ] = None,
    failures: Annotated[
        bool, typer.Option("--failures", help=say("失敗した件をまとめる", "The failed episodes."))
    ] = False,
    output: Output = None,
) -> None:
    # Imports numpy, which the help does not need.
    from naisei.runs.overview import Overview
    from naisei.runs.share import MOST, share_html

    if not (directory / "config.json").exists() and (directory / STUDY).exists():
        write(read_text(directory / "study.html"), output)
        return
    with RunDirectory.look(directory) as run:
        if episode:
            write(share_html(run, [show.find_episode(run, name) for name in episode]), output)
            return
        if not failures:
            write(html_report(run), output)
            return
        overview = Overview(digest_of(run.frozen.system, run.frozen.config))
        overview.update(run.log)
        write(share_html(run, overview.failures()[:MOST]), output)


@app.command(help=say("実行を続きから再開する", "Continue a run where it stopped."))
@with_options
def resume(directory: Dir, options: RunOptions, printed: Printed) -> None:
    raise typer.Exit(continue_run(directory, options, as_json=printed.as_json))


app.command("fork", help=FORK_HELP)(with_options(fork))
app.command("search", help=SEARCH_HELP)(with_options(search))
app.command("keep", help=KEEP_HELP)(with_options(keep))
app.command("chart", help=CHART_HELP)(with_options(chart))


@app.command(help=say("共通する件で実行を比べる", "Compare runs on the instances they share."))
@with_options
def compare(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR…",
            help=say(
                "実行または比較実験のディレクトリ (比較実験は、その中の実行を最初のものと比べる)",
                "Runs, or studies, whose runs are compared with the first.",
            ),
        ),
    ],
    printed: _Compared,
) -> None:
    from naisei.runs.compare import compare as compared

    names: dict[str, Path] = {}
    for directory in directories:
        runs = study_runs(directory)
        single = runs == {directory.name: directory}
        alone = len(directories) == 1
        for label, path in runs.items():
            names[str(path) if single else label if alone else f"{directory}: {label}"] = path
    several = len(names) > len(directories)
    paths = [*names.values()]
    frozen = Frozen.read(paths[0] / "config.json")
    experiment = declared(frozen.system, frozen.config)
    comparison = compared(
        paths,
        seed=printed.seed,
        against_first=several,
        names=[*names],
        columns=experiment.columns if experiment else (),
    )
    for setting in comparison.settings:
        print(f"{say('設定の違い', 'settings differ')}: {setting}", file=sys.stderr)
    for warning in comparison.warnings:
        print(f"{say('注意', 'warning')}: {warning}", file=sys.stderr)
    if printed.as_json:
        print(json_text(comparison.to_json()))
    elif printed.csv:
        sys.stdout.write(to_csv(comparison.table()))
    else:
        head = experiment.headline if experiment else ()
        print_tables(comparison.tables((*head, "questions", "tokens")), Console())


app.command(
    help=say(
        "結果を書き出す: jsonl は 1 件 1 行、csv と parquet は 1 試行 1 行",
        "Export results: a line an episode as jsonl, a row a trial as csv or parquet.",
    )
)(export)


app.command(help=say("報告書を作り直す", "Write the report again."))(report)


@app.command(
    help=say(
        "記録が壊れていないか確かめる", "Check that nothing of a run's log is damaged or lost."
    )
)
@with_options
def check(directory: Dir, printed: Printed) -> None:
    from naisei.runs.repair import checked

    found = checked(directory)
    print_either(printed.as_json, found.to_json(), found.text())
    if found.damages:
        raise typer.Exit(2)


@app.command(
    help=say(
        "壊れた記録の無事なエピソードを残す (元のファイルも残る)",
        "Keep the whole episodes of a damaged log; the old files stay.",
    )
)
@with_options
def repair(directory: Dir, printed: Printed) -> None:
    from naisei.runs.repair import repaired

    done = repaired(directory)
    print_either(printed.as_json, done.to_json(), done.text())


def continue_run(path: Path, options: RunOptions, *, as_json: bool = False) -> int:
    """Continue the run in a directory with its frozen configuration; returns the exit code.

    Raises:
        InputError: not a run directory, a system that is not installed, or a configuration that
            this version does not support.
    """
    place = path / "config.json"
    frozen = Frozen.read(place)
    experiment = experiment_of(frozen.system, frozen.config, path)
    config = frozen.config_as(experiment.config, place)
    task = experiment.load(config)
    options, live = shown_live(experiment, task, options, path, as_json)
    result = execute(experiment, config, options, run_dir=path, task=task, on_event=live)
    text = experiment.output(task, result, as_json) if experiment.output is not None else ""
    if text:
        print(text, flush=True)
    else:
        print_result(result, as_json=as_json)
    return result.exit_code
