"""The bundled list of rooms, furniture and things, and where each thing belongs.

Data and card: `naisei/data/tidy_objects/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from naisei.textgame.make.grid import Split

__all__ = ["Furniture", "Thing", "furniture", "rooms", "things"]


@dataclass(frozen=True, slots=True)
class Furniture:
    """A place for things. open: things are put into it, not on it."""

    name: str
    room: str
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something that can lie about.

    name: without its article. plural: takes `some`. colours: whether it comes in colours.
    places: state (empty: none is named) → names of the furniture where it belongs then.
    """

    name: str
    kind: str
    split: str
    plural: bool
    colours: bool
    places: Mapping[str, tuple[str, ...]]


@cache
def furniture() -> Mapping[str, Furniture]:
    """Name → furniture, of all rooms."""
    return {
        name: Furniture(name, room, open=how == "in")
        for room, inside in _table("rooms.toml").items()
        for how in ("in", "on")
        for name in inside[how]
    }


@cache
def rooms() -> tuple[str, ...]:
    """The names of all rooms."""
    return tuple(_table("rooms.toml"))


@cache
def things(split: Split) -> tuple[Thing, ...]:
    """The things of a split; no other split has any of them."""
    return tuple(
        Thing(
            name=name.removeprefix("some "),
            kind=kind,
            split=split,
            plural=name.startswith("some "),
            colours=entry["colours"],
            places={state: tuple(places) for state, places in entry["places"].items()},
        )
        for kind, entry in _table("kinds.toml").items()
        for name in entry["things"][split]
    )


def _table(name: str) -> dict[str, Any]:
    text = (files("naisei.data") / "tidy_objects" / name).read_text(encoding="utf-8")
    return tomllib.loads(text)
