"""`naisei clarify ablate`: the rows of Tables 2 and 3, as text, CSV and HTML."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from e2e.helpers import brain, rows, write_rows
from servers.openai_server import OpenAIServer

ROWS = ["full", "no-tur", "no-clarify", "no-both", "reflexion"]


def test_all_five_rows(naisei: Naisei, openai_server: Callable[..., OpenAIServer]) -> None:
    write_rows(Path("data.jsonl"), rows(8))
    server = openai_server(brain)
    model = f"openai-compatible:test@{server.url}"
    flags = ["clarify", "ablate", "--data", "data.jsonl", "--model", model]
    flags += ["--simulator", "rule", "--run-dir", "study", "--quiet"]
    done = naisei(*flags, "--json")
    assert done.code == 0, done.err
    found = done.result
    assert list(found["metrics"]) == ROWS and found["n"] == 40 and found["n_unscored"] == 0
    for name, metrics in found["metrics"].items():
        assert metrics["pass@5"] is not None and metrics["dpass@5"] <= metrics["pass@5"], name
        asks = name in ("full", "no-tur", "reflexion")
        assert (metrics["questions"] > 0) == asks
        reflects = name in ("full", "no-clarify", "reflexion")
        assert (metrics["tokens_reflection_all"] > 0) == reflects
        assert metrics["tokens_total_all"] > metrics["tokens_reflection_all"]
        assert ("reflector" in found["tokens"][name]) == reflects
    runs = {Path(r["path"]).name for r in json.loads(naisei("runs", "list", "study", "--json").out)}
    assert runs == set(ROWS)

    calls = server.calls
    again = naisei(*flags)  # from what is there
    assert again.code == 0 and server.calls == calls
    _check_tables(again.out, found["metrics"])


def _check_tables(out: str, said: dict[str, dict[str, float]]) -> None:
    """The same figures as text, as HTML and as CSV."""
    study = Path("study")
    pages = list(study.glob("*.html"))
    assert len(pages) == 1
    page = pages[0].read_text(encoding="utf-8")
    for name in [*ROWS, "tokens_total_success", "p (Holm)"]:
        assert name in out, name
        assert name in page, name
    tables = [_table(path) for path in study.glob("*.csv")]
    results = next(t for t in tables if "value" in t[0])
    shown = {(line["metric"], line["configuration"]): line for line in results}
    for name in ROWS:
        for metric in ("pass@3", "dpass@3", "tokens_total_success"):
            line = shown[metric, name]
            assert float(line["value"]) == pytest.approx(said[name][metric], abs=1e-12)
        line = shown["dpass@3", name]
        assert float(line["low"]) <= float(line["value"]) <= float(line["high"])
    paired = next(t for t in tables if "difference" in t[0])
    by_row = {(line["metric"], line["configuration"]): line for line in paired}
    for what in ("questions", "tokens_reflection_all"):
        difference = said["reflexion"][what] - said["full"][what]
        line = by_row[what, "reflexion"]
        assert float(line["difference"]) == pytest.approx(difference, abs=1e-9)


def _hopeless(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Never finds the wanted action, which is among the first five."""
    if schema is None:
        return "まだ分かりません。"
    action = max(schema["properties"]["action"]["enum"])
    return json.dumps({"thought": "", "choice": "execute", "action": action, "question": ""})


def test_what_no_configuration_has_is_told_with_its_reason(
    naisei: Naisei, openai_server: Callable[..., OpenAIServer]
) -> None:
    write_rows(Path("data.jsonl"), rows(3))
    model = f"openai-compatible:test@{openai_server(_hopeless).url}"
    flags = ["clarify", "ablate", "--data", "data.jsonl", "--model", model, "--trials", 1]
    done = naisei(*flags, "--rows", "full,reflexion", "--run-dir", "study", "--quiet")
    assert done.code == 0 and "no instance succeeded" in done.out, done.err
    page = Path("study/study.html").read_text(encoding="utf-8")
    assert "no instance succeeded" in page and "tokens_total_success" in page
    results = next(t for t in map(_table, Path("study").glob("*.csv")) if "value" in t[0])
    assert {"full", "reflexion"} == {
        line["configuration"] for line in results if line["metric"] == "tokens_total_all"
    }


def test_some_rows_of_an_agent_without_a_model(naisei: Naisei) -> None:
    write_rows(Path("data.jsonl"), rows(6))
    done = naisei("clarify", "ablate", "--data", "data.jsonl", "--agent", "random", "--json")
    assert done.code == 0 and list(done.result["metrics"]) == ["full", "no-clarify"]


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
