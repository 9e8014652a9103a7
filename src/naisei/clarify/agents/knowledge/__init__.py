"""Knowledge about a set of actions: a table of names, cue words and modes, and their counts."""

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
    """Whether the words of `cue` follow one another somewhere in `text`."""
    width = len(cue)
    return any(text[i : i + width] == cue for i in range(len(text) - width + 1))


class Cues:
    """Several lists of cue words, one a row; a text is scored against all at once.

    Rare cues weigh more: log(1 + rows / rows with it), scaled so that a cue of a single row weighs
    1.
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
        """Shape (rows,): the weights of the different cues found, summed; ≥ 0."""
        words = lemmas(text)
        out = np.zeros(self._rows)
        for head in set(words):
            for cue, weight, rows in self._by_head.get(head, ()):
                if contains(words, cue):
                    out[rows] += weight
        return out


#: How an object is handled. All but `bring` put it out of the way.
MODES = ("bring", "tidy", "shelve", "chill", "heat", "discard")


@dataclass(frozen=True, slots=True)
class Item:
    """Knowledge about one action. Everything but `id` and `text` may be empty.

    names: names of the object. says: possible wordings of the need. words: content words that speak
    for it. mode: one of `MODES`.
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
    """Knowledge from the texts of any actions: thing, deed and words."""
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


#: The mode of a deed of some kind.
_MODE_OF = {"bring": "bring", "discard": "discard", "heat": "heat", "tidy": "away"}
_HEAD = re.compile(r"^[a-z]+ (?:away |up |back |off |on |out )?(?:the |a |an |some |my )?", re.I)
_PLACE = re.compile(r"\b(?:away|in|on|into|onto|to|at|from|back|up|off|for|out)\b.*$")


def _object(text: str) -> str:
    """The object of an action: before を; in English between verb and place."""
    if is_japanese(text):
        return text.partition("を")[0] if "を" in text else ""
    return _PLACE.sub("", _HEAD.sub("", text.lower())).strip(" .")
