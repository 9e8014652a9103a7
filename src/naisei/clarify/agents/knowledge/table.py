"""The knowledge table of a set of actions: written by hand, or mined from the actions' texts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from naisei.clarify.schemas import ActionSet
from naisei.japanese.morph import lemmas

__all__ = ["MODES", "Item", "Knowledge", "knowledge_for", "mined"]

#: How an object is handled. All but `bring` put it out of the way.
MODES = ("bring", "tidy", "shelve", "chill", "heat", "discard")


@dataclass(frozen=True, slots=True)
class Item:
    """What is known about one action. Everything but `id` and `text` may be empty.

    names: names of the object. says: how someone who wants it might put the need.
    words: content words that speak for it. mode: one of `MODES`.
    """

    id: int
    text: str
    object: str = ""
    mode: str = ""
    names: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def put_away(self) -> bool:
        """Whether it takes something out of the way."""
        return self.mode not in ("", "bring", "heat")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """One item per action, in the order of the action set. table: its name, or empty if mined.

    mode_words: mode → its cue words.
    """

    table: str
    items: tuple[Item, ...]
    mode_words: dict[str, tuple[str, ...]]


@lru_cache(maxsize=8)
def knowledge_for(actions: ActionSet) -> Knowledge:
    """The hand-written table where the actions are AmbigAct-40's, else what their texts tell."""
    found = _read("ambigact40")
    objects, modes = found["objects"], found["modes"]
    rows = {row["id"]: row for row in found["action"]}
    if set(actions.ids) != set(rows) or not _same_objects(actions, rows, objects):
        return mined(actions)
    items = tuple(
        Item(
            id=action.id,
            text=action.text,
            object=row["object"],
            mode=row["mode"],
            names=tuple(objects[row["object"]]),
            says=tuple(row["says"]),
            words=(*row["words"].split(), *row["en"].split()),
        )
        for action in actions
        for row in (rows[action.id],)
    )
    mode_words = {mode: tuple(words.split()) for mode, words in modes.items()}
    return Knowledge("ambigact40", items, mode_words)


def _read(name: str) -> dict[str, Any]:
    source = files("naisei.clarify.agents.knowledge") / f"{name}.toml"
    return tomllib.loads(source.read_text(encoding="utf-8"))


def _same_objects(
    actions: ActionSet, rows: dict[int, dict[str, Any]], objects: dict[str, list[str]]
) -> bool:
    """Whether each action names the object that the table expects under its id."""
    return all(
        any(name.lower() in action.text.lower() for name in objects[rows[action.id]["object"]])
        for action in actions
    )


def mined(actions: ActionSet) -> Knowledge:
    """Knowledge of any set of actions: their texts, and the words in them."""
    items = tuple(Item(id=a.id, text=a.text, says=(a.text,), words=lemmas(a.text)) for a in actions)
    return Knowledge("", items, {})
