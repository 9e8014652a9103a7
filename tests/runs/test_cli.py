"""`naisei runs` on real run directories, in this process and in its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from commandline import Naisei
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.system import RUN
from naisei.core import Embed, Flow, Where, World
from waiting import until


@pytest.fixture
def runs(tmp_path: Path, run_toy: Any, toy: Any) -> Path:
    root = tmp_path / "runs"
    run_toy(root / "whole")
    run_toy(root / "failed", toy.Toy(5), toy.model(fails=lambda where: where.instance == "i2"))
    (root / "odd").mkdir()
    (root / "odd/config.json").write_text("{}")
    return root


def test_list(runs: Path, naisei: Naisei) -> None:
    code, out, _ = naisei("runs", "list", runs, "--json")
    found = {Path(r["path"]).name: r for r in json.loads(out)}
    assert code == 0 and found["whole"]["state"] == "done"
    assert (found["failed"]["state"], found["failed"]["scored"]) == ("stopped", 4)
    assert found["odd"]["state"] == "broken"
    assert "4/5" in naisei("runs", "list", runs)[1]
    code, out, err = naisei("runs", "list", runs / "none")
    assert (code, out) == (2, "") and "no such folder" in err


def test_the_runs_of_a_study_are_listed_under_it(
    tmp_path: Path, naisei: Naisei, run_toy: Any
) -> None:
    root = tmp_path / "runs"
    for name in ("study/full", "study/no-tur", "alone"):
        run_toy(root / name)
    for path in ("alone/kept", "other/tool"):  # within a run, and of something else
        (root / path).mkdir(parents=True)
        (root / path / "config.json").write_text("{}")
    _, out, _ = naisei("runs", "list", root, "--json")
    found = {str(Path(r["path"]).relative_to(root)): r["study"] for r in json.loads(out)}
    study = str(root / "study")
    assert found == {"study/full": study, "study/no-tur": study, "alone": ""}
    lines = naisei("runs", "list", root)[1].splitlines()
    heads = [line.split()[0] for line in lines]
    at = heads.index(f"{study}/")
    assert sorted(heads[at + 1 : at + 3]) == ["full", "no-tur"]
    assert all(line.startswith("  ") for line in lines[at + 1 : at + 3])
    assert str(root / "alone") in heads


def test_vectors_are_told_in_words(tmp_path: Path, naisei: Naisei, run_toy: Any, toy: Any) -> None:
    class Embeds(toy.Toy):  # type: ignore[misc,name-defined]
        def _flow(self, where: Where) -> Flow[BaseModel]:
            yield from Embed(("昼食", "夕食"))
            return toy.Result(instance=where.instance, words=["0"])

        def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
            vectors = np.ones((2, 384), dtype=np.float32)
            return self._flow(where), base.having({Embed: lambda effect: vectors})

    run_toy(tmp_path / "r", Embeds(1))
    _, out, _ = naisei("runs", "show", tmp_path / "r", "--episode", "i0")
    assert "夕食" in out and "→ 2 × 384-dim vector" in out
    assert "f4" not in out and "gD8AAIA" not in out


def test_an_episode_is_told_in_words_by_its_system(tmp_path: Path, naisei: Naisei) -> None:
    run = tmp_path / "r"
    naisei("clarify", "run", "--agent", "random", "--limit", 1, "--run-dir", run, "-q")
    data = json.loads(naisei("runs", "show", run, "--episode", "", "--json")[1])
    action = data["result"]["trials"][0]["action"]
    words = naisei("runs", "show", run, "--episode", "").out.rpartition("##")[2]
    assert RUN.load(ClarifyConfig()).data.actions.text(action) in words
    frozen = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**frozen, "system": "gone"}))
    assert naisei("runs", "repair", run).code == 0
    code, out, _ = naisei("runs", "show", run, "--episode", "")
    assert code == 0 and f'"action": {action}' in out


def test_show(runs: Path, naisei: Naisei, toy: Any) -> None:
    data = json.loads(naisei("runs", "show", runs / "whole", "--json")[1])
    assert data["n"] == 4 and data["frozen"]["config"]["n"] == 4
    assert "Metrics" in naisei("runs", "show", runs / "whole")[1]
    _, out, _ = naisei("runs", "show", runs / "whole", "--episode", "i1")
    assert toy.RULES in out and "はい、" in out and "chat · agent" in out and "scripted:toy" in out
    code, out, _ = naisei("runs", "show", runs / "failed", "--episode", "i2#0", "--json")
    assert code == 0 and "HTTP 500" in json.loads(out)["failure"]
    code, out, err = naisei("runs", "show", runs / "whole", "--episode", "i9")
    assert (code, out) == (2, "") and "no episode 'i9'" in err and "i0#0" in err


def test_a_run_without_a_summary_can_be_shown(tmp_path: Path, naisei: Naisei, toy: Any) -> None:
    from naisei.runs.directory import RunDirectory

    RunDirectory.of(toy.Toy(), tmp_path / "r").close()
    code, out, _ = naisei("runs", "show", tmp_path / "r")
    assert code == 0 and "naisei runs resume" in out
    assert naisei("runs", "report", tmp_path / "r")[0] == 2


def test_compare(runs: Path, naisei: Naisei) -> None:
    code, out, _ = naisei("runs", "compare", runs / "whole", runs / "failed", "--json")
    assert code == 0 and json.loads(out)["differences"][0]["n"] == 3
    assert "pass@1" in naisei("runs", "compare", runs / "whole", runs / "failed")[1]
    assert naisei("runs", "compare", runs / "whole", runs / "failed", "--csv")[1].startswith(
        "metric,"
    )
    assert naisei("runs", "compare", runs / "whole")[0] == 2


def test_export_and_report(runs: Path, naisei: Naisei, tmp_path: Path) -> None:
    _, out, _ = naisei("runs", "export", runs / "whole")
    assert len([json.loads(line) for line in out.splitlines()]) == 4
    target = tmp_path / "out.csv"
    _, out, _ = naisei("runs", "export", runs / "whole", "--format", "csv", "-o", target, "--json")
    assert json.loads(out)["rows"] == 4 and target.read_text().count("\n") == 5
    assert naisei("runs", "export", runs / "whole", "--format", "csv", "--events")[0] == 2
    assert naisei("runs", "export", runs / "whole", "-o", target / "out")[0] == 2
    (runs / "whole/report.html").unlink()
    _, out, _ = naisei("runs", "report", runs / "whole", "--json")
    assert Path(json.loads(out)["report"]).exists()
    assert naisei("runs", "report", runs / "whole", "--format", "markdown")[1].startswith("# whole")


def test_resume_names_a_system_that_is_not_there(runs: Path, naisei: Naisei) -> None:
    """Resuming one from outside: tests/examples."""
    code, _, err = naisei("runs", "resume", runs / "failed")
    assert code == 2 and "system 'toy'" in err
    assert naisei("runs", "resume", runs / "none")[0] == 2


def test_the_installed_command_reads_a_run_that_is_going_on(
    tmp_path: Path, toy: Any, start_toy: Any
) -> None:
    process = start_toy(tmp_path / "r", tmp_path / "calls", "--latency", 1)
    try:
        calls = tmp_path / "calls"
        until(lambda: calls.exists() and calls.read_text(), process)
        shown = subprocess.run(
            [sys.executable, "-m", "naisei", "runs", "list", str(tmp_path), "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(shown.stdout.splitlines()[-1])[0]["state"] == "running"
    finally:
        process.kill()
        process.communicate()
