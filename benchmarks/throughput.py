"""A whole `naisei clarify run` against a loopback server, next to Inspect AI.

    python benchmarks/throughput.py [--instances 545] [--latency 1] [--concurrency 64]

Two cases: every instance is executed at once (one call each), and every instance is asked
about twice before (three calls each). Wall and CPU are those of the whole process.

ratio: wall ÷ (calls × latency ÷ concurrency). ratio_to_waves: wall ÷ whole waves, which no
client can undercut where every call takes equally long. ratio_running: the same without what
a run of one instance needs to start and to report, which does not grow with the run.
own_ms_per_effect: CPU of flow, log, ledger, metrics and report without HTTP, from runs with
a scripted model inside the process that ask nobody. with_user_ms_per_effect: the same where
every instance is asked about twice: the simulated user, who reads Japanese by rule, is in it.

Prints one line a figure, then JSON; fails (exit code 1) if a bar is missed. Inspect AI is
of the extra `bench` and is left out where it is not installed; its start is in its wall.
"""

from __future__ import annotations

import argparse
import json
import math
import sqlite3
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measured import Measured, instances, measure, server
from naisei.runs.log import RunLog

RATIOS = {"ratio_to_waves": 1.15, "ratio_running": 1.15}
BARS = {"own_ms_per_effect": 1.0, "cpu_ms_per_call": 8.0, "peak_mb": 300.0, **RATIOS}
#: Nine seconds of calls do not hide what a process needs to start and to report.
NO_BAR = {("naisei, at once", "ratio_to_waves")}
#: Asking away, the server's first choice is to execute; else it asks as often as it may.
CASES = {"at once": ("--no-clarify",), "asked twice": ()}


def naisei(folder: Path, name: str, model: str, at_once: int, *options: str) -> Measured:
    """One run of one trial an instance, in the run directory `name`."""
    command = [sys.executable, "-m", "naisei", "clarify", "run", "--data", "data.jsonl"]
    command += ["--agent", "llm", "--model", model, "--trials", "1", "--memory", "none"]
    command += ["--concurrency", str(at_once), "--run-dir", name, "--json", "--quiet", *options]
    return measure(command, folder)


def said(run: Measured) -> dict[str, Any]:
    """The result object of a run."""
    out: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return out


def effects(log: Path) -> int:
    with sqlite3.connect(log) as db:
        (n,) = db.execute("SELECT count(*) FROM events").fetchone()
    return int(n)


def prompts(log: Path, out: Path) -> int:
    """Write the messages of the calls of a run, one a line; returns how many."""
    run = RunLog(log, read_only=True)
    asked = [
        event.request["messages"]
        for episode in run.known_episodes()
        for event in run.read(episode)
        if event.kind == "chat" and isinstance(event.request, dict)
    ]
    run.close()
    out.write_text("".join(json.dumps(m, ensure_ascii=False) + "\n" for m in asked), "utf-8")
    return len(asked)


def own_cost(folder: Path, at_once: int) -> dict[str, float]:
    """CPU of flow, log and ledger per effect: a whole run less a run of one instance."""
    (folder / "fill.jsonl").write_text('{"fill": {}}\n')
    out: dict[str, float] = {}
    for what, options in (("own", CASES["at once"]), ("with_user", CASES["asked twice"])):
        script = ("scripted:fill.jsonl", at_once, *options)
        one = naisei(folder, f"{what}-one", *script, "--limit", "1")
        whole = naisei(folder, what, *script)
        n = effects(folder / f"{what}/log.sqlite") - effects(folder / f"{what}-one/log.sqlite")
        out[f"{what}_ms_per_effect"] = (whole.cpu - one.cpu) / n * 1e3
        out["start_cpu_s"] = one.cpu
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=545)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of a call")
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name, server(given.latency) as url:
        folder = Path(name)
        instances(given.instances, folder / "data.jsonl")

        def against_ideal(
            run: Measured, calls: int, chain: int, one: Measured | None = None
        ) -> dict[str, float]:
            """chain: calls of one episode, which follow each other. one: a run of one."""
            ideal = calls * given.latency / given.concurrency
            episodes = calls // chain
            waves = math.ceil(episodes / given.concurrency) * chain * given.latency
            found = {
                "calls": calls,
                "wall_s": run.wall,
                "ratio": run.wall / ideal,
                "ratio_to_waves": run.wall / waves,
                "cpu_ms_per_call": run.cpu / calls * 1e3,
                "peak_mb": run.peak_mb,
            }
            if one is not None:
                found["start_s"] = one.wall - chain * given.latency
                found["ratio_running"] = (run.wall - found["start_s"]) / waves
                found["cpu_ms_per_further_call"] = (run.cpu - one.cpu) / (calls - chain) * 1e3
            return found

        far = f"openai-compatible:test@{url}"
        naisei(folder, "first", far, 1, "--limit", "1")  # compiles the modules
        own = own_cost(folder, given.concurrency)
        for case, options in CASES.items():
            where = case.replace(" ", "-")
            limits = ("--limit", "1")
            one = naisei(folder, f"{where}-one", far, given.concurrency, *options, *limits)
            run = naisei(folder, where, far, given.concurrency, *options)
            calls = said(run)["tokens"]["agent"]["calls"]
            assert said(run)["n"] == given.instances
            chain = calls // given.instances
            figures[f"naisei, {case}"] = against_ideal(run, calls, chain, one)
        figures["naisei, no HTTP"] = own
        if find_spec("inspect_ai") is not None:
            n = prompts(folder / "at-once/log.sqlite", folder / "prompts.jsonl")
            one = (folder / "prompts.jsonl").read_text(encoding="utf-8").split("\n")[0]
            (folder / "one.jsonl").write_text(one + "\n", encoding="utf-8")
            command = [sys.executable, str(Path(__file__).with_name("inspect_calls.py"))]
            command += ["prompts.jsonl", url, str(given.concurrency), "inspect-logs"]
            measure([*command[:2], "one.jsonl", *command[3:]], folder)
            figures["Inspect AI, at once"] = against_ideal(measure(command, folder), n, 1)
        else:
            print("Inspect AI is not installed: pip install 'naisei[bench]'", file=sys.stderr)

    missed = []
    for who, found in figures.items():
        for what, value in found.items():
            bar = BARS.get(what) if who.startswith("naisei") else None
            bar = None if (who, what) in NO_BAR else bar
            over = bar is not None and value > bar
            missed += [f"{who}: {what}"] if over else []
            note = "" if bar is None else f"  (bar {bar:g}{', MISSED' if over else ''})"
            print(f"{who:22} {what:24} {value:9.2f}{note}")
    print(json.dumps({"figures": figures, "bars": BARS, "missed": missed}))
    return int(bool(missed))


if __name__ == "__main__":
    raise SystemExit(main())
