"""What can be done with a run: look, resume within budgets, compare, export, report."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import Alone, Done, Naisei
from e2e.helpers import brain, lines, rows, run_flags, write_rows
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]

PARTS = ("metrics", "intervals", "n", "n_unscored", "n_pending", "tokens", "stopped")


@pytest.fixture
def server(openai_server: Serve) -> OpenAIServer:
    return openai_server(brain)


@pytest.fixture
def whole(naisei: Naisei, server: OpenAIServer) -> Done:
    """A run in three roles, in the folder `whole`."""
    data = write_rows(Path("data.jsonl"), rows(10))
    done = naisei(*run_flags(data, server.url, Path("whole")))
    assert done.code == 0, done.err
    return done


def test_the_result_object_is_the_last_line_and_all_of_stdout(
    alone: Alone, server: OpenAIServer
) -> None:
    data = write_rows(Path("data.jsonl"), rows(4))
    flags = [f for f in run_flags(data, server.url, Path("run")) if f != "--quiet"]
    done = alone(*flags)
    assert done.code == 0 and len(done.out.splitlines()) == 1
    found = done.result
    assert {"metrics", "n", "n_unscored", "tokens", "run_dir"} <= set(found)
    assert found["run_dir"] == "run" and found["n"] == 4
    assert {"pass@1", "pass@3", "dpass@3", "pass^1"} <= set(found["metrics"])
    assert "4/4" in done.err and "pass@3" in done.err
    assert "NaN" not in done.out


def test_without_json_the_table_is_on_stdout(naisei: Naisei, server: OpenAIServer) -> None:
    data = write_rows(Path("data.jsonl"), rows(4))
    flags = [f for f in run_flags(data, server.url, Path("run")) if f != "--json"]
    done = naisei(*flags)
    assert "pass@3" in done.out and "Report: run/report.html" in done.out
    assert "simulator llm" in done.out


def test_look_at_a_run(naisei: Naisei, whole: Done) -> None:
    (found,) = json.loads(naisei("runs", "list", ".", "--json").out)
    assert (found["state"], found["scored"]) == ("done", 10)
    shown = json.loads(naisei("runs", "show", "whole", "--json").out)
    assert shown["metrics"] == whole.result["metrics"]
    assert "pass@3" in naisei("runs", "show", "whole").out
    raw = naisei("runs", "show", "whole", "--episode", "i001", "--step", "0", "--raw").out
    ((sent,),) = [step["exchanges"] for step in json.loads(raw)]
    properties = sent["request"]["response_format"]["json_schema"]["schema"]["properties"]
    assert list(properties) == ["thought", "choice", "question", "action"]
    assert sent["reply"]["usage"]["prompt_tokens"] > 0
    talk = naisei("runs", "show", "whole", "--episode", "i001").out
    assert "2件目の用事" in talk and "agent" in talk


def test_export(naisei: Naisei, whole: Done) -> None:
    exported = [json.loads(line) for line in naisei("runs", "export", "whole").out.splitlines()]
    results = {row["instance"]: row["result"] for row in lines(Path("whole/results.jsonl"))}
    assert len(exported) == 10
    assert all(row["result"] == results[row["instance"]] for row in exported)
    table = list(
        csv.DictReader(io.StringIO(naisei("runs", "export", "whole", "--format", "csv").out))
    )
    assert {row["instance"] for row in table} == set(results)
    done = naisei("runs", "export", "whole", "--events", "--output", "all.jsonl", "--json")
    assert done.code == 0 and done.result["episodes"] == 10
    assert "2件目の用事" in Path("all.jsonl").read_text(encoding="utf-8")


def test_report(naisei: Naisei, whole: Done) -> None:
    Path("whole/report.html").unlink()
    assert naisei("runs", "report", "whole").code == 0
    page = Path("whole/report.html").read_text(encoding="utf-8")
    assert "pass@3" in page and "simulator llm" in page and "<script" not in page
    assert "| pass@3 |" in naisei("runs", "report", "whole", "--format", "markdown").out


def test_compare(naisei: Naisei, whole: Done, server: OpenAIServer) -> None:
    flags = run_flags(Path("data.jsonl"), server.url, Path("other"))
    other = naisei(*flags, "--no-clarify")
    found = json.loads(naisei("runs", "compare", "whole", "other", "--json").out)
    said = json.dumps(found)
    assert other.code == 0 and "pass@3" in said and "dpass@3" in said
    text = naisei("runs", "compare", "whole", "other").out
    assert "whole" in text and "other" in text
    assert "pass@3" in naisei("runs", "compare", "whole", "other", "--csv").out


def test_a_token_budget_stops_and_resumes_to_the_same_result(
    naisei: Naisei, whole: Done, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = run_flags(Path("data.jsonl"), server.url, Path("run"))
    total = sum(role["total"] for role in whole.result["tokens"].values())
    stopped = naisei(*flags, "--concurrency", 2, "--max-tokens", total // 3)
    assert stopped.code == 3
    assert stopped.result["stopped"].startswith("--max-tokens")
    assert stopped.result["n_pending"] > 0 and "naisei runs resume run" in stopped.err
    spent = sum(role["total"] for role in stopped.result["tokens"].values())
    assert total // 3 <= spent < total * 0.6
    (listed,) = [
        r for r in json.loads(naisei("runs", "list", ".", "--json").out) if "run" in r["path"]
    ]
    assert listed["state"] == "stopped"

    again = naisei("runs", "resume", "run", "--max-tokens", total // 2, "--json", "--quiet")
    assert again.code == 3
    last = naisei("runs", "resume", "run", "--json", "--quiet")
    assert last.code == 0, last.err
    assert {p: last.result[p] for p in PARTS} == {p: whole.result[p] for p in PARTS}
    assert Path("run/results.jsonl").read_bytes() == Path("whole/results.jsonl").read_bytes()


def test_a_time_budget_stops_and_the_same_command_goes_on(
    naisei: Naisei, whole: Done, openai_server: Serve
) -> None:
    slow = openai_server(brain, latency=0.1)
    flags = run_flags(Path("data.jsonl"), slow.url, Path("run"))
    stopped = naisei(*flags, "--concurrency", 2, "--max-minutes", 0.02)
    assert stopped.code == 3 and stopped.result["stopped"].startswith("--max-minutes")
    last = naisei(*flags)
    assert last.code == 0
    assert {p: last.result[p] for p in PARTS} == {p: whole.result[p] for p in PARTS}


def test_dollars_without_a_price_are_refused(naisei: Naisei, server: OpenAIServer) -> None:
    data = write_rows(Path("data.jsonl"), rows(3))
    done = naisei(*run_flags(data, server.url, Path("run")), "--max-usd", 1)
    assert done.code == 2 and "--max-usd" in done.err and "--max-tokens" in done.err


def test_several_agents_in_one_table(naisei: Naisei) -> None:
    write_rows(Path("data.jsonl"), rows(6))
    flags = ["--agent", "random", "--agent", "embed", "--embedder", "ngram", "--json", "--quiet"]
    done = naisei("clarify", "run", "--data", "data.jsonl", *flags, "--run-dir", "study")
    assert done.code == 0, done.err
    assert set(done.result["metrics"]) == {"random", "embed"}
    assert done.result["n"] == 12 and set(done.result["runs"]) == {"random", "embed"}
    assert len(json.loads(naisei("runs", "list", "study", "--json").out)) == 2
