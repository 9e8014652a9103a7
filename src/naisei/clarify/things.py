"""The things of the 40 actions: their names, and what an action does to its thing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from naisei.clarify.schemas import Action
from naisei.japanese.morph import is_japanese, normalise, tokens
from naisei.japanese.questions import words
from naisei.lengths import cached_text


@cache
def _things() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files(__package__) / "things.toml").read_text(encoding="utf-8"))


def names_of(thing: str, language: str) -> tuple[str, ...]:
    """Everyday names of a thing, given its Japanese name; empty if unknown."""
    return tuple(_things().get(thing, {}).get(language, ()))


def all_names(thing: str) -> tuple[str, ...]:
    """Every name of a thing, in Japanese and English."""
    row = _things().get(thing, {})
    return (*row.get("ja", ()), *row.get("en", ()), *row.get("also", ()))


@lru_cache(maxsize=256)
def name_words(thing: str) -> frozenset[str]:
    """The words of a thing's names, as written and in their dictionary forms."""
    return frozenset(w for n in all_names(thing) for w in (*words(n), *(t.form for t in tokens(n))))


def called(thing: str, by: str) -> str:
    """A thing's Japanese name as used by an `elder` or a `child`; "" if unknown."""
    return str(_things().get(thing, {}).get(by, ""))


def objects(text: str) -> tuple[str, ...]:
    """The things named in an action's text: 「タッパーをレンジに入れる」 → ("タッパー",)."""
    head, mark, _ = normalise(text).partition("を")
    return (head,) if mark else ()


@lru_cache(maxsize=512)
def thing_of(action: Action) -> str:
    """The Japanese name of an action's thing; empty if not one of these."""
    if is_japanese(action.text):
        return next((o for o in objects(action.text) if o in _things()), "")
    found = mentioned(action.text)
    return next(iter(found), "")


def all_known(actions: Iterable[Action]) -> bool:
    """Whether each action concerns one of these things, as in AmbigAct-40."""
    return all(map(thing_of, actions))


@cached_text(16384)
def mentioned(text: str) -> tuple[str, ...]:
    """The things that a text names, in text order; if two names start at one position, the longer
    one counts."""
    said = normalise(text).lower()
    pattern, things = _names(is_japanese(said))
    return tuple(dict.fromkeys(things[m[1]] for m in pattern.finditer(said)))


@cache
def _names(japanese: bool) -> tuple[re.Pattern[str], dict[str, str]]:
    """A regular expression for names, longest first, and a mapping from names to things."""
    things: dict[str, str] = {}
    for thing in sorted(_things()):
        for name in all_names(thing):
            if is_japanese(name) == japanese:
                things.setdefault(name.lower(), thing)
    body = "|".join(map(re.escape, sorted(things, key=len, reverse=True)))
    return re.compile(rf"(?<![ァ-ヶー])({body})" if japanese else rf"\b({body})s?\b"), things
