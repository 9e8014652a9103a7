"""The seventh system, examples/triage.py: all that is common comes from its declaration."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.core import Act, Event, Observation, play
from naisei.system.execute import RunOptions
from naisei.system.registry import find_system, system_in

FILE = Path(__file__).resolve().parents[2] / "examples" / "triage.py"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if its package were installed: an entry point, and nothing else."""
    site = tmp_path / "site"
    info = site / "triage-1.dist-info"
    info.mkdir(parents=True)
    shutil.copy(FILE, site)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: triage\nVersion: 1\n", "utf-8")
    entry = "[naisei.systems]\ntriage = triage:SYSTEM\n"
    (info / "entry_points.txt").write_text(entry, "utf-8")
    monkeypatch.syspath_prepend(str(site))


def results(run: Path) -> str:
    return (run / "results.jsonl").read_text("utf-8")


def test_it_is_one_short_file() -> None:
    assert len(FILE.read_text("utf-8").splitlines()) <= 300


def test_run_ablate_and_study(installed: None, naisei: Naisei, tmp_path: Path) -> None:
    assert "triage" in naisei("--help").out
    assert "--quota" in naisei("triage", "run", "--help").out
    done = naisei("triage", "ablate", "--cases", 5, "--json", "-q", "--run-dir", tmp_path / "a")
    assert done.code == 0, done.err
    metrics = json.loads(done.out.splitlines()[-1])["metrics"]
    assert list(metrics) == ["full", "in-order", "no-questions"]
    assert metrics["full"]["pass@1"] > metrics["in-order"]["pass@1"]
    assert metrics["in-order"]["pass@1"] > metrics["no-questions"]["pass@1"]
    assert (tmp_path / "a" / "study.html").is_file()
    both = ["triage", "run", "--agent", "gain", "--agent", "order", "--cases", 2, "-q", "--json"]
    done = naisei(*both, "--run-dir", tmp_path / "b")
    assert done.code == 0 and set(json.loads(done.out)["runs"]) == {"gain", "order"}


def test_stopped_and_resumed_it_is_as_if_nothing_had_been(
    installed: None, naisei: Naisei, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert naisei("triage", "run", "--cases", 3, "-q", "--run-dir", whole).code == 0
    run = find_system("triage").experiments[0]
    seen: list[Event] = []

    def die(event: Event) -> None:
        seen.append(event)
        if len(seen) == 20:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        run.run(run.config(cases=3), RunOptions(quiet=True), run_dir=cut, on_event=die)
    resumed = naisei("runs", "resume", cut, "-q")
    assert resumed.code == 0, resumed.err
    assert results(cut) == results(whole)
    report = (cut / "report.html").read_text("utf-8")
    assert "router#1" in report and "pass@1" in report


def test_a_model_chooses_the_questions(installed: None, naisei: Naisei, tmp_path: Path) -> None:
    script = tmp_path / "model.jsonl"
    reply = json.dumps({"reason": "近所の障害なら一度に分かる", "question": "outage"})
    script.write_text(json.dumps({"reply": reply}) + "\n", "utf-8")
    run = ["triage", "run", "--agent", "llm", "--quota", 1, "--cases", 1, "-q"]
    refused = naisei(*run, "--run-dir", tmp_path / "r")
    assert refused.code == 2 and "--agent-model" in refused.err
    done = naisei(*run, "--model", f"scripted:{script}", "--run-dir", tmp_path / "r", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["tokens"]["agent"]["calls"] == 6
    asked = [json.loads(line)["result"]["asked"] for line in results(tmp_path / "r").splitlines()]
    assert {pair[0] for (pair,) in asked} == {"outage"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--agent", "best"], "--agent: "),
        (["--quota", "-1"], "--quota"),
        (["--sure", "2"], "--sure"),
        (["--table", "no.toml"], "no.toml: no table of faults"),
        (["--rows", "all"], "No such option"),
    ],
)
def test_a_mistake_is_one_message(
    flags: list[str], said: str, installed: None, naisei: Naisei, tmp_path: Path
) -> None:
    done = naisei("triage", "run", *flags, "--run-dir", tmp_path / "r")
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
    assert not (tmp_path / "r").exists()


def test_the_flow_by_hand(naisei: Naisei, tmp_path: Path) -> None:
    """No runtime, no mock: the generator is driven with answers."""
    system_in(FILE)
    triage = sys.modules["triage"]
    table, config = triage.Table.read(""), triage.TriageConfig()
    asked: list[str] = []

    def world(effect: Any) -> Any:
        if isinstance(effect, Act):
            return Observation(reward=float(effect.action == {"try": "outage"}), done=True)
        asked.append(effect.question)
        return (
            "はい" if effect.question in map(table.questions.get, ["phone", "outage"]) else "いいえ"
        )

    flow = triage.triage("outage", table, config)
    played = play(flow, [world] * 4)
    assert played.result.solved and played.result.tried == "outage"
    assert [table.questions[q] for q, _ in played.result.asked] == asked
    done = naisei(tmp_path / "none.py", "run")
    assert done.code == 2 and "none.py: no such file" in done.err


@pytest.mark.parametrize("page", ["docs/tutorial/own-system.md", "docs/ja/tutorial/own-system.md"])
def test_the_tutorial_quotes_the_file(page: str) -> None:
    source = FILE.read_text("utf-8")
    text = (FILE.parents[1] / page).read_text("utf-8")
    quoted = re.findall(r"```py\n(.*?)\n(?:    …\n)?```", text, re.DOTALL)
    assert len(quoted) == 4 and all(part in source for block in quoted for part in [block])
