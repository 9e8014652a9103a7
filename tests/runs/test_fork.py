"""A fork is its parent up to a step, and then its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.core import InputError, World
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import RunOutcome, run_task
from naisei.runs.fork import Fork, begin, check, events_before, fork_of
from runs.toy import Toy, model


def ran(path: Path, base: World) -> RunOutcome:
    task = Toy(n=3)
    with RunDirectory.of(task, path) as directory:
        return asyncio.run(run_task(task, directory, base))


def forked(parent: Path, path: Path, fork: Fork) -> tuple[RunOutcome, list[str]]:
    """Its outcome, and the calls that were really made."""
    with RunDirectory.look(parent) as run:
        events = run.log.read(fork.episode)
    with RunDirectory.of(Toy(n=3), path) as run:
        begin(run.log, fork, events_before(events, fork.step), {})
    calls: list[str] = []
    return ran(path, model(record=calls.append)), calls


def of(path: Path) -> dict[str, Any]:
    with RunDirectory.look(path) as run:
        return {event.where.step: event for event in run.log.read("i1#0")}


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "parent"
    ran(path, model())
    return path


def test_an_answer_is_changed_and_all_that_follows_from_it(parent: Path, tmp_path: Path) -> None:
    fork = Fork(parent=str(parent), episode="i1#0", step="2", answer="いいえ、ちがいます")
    outcome, calls = forked(parent, tmp_path / "fork", fork)
    before, after = of(parent), of(tmp_path / "fork")
    assert [row.where.episode for row in outcome.rows] == ["i1#0"] and outcome.scored == 1
    assert after["0"].result == before["0"].result and after["2"].result == fork.answer
    assert "2.0" in before and "2.0" not in after  # the simulator was not asked
    assert after["5"].result != before["5"].result
    assert len(calls) == 3  # both judges and the last reply; nothing before is paid for again
    assert outcome.ledger.usd == pytest.approx(0.003)
    with RunDirectory.look(tmp_path / "fork") as run:
        assert fork_of(run.log) == fork
    outcome, calls = forked_again(tmp_path / "fork")
    assert calls == [] and outcome.scored == 1


def forked_again(path: Path) -> tuple[RunOutcome, list[str]]:
    calls: list[str] = []
    return ran(path, model(record=calls.append)), calls


def test_what_a_model_is_told_or_says_is_changed(parent: Path, tmp_path: Path) -> None:
    told = Fork(parent=str(parent), episode="i1#0", step="1", prompt="ほかのこと")
    forked(parent, tmp_path / "told", told)
    said = Fork(parent=str(parent), episode="i1#0", step="1", answer='{"word": "0a"}')
    forked(parent, tmp_path / "said", said)
    before = of(parent)
    assert of(tmp_path / "told")["1"].result != before["1"].result
    assert of(tmp_path / "told")["1"].request == before["1"].request  # what the flow asked for
    assert of(tmp_path / "said")["1"].result == {"word": "0a"}
    wrong = Fork(parent=str(parent), episode="i1#0", step="1", answer='{"ward": "0a"}')
    with pytest.raises(InputError, match="no reply of this step"):
        forked(parent, tmp_path / "wrong", wrong)


@pytest.mark.parametrize(
    ("step", "change"),
    [("4", {"answer": "x"}), ("2", {"prompt": "x"}), ("1", {"answer": "no JSON"})],
)
def test_what_cannot_be_changed_is_refused(parent: Path, step: str, change: dict[str, str]) -> None:
    fork = Fork(parent="p", episode="i1#0", step=step, **change)
    with pytest.raises(InputError):
        check(fork, of(parent)[step])


def test_the_command(tmp_path: Path, naisei: Naisei) -> None:
    run = ("clarify", "run", "--limit", 1, "--agent", "bayes", "--embedder", "ngram", "--quiet")
    assert naisei(*run, "--run-dir", tmp_path / "parent").code == 0
    fork = ("runs", "fork", tmp_path / "parent", "--run-dir", tmp_path / "fork", "--quiet")
    done = naisei(*fork, "--step", 1, "--answer", "手を拭きたいんだ", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["n"] == 1
    shown = naisei("runs", "show", tmp_path / "fork", "--episode", "", "--step", 1)
    assert "手を拭きたいんだ" in shown.out
    for wrong, told in (
        (("--step", 99), "no such step"),
        (("--step", 1, "--model", "agent=openai:x"), "no model in the role agent"),
        (("--step", 1, "--nothing"), "o such option"),
        (("--step", 0, "--answer", "x"), "cannot change"),
    ):
        refused = naisei("runs", "fork", tmp_path / "parent", "--run-dir", tmp_path / "no", *wrong)
        assert refused.code == 2 and told in refused.err
    assert not (tmp_path / "no").exists()
