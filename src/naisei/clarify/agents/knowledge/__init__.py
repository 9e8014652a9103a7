"""Knowledge about a set of actions: names, cue words and modes, and cue scoring."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.clarify.agents.deeds import Deed
from naisei.clarify.schemas import Action, ActionSet
from naisei.japanese.morph import is_japanese, lemmas

__all__ = ["MODES", "Cues", "Item", "Knowledge", "contains", "knowledge_for", "mined"]


Lemmas = tuple[str, ...]


def contains(text: Lemmas, cue: Lemmas) -> bool:
    """Whether `cue` occurs in `text` as consecutive words."""
    width = len(cue)
    return any(text[i : i + width] == cue for i in range(len(text) - width + 1))


class Cues:
    """Rows of cue words; a text is scored against all rows at once.

    Rare cues weigh more: log(1 + rows / rows with the cue), scaled to 1 for a cue in a single
    row.
    """

    def __init__(self, rows: Sequence[Iterable[str]]) -> None:
        sets = [{c for word in row if (c := lemmas(word))} for row in rows]
        counts = Counter(cue for row in sets for cue in row)
        top = np.log1p(len(sets)) if sets else 1.0
        self._rows = len(sets)
        self._by_head: dict[str, list[tuple[Lemmas, float, list[int]]]] = {}
        for cue in sorted(counts):
            weight = float(np.log1p(len(sets) / counts[cue]) / top)
            held_by = [i for i, row in enumerate(sets) if cue in row]
            self._by_head.setdefault(cue[0], []).append((cue, weight, held_by))

    def score(self, text: str) -> npt.NDArray[np.float64]:
        """The summed weights of the distinct matching cues, shape (rows,), ≥ 0."""
        words = lemmas(text)
        out = np.zeros(self._rows)
        for head in set(words):
            for cue, weight, rows in self._by_head.get(head, ()):
                if contains(words, cue):
                    out[rows] += weight
        return out


#: Ways to handle an object. All but `bring` put it away.
MODES = ("bring", "tidy", "shelve", "chill", "heat", "discard")


@dataclass(frozen=True, slots=True)
class Item:
    """Knowledge about one action. Everything but `id` and `text` may be empty.

    names: names of the object. says: possible wordings of the need. words: content words that
    indicate it. mode: one of `MODES`.
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
        """Whether the action puts something away."""
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
    """The hand-written table for AmbigAct-40's actions, else knowledge mined from their texts."""
    found = _read("ambigact40")
    objects = found["objects"]
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
    return Knowledge("ambigact40", items, _mode_words())


def _mode_words() -> dict[str, tuple[str, ...]]:
    return {mode: tuple(words.split()) for mode, words in _read("ambigact40")["modes"].items()}


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
    """Derive knowledge from action texts: thing, verb and words."""
    items = tuple(_mined(action) for action in actions)
    return Knowledge("", items, _mode_words())


def _mined(action: Action) -> Item:
    deed, thing = Deed.of(action.text), _object(action.text)
    return Item(
        id=action.id,
        text=action.text,
        object=thing,
        mode=next((mode for mode, kind in _MODE_OF.items() if kind in deed.kinds), ""),
        names=(thing,) if thing else (),
        says=(action.text,),
        words=lemmas(action.text),
    )


#: Kind of verb → mode.
_MODE_OF = {"bring": "bring", "discard": "discard", "heat": "heat", "tidy": "away"}
_HEAD = re.compile(r"^[a-z]+ (?:away |up |back |off |on |out )?(?:the |a |an |some |my )?", re.I)
_PLACE = re.compile(r"\b(?:away|in|on|into|onto|to|at|from|back|up|off|for|out)\b.*$")


def _object(text: str) -> str:
    """The object in an action text: before を, or in English between verb and place."""
    if is_japanese(text):
        return text.partition("を")[0] if "を" in text else ""
    return _PLACE.sub("", _HEAD.sub("", text.lower())).strip(" .")
