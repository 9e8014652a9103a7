"""The seventh system, examples/triage.py: all that is common comes from its declaration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
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
    asked = [json.loads(line)["result"]["answers"] for line in results(tmp_path / "r").splitlines()]
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
    assert [table.questions[q] for q, _ in played.result.answers] == asked
    done = naisei(tmp_path / "none.py", "run")
    assert done.code == 2 and "none.py: no such file" in done.err


@pytest.mark.parametrize("page", ["docs/tutorial/own-system.md", "docs/ja/tutorial/own-system.md"])
def test_the_tutorial_quotes_the_file(page: str) -> None:
    source = FILE.read_text("utf-8")
    text = (FILE.parents[1] / page).read_text("utf-8")
    quoted = re.findall(r"```py\n(.*?)\n(?:    …\n)?```", text, re.DOTALL)
    assert len(quoted) == 5 and all(part in source for block in quoted for part in [block])


def test_its_page_is_in_the_browser(installed: None, tmp_path: Path) -> None:
    """Home, navigation, a form of its flags, the conversation, and its end; the entry point is
    all that says so. In a process of its own: what pages there are is decided once."""
    done = subprocess.run(
        [sys.executable, "-c", _BROWSING, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NAISEI_LANG": "ja"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "回線の復旧を待ち、障害情報の通知に登録する"


_BROWSING = """
import sys
from pathlib import Path
from naisei.web.options import WebOptions
from servers.web_server import WebServer
from waiting import until

folder = Path(sys.argv[1])
ja = {"accept-language": "ja"}
with WebServer(WebOptions(state=folder / "s", runs=folder / "r")) as server:
    with server.visitor(**ja) as client:
        assert client.get("/").text.count('href="/triage"') == 2  # a card, and the navigation
        start = client.get("/triage").text
        assert 'name="quota" type="number" min="0"' in start and 'value="gain" selected' in start
        assert "table" not in start  # a file of the server is nobody's to name
        assert client.post("/triage/new", data={"quota": "-1"}).status_code == 422
        refused = client.post("/triage/new", data={"agent": "llm"})
        assert refused.status_code == 422 and "agent" in refused.text  # there is no model
        made = client.post("/triage/new", data={"quota": "4", "table": "/etc/passwd"})
        page = made.headers["hx-redirect"]
        id = page.rpartition("/")[2]
        yes = ("ご近所", "スマートフォン")
        at = ""

        def next_page():
            text = client.get(page).text
            step = text.partition('name="step" value="')[2].partition('"')[0]
            return "終わりました" in text and ("", text) or step not in ("", at) and (step, text)

        for _ in range(5):
            at, asked = until(next_page)
            if not at:
                break
            question = asked.partition("<strong>")[2].partition("<")[0]
            send = lambda text: client.post(
                f"/conversations/{id}/answer", data={"step": at, "text": text}
            ).status_code
            assert send("たぶん") == 422
            assert send("はい" if question.startswith(yes) else "いいえ") == 204
        assert not at and "ご近所でも使えないと聞いていますか" in asked
        print(asked.rpartition('class="who">窓口</span>')[2].partition("<")[0])
"""
