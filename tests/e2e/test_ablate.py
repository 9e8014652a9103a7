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
    for name in [*ROWS, "Δ TUR − Reflexion", "tokens_total_success", "p (Holm)"]:
        assert name in out, name
        assert name in page, name
    tables = {path.stem: _table(path) for path in study.glob("*.csv")}
    success = next(t for t in tables.values() if "pass@5 low" in t[0])
    by_row = {line["configuration"]: line for line in success}
    assert list(by_row) == ROWS
    for name, line in by_row.items():
        assert float(line["pass@3"]) == pytest.approx(said[name]["pass@3"], abs=1e-12)
        assert float(line["dpass@3 low"]) <= float(line["dpass@3"]) <= float(line["dpass@3 high"])
    tokens = next(t for t in tables.values() if "tokens_total_all" in t[0])
    spent = {line["configuration"]: line for line in tokens}
    for what in ("tokens_reflection_all", "tokens_total_success"):
        difference = said["full"][what] - said["reflexion"][what]
        assert float(spent["Δ TUR − Reflexion"][what]) == pytest.approx(difference, abs=1e-9)


def _hopeless(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Never finds the wanted action, which is among the first five."""
    if schema is None:
        return "まだ分かりません。"
    action = max(schema["properties"]["action"]["enum"])
    return json.dumps({"thought": "", "choice": "execute", "action": action, "question": ""})


def test_the_token_table_stays_where_nothing_is_solved(
    naisei: Naisei, openai_server: Callable[..., OpenAIServer]
) -> None:
    write_rows(Path("data.jsonl"), rows(3))
    model = f"openai-compatible:test@{openai_server(_hopeless).url}"
    flags = ["clarify", "ablate", "--data", "data.jsonl", "--model", model, "--trials", 1]
    done = naisei(*flags, "--rows", "full,reflexion", "--run-dir", "study", "--quiet")
    assert done.code == 0 and "no instance succeeded" in done.out, done.err
    assert "no instance succeeded" in Path("study/study.html").read_text(encoding="utf-8")
    tables = map(_table, Path("study").glob("*.csv"))
    (tokens,) = (t for t in tables if "tokens_total_all" in t[0])
    for line in tokens:
        assert line["tokens_total_success"] == ""
        assert line["reason"].startswith("no instance succeeded")
        assert line["tokens_total_all"] != ""


def test_some_rows_of_an_agent_without_a_model(naisei: Naisei) -> None:
    write_rows(Path("data.jsonl"), rows(6))
    done = naisei("clarify", "ablate", "--data", "data.jsonl", "--agent", "random", "--json")
    assert done.code == 0 and list(done.result["metrics"]) == ["full", "no-clarify"]


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
