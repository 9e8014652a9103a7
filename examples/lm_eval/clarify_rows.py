"""Rows of `naisei_clarify`: the scene as agents see it, the action texts, the wanted action."""

from __future__ import annotations

from typing import Any

from datasets import Dataset

from naisei.clarify.data import load
from naisei.clarify.describe import scene_text


def rows(**options: Any) -> dict[str, Dataset]:
    """options: `data`, the data set's name (`ambigact40-hard`)."""
    found = load(str(options.get("data", "ambigact40-hard")), split="test")
    choices = [action.text for action in found.actions]
    places = {action.id: at for at, action in enumerate(found.actions)}
    listed = [
        {"id": one.id, "scene": scene_text(one.scene), "choices": choices, "gold": places[one.gold]}
        for one in found.instances
    ]
    return {"test": Dataset.from_list(listed)}
