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
from naisei.core import InputError

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


def test_a_bad_reply_is_one_unscored_sample(doors: Any, tmp_path: Path) -> None:
    inspect, models = import_module("inspect_ai"), import_module("inspect_ai.model")
    said = json.dumps({"thought": "", "choice": "execute", "action": 3, "question": ""})
    first: list[str] = []

    def answer(messages: Any, *_: Any) -> Any:
        first.append(messages[1].text)  # the scene
        text = "no JSON" if messages[1].text == first[0] else said
        output = models.ModelOutput.from_content("mockllm/model", text)
        output.usage = models.ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    (log,) = inspect.eval(
        doors.clarify(memory="none", limit=3, trials=1),
        model=models.get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(tmp_path),
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    for sample in log.samples:
        assert sample.input != sample.id and sample.target and sample.output.completion
    scored = [
        any(not math.isnan(value) for value in sample.scores["_metrics"].value.values())
        for sample in log.samples
    ]
    failed = [bool(sample.metadata["failure"]) for sample in log.samples]
    assert sum(failed) == 1 and scored == [not each for each in failed]
    with pytest.raises(InputError, match="trails"):
        doors.clarify(trails=1)


def test_a_run_as_a_log(doors: Any, naisei: Naisei, tmp_path: Path) -> None:
    ours = run(
        ClarifyConfig(agent="random", limit=3), RunOptions(quiet=True), run_dir=tmp_path / "r"
    )
    code, out, err = naisei("runs", "export", tmp_path / "r", "--format", "inspect")
    assert code == 0, err
    back = doors.read_log(Path(out.strip()))
    assert [row.result for row, _ in back] == [row.result for row in ours.outcome.rows]
    assert all(events[0]["kind"] for _, events in back)
    log = import_module("inspect_ai.log").read_eval_log(out.strip())
    for sample in log.samples:
        assert sample.input != sample.id and sample.target and sample.output.completion
        assert sample.scores["naisei"].value
