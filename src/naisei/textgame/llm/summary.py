"""What is worth keeping of old commands, by rule: one line for each kind of thing."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.textgame.llm.feedback import placed
from naisei.textgame.llm.history import Entry

__all__ = ["summarised"]


def summarised(entries: Sequence[Entry]) -> str:
    """The most important lines first: the end is what is cut where there is no room.

    What was read (the recipe), wrong and right places of things, other commands that earned
    points, the ways between rooms, commands that did no good.
    """
    right = [pair for e in entries if e.gained > 0 and (pair := placed(e.action))]
    wrong = [pair for e in entries if (pair := placed(e.action)) and pair not in right]
    others = [e for e in entries if placed(e.action) is None]
    parts = {
        "Read": [f"{action} → {answer}" for action, answer in _read(entries).items()],
        "Wrong places": [f"{thing}: not {place}" for thing, place in wrong],
        "Right places": [f"{thing}: {place}" for thing, place in right],
        "Points for": [e.action for e in others if e.gained > 0],
        "Ways": [f"{e.room}, {e.action}: {e.came_to}" for e in others if e.came_to != e.room],
        "No good": [e.action for e in others if e.gained <= 0 and e.word],
    }
    shown = [f"{name}: {'; '.join(dict.fromkeys(items))}" for name, items in parts.items() if items]
    return "\n".join([f"Summary of actions 0 to {entries[-1].number}", *shown])


def _read(entries: Sequence[Entry]) -> dict[str, str]:
    """The last answer to each command that reads something which says what is to be done."""
    return {
        e.action: e.answer
        for e in entries
        if e.action.startswith(("read ", "examine cookbook", "examine recipe"))
    }
