"""Inspect AI: scores are ours, and logs go both ways."""

from __future__ import annotations

import json
import math
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.clarify import ClarifyConfig, RunOptions, run

pytest.importorskip("inspect_ai")


@pytest.fixture
def doors() -> Any:
    return import_module("naisei.cli.inspect_ai")


def test_scores_are_ours(doors: Any, tmp_path: Path) -> None:
    given: dict[str, Any] = {"agent": "bayes", "limit": 4, "embedder": "ngram"}
    inspect = import_module("inspect_ai")
    (log,) = inspect.eval(
        doors.clarify(**given), model="mockllm/model", log_dir=str(tmp_path), display="none"
    )
    assert log.status == "success", log.error
    theirs = {s.name: next(iter(s.metrics.values())).value for s in log.results.scores}
    ours = run(ClarifyConfig(**given), RunOptions(quiet=True), run_dir=tmp_path / "run")
    for metric in ours.summary.metrics:
        same = math.isclose(theirs[metric.name], metric.value)
        assert same or (math.isnan(metric.value) and math.isnan(theirs[metric.name])), metric
    back = doors.read_log(Path(log.location))
    results = {row.where: row.result for row, _ in back}
    assert results == {row.where: row.result for row in ours.outcome.rows}
    assert all(events for _, events in back)


def test_models_of_inspect_answer_our_flow(doors: Any, tmp_path: Path) -> None:
    """Inspect's model plays the agent: it executes at once, an action of the list."""
    inspect, models = import_module("inspect_ai"), import_module("inspect_ai.model")
    said = json.dumps({"thought": "", "choice": "execute", "action": 3, "question": ""})

    def answer(*_: Any) -> Any:
        output = models.ModelOutput.from_content("mockllm/model", said)
        # Else it counts with a vocabulary from the network.
        output.usage = models.ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    (log,) = inspect.eval(
        doors.clarify(agent="llm", memory="none", limit=2, rules={"trials": 1}),
        model=models.get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    kinds = [event.event for sample in log.samples for event in sample.events]
    assert kinds.count("model") == 2
    trials = [t for row, _ in doors.read_log(Path(log.location)) for t in row.result["trials"]]
    assert [trial["action"] for trial in trials] == [3, 3]


def test_a_run_as_a_log(doors: Any, naisei: Naisei, tmp_path: Path) -> None:
    ours = run(
        ClarifyConfig(agent="random", limit=3), RunOptions(quiet=True), run_dir=tmp_path / "r"
    )
    code, out, err = naisei("runs", "export", tmp_path / "r", "--format", "inspect")
    assert code == 0, err
    back = doors.read_log(Path(out.strip()))
    assert [row.result for row, _ in back] == [row.result for row in ours.outcome.rows]
    assert all(events[0]["kind"] for _, events in back)
