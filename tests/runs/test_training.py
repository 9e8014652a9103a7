"""Checkpoints of a training that was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.runs.training import last_checkpoint


@pytest.mark.parametrize("cut", ["", '{"best_metric": nu'])
def test_a_checkpoint_whose_state_was_cut_off_is_passed_over(tmp_path: Path, cut: str) -> None:
    assert last_checkpoint(tmp_path, "a") is None
    for step, state in ((2, "{}"), (10, cut)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path, "a") == str(tmp_path / "checkpoint-2")
    with pytest.raises(InputError):
        last_checkpoint(tmp_path, "b")
