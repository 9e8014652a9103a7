"""`naisei demo`: demonstrates every system in turn and says where to find the results.

A system takes part through its declaration (`System.demo`). `naisei <system> demo` is the same as
`naisei demo <system>`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naisei.cli import errors
from naisei.cli.parameters import with_options
from naisei.core import InputError
from naisei.entries import load_entry
from naisei.files import output_error
from naisei.lang import language, say
from naisei.system.config import Options, flag, seed_flag
from naisei.system.registry import BUILT_IN, find_system, system_names

if TYPE_CHECKING:
    from rich.text import Text

    from naisei.runs.result import RunResult
    from naisei.terminal import Console


@dataclass(frozen=True, slots=True)
class Part:
    """One system's part of `naisei demo`. Texts are (Japanese, English).

    title: its name and purpose. about: two lines of at most 78 columns. show: runs it on a stage,
    with `stage.model` if set. hint: the command to try next. data: language of its data if there is
    only one; readers of the other language see a note.
    """

    title: tuple[str, str]
    about: tuple[str, str]
    show: Callable[[Stage], None]
    hint: tuple[str, str]
    data: str = ""


@dataclass(slots=True)
class Stage:
    """Shows a part. root: parent of the run folders. model: `provider:name`, or None for the
    defaults, which call no model."""

    console: Console
    root: Path
    seed: int
    model: str | None
    reports: list[tuple[str, Path]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def print(self, text: str | Text, style: str = "", indent: int = 0) -> None:
        """Print a paragraph wrapped by Japanese rules; further lines are indented by so many
        columns."""
        from naisei.terminal import print_wrapped

        print_wrapped(self.console, text, style=style, indent=indent)

    def note(self, ja: str, en: str) -> None:
        """Print an important note first."""
        self.print(say(ja, en), "yellow")

    @contextmanager
    def busy(self, ja: str, en: str) -> Iterator[None]:
        """Show a status on a terminal."""
        with self.console.status(say(ja, en)):
            yield

    def report(self, name: str, path: Path) -> None:
        """Register a page to look at afterwards."""
        self.reports.append((name, path))

    def finished(self, result: RunResult) -> None:
        """Check a finished run.

        Raises:
            InputError: no episode could be scored.
        """
        out = result.outcome
        if out.failed and not out.scored:
            why = next(row.failure for row in out.rows if row.failure)
            raise InputError(str(why), place=self.model or str(result.run_dir))
        if out.stopped:
            text = f"naisei runs resume {result.run_dir}"
            self.print(
                say(f"時間切れです。続きは {text}", f"Out of time. To go on: {text}"), "yellow"
            )


def names() -> list[str]:
    """Return the systems with a demonstration, in display order."""
    return [name for name in system_names() if name in BUILT_IN or find_system(name).demo]


def _part(name: str) -> Part:
    place = f"naisei.{name}.demo:PART" if name in BUILT_IN else find_system(name).demo
    part: Part = load_entry(place)
    return part


def demo(
    chosen: Sequence[str] = (), *, run_dir: Path | None = None, seed: int = 0, model: str | None
) -> int:
    """Show the named parts, or all. Returns the exit code: 0, or that of the first part that
    failed; the other parts are still shown.

    Raises:
        InputError: an unknown part, or a model that is not available.
    """
    from naisei.terminal import Console

    known = names()
    for name in chosen:
        if name not in known:
            raise InputError(
                say(f"'{name}' のデモはありません", f"there is no demonstration of '{name}'"),
                remedy=say(f"指定できるもの: {', '.join(known)}", f"known: {', '.join(known)}"),
            )
    console = Console(highlight=False)
    root = run_dir or Path("runs") / f"demo-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, root) from error
    stage = Stage(console, root, seed, model)
    if model is not None:
        _fetch(model, stage)
    codes = [_show_part(name, stage) for name in chosen or known]
    _ending(stage)
    return next(filter(None, codes), 0)


def _show_part(name: str, stage: Stage) -> int:
    """Show one part with its introduction; returns its exit code."""
    from rich.rule import Rule
    from rich.text import Text

    title = name
    try:
        part = _part(name)
        title = say(*part.title)
        stage.console.print(Rule(Text(title, style="bold"), align="left"))
        for line in say(*part.about).splitlines():
            stage.print(line, "dim")
        if part.data and part.data != language():
            stage.note(*_ONLY[part.data])
        part.show(stage)
    except Exception as error:
        sys.stdout.flush()
        stage.failed.append(title)
        return errors.report(error)
    finally:
        stage.console.print()
    stage.print(say("使ってみるには: ", "To try it: ") + say(*part.hint), "dim")
    stage.console.print()
    return 0


#: Note for data in a language other than the reader's.
_ONLY = {
    "ja": ("データは日本語です。", "There are Japanese data only, so what follows is in Japanese."),
    "en": ("文章は英語だけです。", "The texts are English."),
}


def _ending(stage: Stage) -> None:
    from rich.rule import Rule

    if stage.failed:
        text = "、".join(stage.failed) if language() == "ja" else ", ".join(stage.failed)
        stage.print(say("動かせなかったもの: ", "Could not be shown: ") + text, "red")
    if not stage.reports:
        return
    stage.console.print(Rule(say("結果を見る", "Have a look"), align="left"))
    stage.print(say("報告 (HTML):", "Reports (HTML):"))
    width = max(len(name.encode("euc_jp", "replace")) for name, _ in stage.reports)
    for name, path in stage.reports:
        pad = " " * (width - len(name.encode("euc_jp", "replace")))
        stage.console.print(f"  {name}{pad}  {path}", markup=False, soft_wrap=True)
    stage.print(say("ブラウザで見るには:", "To look at them in the browser:"))
    command = f"  {_program()} serve --runs {stage.root}"
    stage.console.print(command, style="bold", markup=False, soft_wrap=True)


def _program() -> str:
    """Return the command for this program: `naisei`, if the shell finds this installation."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return "python -m naisei"
    found = shutil.which("naisei")
    if called.name != "naisei" or (found and called.exists() and called.samefile(found)):
        return "naisei"
    return str(called)


def _fetch(model: str, stage: Stage) -> None:
    """Download the embedded model if it is used, and print its notice."""
    provider, _, name = model.partition(":")
    if provider != "local":
        return
    from naisei.models.pull import pull
    from naisei.models.weights import DEFAULT, NOTICE_EN, NOTICE_JA, catalogue

    stage.print(say(NOTICE_JA, NOTICE_EN), "yellow")
    weights = catalogue().get(name or DEFAULT)
    if weights is not None:  # otherwise a file, or a name that the provider checks
        pull(weights)


class _DemoOptions(Options):
    """Options of `naisei demo`."""

    model: str | None = flag(
        None,
        "言語モデルで動かす。例: local: (組み込み)、openai:gpt-5-nano (既定: モデル不要)",
        "Show it with a language model, e.g. local: (embedded) or openai:gpt-5-nano; "
        "by default with none.",
        panel="run",
        metavar="PROVIDER:NAME",
    )
    run_dir: Path | None = flag(
        None,
        "記録を置くフォルダー (既定: runs/demo-日時)",
        "Folder of its runs; by default runs/demo-TIME.",
        panel="run",
    )
    seed: int = seed_flag()


def command_of(name: str) -> Callable[..., None]:
    """Return the command `naisei <name> demo`."""

    def command(options: _DemoOptions) -> None:
        raise typer.Exit(demo([name], **dict(options)))

    return with_options(command)


app = typer.Typer()


@app.command(help=say("すべてのシステムのデモ", "A demonstration of every system."))
@with_options
def _command(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SYSTEM]...",
            show_default=False,
            help=say("見るもの (既定: すべて)", "What to show; by default all."),
        ),
    ] = None,
    *,
    options: _DemoOptions,
) -> None:
    raise typer.Exit(demo(parts or [], **dict(options)))
