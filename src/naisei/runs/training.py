"""Training with the transformers `Trainer`: resumable after a kill, with a learning curve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from naisei.core import InputError
from naisei.files import check_place, output_error, write_atomically
from naisei.lang import say
from naisei.runs.charts import Chart, Point


def last_checkpoint(work: Path, digest: str) -> str | None:
    """Return the last checkpoint in the folder, if any. digest: digest of the training inputs.

    Raises:
        InputError: the folder belongs to another training.
    """
    known = work / "digest"
    if not known.is_file():
        check_place(known)
        write_atomically(known, digest)
    elif known.read_text("utf-8") != digest:
        raise InputError(
            say(
                "このフォルダーには、設定・データ・コードのどれかが違う学習の途中経過があります",
                "the folder holds a training with other settings, other data or other code",
            ),
            place=str(work),
            remedy=say(
                "別のフォルダーを選ぶか、これを削除してください",
                "choose another folder, or delete this one",
            ),
        )
    # The state is written last: without all of it a checkpoint is incomplete.
    states = work.glob("checkpoint-*/trainer_state.json")
    whole = [path.parent for path in states if _is_json(path)]
    return str(max(whole, key=lambda path: int(path.name.partition("-")[2]))) if whole else None


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text("utf-8"))
    except ValueError:
        return False
    return True


def run_trainer(trainer: Any, checkpoint: str | None, work: Path) -> int:
    """Train, from a checkpoint if there is one; return the number of steps.

    Raises:
        InputError: the disk is full.
    """
    try:
        return int(trainer.train(resume_from_checkpoint=checkpoint).global_step)
    except Exception:
        # For a full disk torch reports only a generic failure; this gives the cause.
        try:
            with NamedTemporaryFile(dir=work) as room:
                room.write(bytes(2**20))
        except OSError as error:
            raise output_error(error, work) from error
        raise


def draw_curve(
    work: Path, history: Sequence[dict[str, float]], lines: Mapping[str, str], *, title: str
) -> None:
    """Write `curve.svg` and `history.json`. lines: name → key in the trainer's history."""
    points = {
        name: [Point(row["step"], row[key]) for row in history if key in row]
        for name, key in lines.items()
    }
    chart = Chart(title, {name: line for name, line in points.items() if line})
    write_atomically(work / "curve.svg", chart.file())
    write_atomically(work / "history.json", json.dumps(history, indent=1) + "\n")
