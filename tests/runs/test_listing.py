"""The list of runs that is kept in their folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from naisei.runs import listing
from naisei.runs.listing import LIST, Listed, find_runs, runs
from naisei.runs.lock import RunLock


@pytest.fixture
def folder(tmp_path: Path, run_toy: Any) -> Path:
    """As many runs as a list is kept for, one of them in a study."""
    root = tmp_path / "runs"
    run_toy(root / "run-0")
    for name in ("study/one", *(f"run-{n}" for n in range(1, 20))):
        shutil.copytree(root / "run-0", root / name)
    return root


def looked_into(monkeypatch: pytest.MonkeyPatch, root: Path) -> tuple[list[Listed], set[str]]:
    """The list, and the names of the runs whose logs were opened for it."""
    names: set[str] = set()
    look = listing.RunDirectory.look

    def told(path: Path, *, check: bool = True) -> Any:
        names.add(path.name)
        return look(path, check=check)

    with monkeypatch.context() as patch:
        patch.setattr(listing.RunDirectory, "look", told)
        return runs(root), names


def test_a_second_list_opens_no_log_and_says_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, opened = looked_into(monkeypatch, folder)
    assert len(first) == len(opened) == 20 + 1 and {run.state for run in first} == {"done"}
    assert looked_into(monkeypatch, folder) == (first, set())
    moved = folder.rename(folder.with_name("moved"))
    again, opened = looked_into(monkeypatch, moved)
    assert not opened and all(run.path.is_relative_to(moved) for run in again)


def test_what_changed_since_is_looked_into(
    folder: Path, monkeypatch: pytest.MonkeyPatch, run_toy: Any, toy: Any
) -> None:
    runs(folder)
    shutil.rmtree(folder / "run-1")
    shutil.rmtree(folder / "run-2")
    run_toy(folder / "run-2", toy.Toy(2))
    (folder / "run-3/config.json").write_text("{}")
    lock = RunLock(folder / "run-4")
    try:
        listed, opened = looked_into(monkeypatch, folder)
    finally:
        lock.release()
    state = {run.path.name: run for run in listed}
    assert "run-1" not in state and state["run-2"].total == 2
    assert state["run-3"].state == "broken" and state["run-4"].state == "running"
    assert opened == {"run-2", "run-4"}  # the config of the third is read, its log is not
    assert {run.state for run in runs(folder) if run.path.name == "run-4"} == {"done"}


def test_a_folder_that_may_not_be_written_is_listed_as_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise listing.InputError("cannot be written")

    monkeypatch.setattr(listing, "write_atomically", refused)
    assert len(runs(folder)) == 21 and not (folder / LIST).exists()


@pytest.mark.parametrize("text", ["", "[]", '{"naisei": "0", "lines": {}}', '{"lines": 3}'])
def test_a_list_that_cannot_be_read_is_made_anew(folder: Path, text: str) -> None:
    first = runs(folder)
    (folder / LIST).write_text(text)
    assert runs(folder) == first
    assert len(json.loads((folder / LIST).read_text())["lines"]) == 21
    (folder / LIST).unlink()
    (folder / LIST).symlink_to(folder / "run-0/config.json")
    assert [run.path for run in find_runs(folder)] == [run.path for run in first]
