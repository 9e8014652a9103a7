"""The command `naisei`: exit codes, messages, start-up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from commandline import Alone, Naisei
from naisei.cli import app as app_module
from naisei.cli.main import main
from naisei.core import InputError, InstrumentFailure, ReplayDivergence
from naisei.system.registry import BUILT_IN, system_names


@pytest.fixture
def raising(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Runs a sub-command that raises; exit code and stderr."""
    monkeypatch.setenv("NAISEI_LANG", "en")
    monkeypatch.delenv("NAISEI_DEBUG", raising=False)
    monkeypatch.setattr("platformdirs.user_log_dir", lambda name: str(tmp_path / "log"))
    commands = {**app_module._OTHERS, "toy": ("naisei_cli_toy:app", "例", "Toy.")}
    monkeypatch.setattr(app_module, "_OTHERS", commands)

    def run(error: BaseException, *options: str) -> tuple[int, str]:
        module, sub = ModuleType("naisei_cli_toy"), typer.Typer()

        @sub.command()
        def command() -> None:
            raise error

        module.app = sub  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "naisei_cli_toy", module)
        with pytest.raises(SystemExit) as caught:
            main([*options, "toy"])
        return int(caught.value.code or 0), capsys.readouterr().err

    return run


def test_an_input_error_is_one_message_with_its_remedy(raising: Any) -> None:
    error = InputError("no [bold]such[/bold] 動作", place="data.jsonl:3", remedy="use [1]")
    code, err = raising(error)
    assert code == 2
    assert err == "error: data.jsonl:3: no [bold]such[/bold] 動作\n  → use [1]\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ReplayDivergence("i0#0 step 1", "chat a", "chat b"), 2),
        (InstrumentFailure("HTTP 500"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_other_errors_on_purpose(raising: Any, error: BaseException, code: int) -> None:
    got, err = raising(error)
    assert got == code and "Traceback" not in err and len(err.splitlines()) == 1


def test_an_unexpected_error_is_short_and_its_traceback_is_kept(
    raising: Any, tmp_path: Path
) -> None:
    code, err = raising(ZeroDivisionError("oops"))
    assert code == 1 and "unexpected ZeroDivisionError: oops" in err and "Traceback" not in err
    kept = (tmp_path / "log/errors.log").read_text()
    assert "Traceback" in kept and str(tmp_path / "log/errors.log") in err


def test_debug_shows_the_traceback(raising: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAISEI_DEBUG", "")  # so that what --debug sets is undone
    code, err = raising(ZeroDivisionError("oops"), "--debug")
    assert code == 1 and "Traceback" in err


def test_a_traceback_that_cannot_be_kept_is_shown(raising: Any, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file where the folder should be")
    code, err = raising(ZeroDivisionError("oops"))
    assert code == 1 and "Traceback" in err


def test_usage(naisei: Naisei) -> None:
    assert naisei("--version").out.startswith("naisei 0.")
    wrong = naisei("rums")
    assert wrong.code == 2 and "Did you mean 'runs'?" in wrong.err and not wrong.out
    assert naisei("runs", "show").code == 2
    assert naisei("runs", "show", "/no/such/run").code == 2
    language = naisei("--lang", "fr", "runs", "list")
    assert language.code == 2 and "unknown language" in language.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--seed=-1"], "--seed"),
        (["--trials", "1000000000"], "--trials"),
        (["--data", "/dev/zero"], "/dev/zero"),
    ],
)
def test_values_beyond_reason_are_refused_at_once(
    naisei: Naisei, tmp_path: Path, given: list[str], told: str
) -> None:
    said = naisei("clarify", "run", "--agent", "random", "--run-dir", tmp_path / "run", *given)
    assert said.code == 2 and told in said.err and "unexpected" not in said.err
    assert not (tmp_path / "run").exists()


def test_help_in_both_languages(alone: Alone) -> None:
    """In processes of their own: help texts stay in the language in which they were imported."""
    assert "Ask before acting" in alone("--help").out
    assert "聞き返して" in alone("--lang", "ja", "--help", NAISEI_LANG="").out
    assert "実行の一覧" in alone("runs", "--help", NAISEI_LANG="ja").out


_HEAVY = {
    "httpx2", "jinja2", "numpy", "openai", "pydantic_ai", "starlette", "sudachipy", "uvicorn",
}  # fmt: skip


def _imported(*args: str) -> set[str]:
    """What a command imports, in a process of its own."""
    script = (
        "import sys\nfrom naisei.cli.main import main\n"
        f"try:\n    main({list(args)!r})\nfinally:\n    print(*sys.modules, sep='\\n')"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    return {*out.stdout.splitlines()}


def test_help_starts_without_the_heavy_libraries() -> None:
    # A system of another package is imported to say what it is.
    own = set(system_names()) == set(BUILT_IN)
    assert not _imported("--help") & (_HEAVY | ({"pydantic", "naisei.core"} if own else set()))


@pytest.mark.parametrize("system", [*BUILT_IN, *app_module._OTHERS])
def test_help_of_a_system_starts_without_what_only_its_work_needs(system: str) -> None:
    imported = _imported(system, "--help")
    assert "naisei.cli.errors" in imported and not imported & _HEAVY
    others = {"clarify", "director", "relationship", "textgame", "intent", "emphasis"} - {system}
    assert not imported & {f"naisei.{name}" for name in others}


def test_a_run_without_a_model_imports_no_client_of_one(tmp_path: Path) -> None:
    place = str(tmp_path / "run")
    imported = _imported(
        "clarify", "run", "--agent", "bayes", "--limit", "1", "-q", "--run-dir", place
    )
    assert "sudachipy" in imported
    assert not imported & {"openai", "pydantic_ai", "httpx2", "starlette", "uvicorn"}


def test_a_run_is_not_written_over(naisei: Naisei, tmp_path: Path) -> None:
    run = tmp_path / "run"
    given = ["--agent", "random", "--limit", "1", "--trials", "1", "--run-dir", run]
    assert naisei("clarify", "run", *given).code == 0
    for verb in ("export", "report"):
        for name in ("log.sqlite", "config.json"):
            assert naisei("runs", verb, run, "--output", run / name).code == 2
    assert naisei("runs", "check", run).code == 0


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = "])
def test_settings_that_are_none_are_one_message(
    naisei: Naisei, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "naisei.toml").write_text(text, "utf-8")
    monkeypatch.setenv("NAISEI_CONFIG", str(tmp_path / "naisei.toml"))
    said = naisei("clarify", "run", "--agent", "random", "--run-dir", tmp_path / "run")
    assert said.code == 2 and "no TOML" in said.err
