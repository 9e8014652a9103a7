"""Errors of runs in the reader's language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from both_languages import Wrong, said_in_both
from naisei.cli.runs import continue_run
from naisei.lang import speaking
from naisei.plugins import Options, pairs, typed
from naisei.runs.budget import Budget
from naisei.runs.compare import compare
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen
from naisei.runs.ledger import Ledger, Spent
from naisei.system.execute import RunOptions


def _config(text: str) -> None:
    Path("run").mkdir(exist_ok=True)
    Path("run/config.json").write_text(text, "utf-8")


def _broken() -> object:
    _config("{}")
    return RunDirectory.look(Path("run"))


def _unknown_system() -> object:
    frozen = Frozen(
        system="none", config={}, data_hash="", naisei="", python="", libraries={}, created=""
    )
    _config(frozen.model_dump_json())
    return continue_run(Path("run"), RunOptions())


_WRONG: tuple[Wrong, ...] = (
    (lambda: RunDirectory.look(Path("none")), "not a run directory: no config.json",
     "`naisei runs list` shows the runs there are"),
    (_broken, "no config of a run: system Field required", "use a new run directory"),
    (_unknown_system, "the run is of the system 'none', which is not installed",
     "install the package that it came from"),
    (lambda: Budget(usd=0), "must be above 0, not 0", ""),
    (lambda: compare([Path("one")]), "two runs or more are needed", ""),
    (lambda: pairs(["depth"], "--x"), "expected KEY=VALUE, not 'depth'", "write --x KEY=VALUE"),
    (lambda: pairs(["a=1", "a=2"], "--x"), "'a' is set twice", "leave one of them out"),
    (lambda: typed(Options, {"deep": 1}), "unknown setting 'deep'",
     "known: this agent has no settings"),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)


def test_why_a_run_stopped_and_what_differs_is_said_in_both_languages(english: Path) -> None:
    spent = Ledger({"agent": Spent(calls=1, input_tokens=7)})
    one = Frozen(
        system="s", config={"a": 1}, data_hash="x", naisei="", python="", libraries={}, created=""
    )
    other = one.model_copy(update={"config": {"b": 1}, "data_hash": "y"})
    assert Budget(tokens=5).reached(spent) == "--max-tokens: 7 of 5 tokens"
    assert one.changes(other) == ["data: x → y (contents differ)"]
    assert one.differences(other) == [
        "a: 1 → (absent)", "b: (absent) → 1"
    ]  # fmt: skip
    with speaking("ja"):
        assert Budget(tokens=5).reached(spent) == "--max-tokens: 5 トークンのうち 7 トークン使用"
        assert one.changes(other) == ["data: x → y (内容が違います)"]
        assert one.differences(other) == [
            "a: 1 → (なし)", "b: (なし) → 1"
        ]  # fmt: skip
