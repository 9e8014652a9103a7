"""What is worth keeping of old commands, by rule: one line for each kind of thing."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.textgame.llm.feedback import RIGHT_PLACE, WRONG_PLACE, placed
from naisei.textgame.llm.history import Entry

__all__ = ["summarised"]


def summarised(entries: Sequence[Entry]) -> str:
    """The most important lines first: the end is what is cut where there is no room.

    Wrong and right places of things, as far as the player was told of them; other commands that
    earned points, where else things were put, the ways between rooms, commands that did no good.
    """
    told: dict[str, list[str]] = {RIGHT_PLACE: [], WRONG_PLACE: []}
    put: dict[str, str] = {}
    rest = []
    for entry in entries:
        if (pair := placed(entry.action)) is None or (entry.gained and not entry.word):
            rest.append(entry)
        elif entry.word in told:
            told[entry.word].append(": ".join(pair))
        else:
            put[pair[0]] = pair[1]
    parts = {
        "Wrong places": told[WRONG_PLACE],
        "Right places": told[RIGHT_PLACE],
        "Points for": [e.action for e in rest if e.gained > 0],
        "Put": [f"{thing}: {place}" for thing, place in put.items()],
        "Ways": [f"{e.room}, {e.action}: {e.came_to}" for e in rest if e.came_to != e.room],
        "No good": [e.action for e in rest if e.gained <= 0 and e.word],
    }
    shown = [f"{name}: {'; '.join(dict.fromkeys(items))}" for name, items in parts.items() if items]
    return "\n".join([f"Summary of actions 0 to {entries[-1].number}", *shown])
