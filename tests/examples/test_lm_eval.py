"""The task file for lm-evaluation-harness, evaluated by the harness itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from naisei.clarify.data import load

FOLDER = Path(__file__).parents[2] / "examples" / "lm_eval"


@pytest.mark.slow
def test_the_task_is_evaluated_with_our_rows() -> None:
    lm_eval = pytest.importorskip("lm_eval")
    tasks = pytest.importorskip("lm_eval.tasks").TaskManager(include_path=str(FOLDER))
    done = lm_eval.simple_evaluate(
        model="dummy", tasks=["naisei_clarify"], task_manager=tasks, limit=2, log_samples=True
    )
    found = load("ambigact40-hard", split="test")
    for sample, one in zip(done["samples"]["naisei_clarify"], found.instances, strict=False):
        assert sample["doc"]["id"] == one.id
        assert len(sample["doc"]["choices"]) == len(found.actions) == 40
        wanted = sample["doc"]["choices"][int(sample["target"])]
        assert wanted == found.actions.text(one.gold)
        assert one.scene.utterance in sample["arguments"][0][0]
