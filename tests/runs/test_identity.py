"""Runs that cannot lie: what decides results is part of a run's identity, and nothing else is."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from commandline import Alone
from naisei import identity
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.system import RUN
from naisei.core import InputError
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import default_path

AGENT = """
from naisei.clarify.agent import AgentFactory
from naisei.clarify.schemas import Execute
from careful.inner.choose import choose


class Careful:
    name = "careful"

    def decide(self, view):
        return Execute(action=choose(view))
        yield


build = AgentFactory(lambda context: Careful(), model_free=True)
"""
CHOOSE = """
import helping_hand


def choose(view):
    return [a for a in view.actions.ids if a not in view.tried][helping_hand.WHICH]
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A package with a module in a folder, a file of words, and a helper beside it."""
    folder = tmp_path / "site"
    (folder / "careful/inner").mkdir(parents=True)
    (folder / "careful/__init__.py").write_text("")
    (folder / "careful/inner/__init__.py").write_text("")
    (folder / "careful/agents.py").write_text(AGENT)
    (folder / "careful/inner/choose.py").write_text(CHOOSE)
    (folder / "careful/words.txt").write_text("はい\n")
    (folder / "helping_hand.py").write_text("WHICH = 0\n")
    (folder / "careful-1.dist-info").mkdir()
    (folder / "careful-1.dist-info/METADATA").write_text("Name: careful\nVersion: 1\n")
    entry = "[naisei.agents]\ncareful = careful.agents:build\n"
    (folder / "careful-1.dist-info/entry_points.txt").write_text(entry)
    return folder


def where(**fields: Any) -> Path:
    """Of a run of clarify."""
    given = {"agent": "careful", "limit": 2, "embedder": "ngram", **fields}
    return default_path(RUN.load(ClarifyConfig.model_validate(given)))


def use(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new process finds it."""
    for name in [n for n in sys.modules if n.partition(".")[0] in ("careful", "helping_hand")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(site)


@pytest.mark.parametrize(
    ("file", "text", "another"),
    [
        ("careful/agents.py", AGENT.replace("yield", "yield  # or not"), True),
        ("careful/inner/choose.py", CHOOSE + "\n", True),
        ("careful/words.txt", "いいえ\n", True),
        ("careful/more.py", "", True),
        ("helping_hand.py", "WHICH = 1\n", True),
        ("careful/agents.py", AGENT.replace("\n", "\r\n"), False),
        ("careful/__pycache__/agents.pyc", "x", False),
        ("somebody_else.py", "x = 1", False),
    ],
)
def test_what_is_of_a_package_with_an_agent(
    site: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, another: bool
) -> None:
    use(site, monkeypatch)
    before, others = where(), where(agent="random")
    (site / file).parent.mkdir(exist_ok=True)
    (site / file).write_bytes(text.encode())
    assert (where() != before) is another
    assert where().name.rpartition("-")[0] == before.name.rpartition("-")[0]
    assert where(agent="random") == others, "a run that does not use it"


def test_where_a_package_lies_is_no_part_of_it(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as here:
        use(site, here)
        before = where()
    shutil.move(site, tmp_path / "elsewhere")
    use(tmp_path / "elsewhere", monkeypatch)
    assert where() == before


DECIDES = (
    "core/engine.py",
    "clarify/flow.py",
    "clarify/prompts/tur.v3.ja.md",
    "clarify/agents/weights/bayes_any.json",
    "memory/memo.py",
    "models/exchange.py",
    "japanese/morph.py",
    "near_json.py",
)
DECIDES_NOTHING = (
    "data/fault_weights/weights.npz",
    "clarify/chat.py",
    "clarify/demo.py",
    "web/app.py",
    "cli/app.py",
    "director/flow.py",
    "retrieval/chunking.py",
    "data/ambigact40_hard/README.md",
)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package, by which runs are made."""
    own, copy = Path(identity.__file__).parent, tmp_path / "naisei"
    for part in {str(Path(file).parent) for file in (*DECIDES, *DECIDES_NOTHING)} - {"."}:
        shutil.copytree(
            own / part,
            copy / part,
            ignore=shutil.ignore_patterns("__pycache__"),
            dirs_exist_ok=True,
        )
    for each in own.glob("*.py"):
        shutil.copy(each, copy)
    monkeypatch.setattr(identity, "_ROOT", copy)
    identity._room.cache_clear()
    yield copy
    identity._room.cache_clear()


def changed(path: Path) -> None:
    with path.open("ab") as added:
        added.write(b"#")
    identity._room.cache_clear()


def test_what_of_naisei_decides(copied: Path) -> None:
    before = where(agent="random")
    for file in DECIDES_NOTHING:
        changed(copied / file)
    assert where(agent="random") == before
    found = {before}
    for file in DECIDES:
        changed(copied / file)
        found.add(where(agent="random"))
    assert len(found) == 1 + len(DECIDES)


class Named(BaseModel):
    """A configuration with names in it."""

    models: dict[str, str] = {}
    options: dict[str, str] = {}
    table: str = ""


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("rules.jsonl", Named(models={"simulator": "scripted:rules.jsonl"})),
        ("w/weights.json", Named(options={"weights": "w"})),
        ("w/weights.json", Named(options={"weights": "w/weights.json"})),
        ("w/weights.json", Named(table="w/weights.json")),
    ],
)
def test_files_that_a_configuration_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy: Any, name: str, given: Named
) -> None:
    monkeypatch.chdir(tmp_path)
    task = toy.Toy()
    task.config = given
    Path("w").mkdir()
    Path(name).write_text("one")
    before = default_path(task)
    assert default_path(task) == before
    Path(name).write_text("two")
    assert default_path(task) != before


def test_the_same_command_after_an_edit(alone: Alone, site: Path) -> None:
    path = os.pathsep.join([str(site), *(p for p in sys.path if p)])
    flags = ["clarify", "run", "--agent", "careful", "--limit", "2", "--json", "--quiet"]
    one, again = (alone(*flags, PYTHONPATH=path) for _ in range(2))
    assert one.result == again.result and not one.err.count("→")
    (site / "helping_hand.py").write_text("WHICH = 3\n")
    other = alone(*flags, PYTHONPATH=path)
    assert other.code == 0 and other.result["run_dir"] != one.result["run_dir"]
    (told,) = (line for line in other.err.splitlines() if one.result["run_dir"] in line)
    assert "helping_hand.py" in told and other.result["run_dir"] in told
    resume = ("runs", "resume", one.result["run_dir"], "--json", "--quiet")
    refused = alone(*resume, PYTHONPATH=path)
    assert refused.code == 2 and "helping_hand.py" in refused.err
    assert "--accept-changes" in refused.err
    accepted = alone(*resume, "--accept-changes", PYTHONPATH=path)
    assert accepted.code == 0 and "helping_hand.py" in accepted.result["notes"][-1]
    assert alone(*resume, PYTHONPATH=path).result == accepted.result
    (site / "helping_hand.py").write_text("WHICH = 0\n")
    assert alone(*flags, PYTHONPATH=path).code == 2, "its directory holds results of two by now"


def test_accepted_changes_stand_beside_what_was_before(tmp_path: Path, toy: Any) -> None:
    def opened(data: str, **more: Any) -> RunDirectory:
        return RunDirectory.of(toy.Toy(data_hash=data), tmp_path / "r", **more)

    with opened("one") as run:
        frozen = run.frozen
    with pytest.raises(InputError, match="one → two"):
        opened("two")
    with opened("two", accept=True) as run:
        (change,) = run.accepted
        assert run.frozen == frozen and change.data_hash == "two" and change.scored == 0
        assert change.identity == frozen.identity and run.current.data_hash == "two"
    with opened("two") as run:
        assert len(run.accepted) == 1
    with pytest.raises(InputError, match="two → one"):
        opened("one")


def test_episodes_under_way_begin_anew(
    tmp_path: Path, toy: Any, run_toy: Callable[..., Any]
) -> None:
    run_toy(tmp_path / "r", toy.Toy(3), toy.model(fails=lambda where: where.path == (1,)))
    with RunDirectory.look(tmp_path / "r") as run:
        cost = run.log.ledger().tokens
        assert cost and any(run.log.read(name) for name in run.log.known_episodes())
    changed = toy.Toy(3, data_hash="two")
    with RunDirectory.of(changed, tmp_path / "r", accept=True) as run:
        assert not any(run.log.read(name) for name in run.log.known_episodes())
        assert run.log.ledger().tokens == cost, "what was paid for in vain"
    assert run_toy(tmp_path / "r", changed).outcome.scored == 3


def test_a_run_of_which_nothing_is_scored_has_a_code_of_its_own(
    tmp_path: Path, toy: Any, run_toy: Callable[..., Any]
) -> None:
    broken = toy.model(fails=lambda where: True)
    assert run_toy(tmp_path / "r", toy.Toy(2), broken).exit_code == 4
    some = toy.model(fails=lambda where: where.instance == "i0")
    assert run_toy(tmp_path / "r", toy.Toy(2), some).exit_code == 0


def test_a_config_json_keeps_every_digest(tmp_path: Path) -> None:
    task = RUN.load(ClarifyConfig(agent="random", limit=2, embedder="ngram"))
    RunDirectory.of(task, tmp_path / "r").close()
    kept = json.loads((tmp_path / "r/config.json").read_text())["identity"]
    assert {"clarify/flow.py", "core/engine.py", "models/exchange.py"} <= kept["code"].keys()
    assert "clarify/tur.v3.ja" in kept["prompt"]
    assert not [name for name in kept["code"] if name.startswith(("web/", "cli/", "runs/"))]
