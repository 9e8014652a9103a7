"""Finding and reading profiles: the shipped ones by id or name, a user's own by path."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from naisei.core import InputError
from naisei.director.profile import Character
from naisei.lang import say
from naisei.lengths import PROFILE, bounded
from naisei.text_files import read_text

__all__ = ["Character", "load_character", "parse_character", "shipped", "shipped_profile"]


@lru_cache(maxsize=1)
def shipped() -> tuple[Character, ...]:
    """The profiles that ship with the package, by id."""
    folder = files("naisei.data") / "characters"
    found = [
        parse_character(entry.read_text(encoding="utf-8"), place=entry.name)
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda character: character.id))


def shipped_profile(id: str) -> str:
    """The TOML text of a shipped character. Raises `FileNotFoundError` for an unknown id."""
    return (files("naisei.data") / "characters" / f"{id}.toml").read_text(encoding="utf-8")


def load_character(name: str | Path | Character) -> Character:
    """A profile by id (`yana`), display name (「やな」) or path of a TOML file.

    A `Character` is given back as it is.

    Raises:
        InputError: nothing has this name, or the file is no profile.
    """
    if isinstance(name, Character):
        return name
    if isinstance(name, str):
        if (known := _by_name().get(name)) is not None:
            return known
        if not name.endswith(".toml"):
            raise InputError(
                say(f"{name!r} というキャラクターはありません", f"unknown character {name!r}"),
                remedy=say(
                    ", ".join(c.id for c in shipped())
                    + " のどれか、または .toml ファイルを指定してください",
                    "use one of " + ", ".join(c.id for c in shipped()) + ", or a .toml file",
                ),
            )
    path = Path(name)
    text = read_text(path)
    return parse_character(bounded(text, PROFILE, place=str(path)), place=str(path))


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Character]:
    return {name: c for c in shipped() for name in (c.id, *c.names)}


def parse_character(text: str, *, place: str = "") -> Character:
    """A profile from the text of a TOML file.

    Raises:
        InputError: it is not TOML, or no profile; every fault is named with its key.
    """
    try:
        return Character.model_validate(_frozen(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            say(f"TOML として読めません: {error}", f"is not TOML: {error}"),
            place=place,
            remedy=say("その行の書き方を直してください", "mend the syntax there"),
        )
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'profile'}: {fault['msg']}"
            for fault in error.errors()
        )
        raise InputError(
            say(
                f"キャラクターのプロファイルとして読めません: {faults}",
                f"is no character profile: {faults}",
            ),
            place=place,
            remedy=say("同梱のプロファイルと見比べてください", "compare it with a shipped profile"),
        )


def _frozen(data: Any) -> Any:
    """TOML's arrays as tuples, which is what a strict frozen profile holds."""
    if isinstance(data, dict):
        return {key: _frozen(value) for key, value in data.items()}
    return tuple(map(_frozen, data)) if isinstance(data, list) else data
