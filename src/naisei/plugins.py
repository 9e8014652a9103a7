"""Plug-ins by entry points (memories, agents, players, embedders), and their settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei.core import InputError
from naisei.entries import entries, names
from naisei.lang import say
from naisei.text_files import json_of


def load(group: str, name: str, *, what: tuple[str, str], option: str = "") -> Any:
    """Load the object registered as `name`. what: the kind of object, in Japanese and English.

    Raises:
        InputError: no such name (the message lists known ones), or it cannot be imported.
    """
    found = entries(group).get(name)
    if found is None:
        raise InputError(
            say(f"'{name}' という{what[0]}はありません", f"unknown {what[1]} '{name}'"),
            place=option,
            remedy=say(
                f"使えるもの: {', '.join(names(group))}。ほかのものは、グループ '{group}' の"
                "エントリポイントで足せます",
                f"known: {', '.join(names(group))}; others are added by an "
                f"entry point in the group '{group}'",
            ),
        )
    try:
        return found.load()
    except Exception as error:  # a plug-in's bug is reported with its name
        raise InputError(
            say(
                f"{what[0]} '{name}' を読み込めません: {type(error).__name__}: {error}",
                f"{what[1]} '{name}' cannot be loaded: {type(error).__name__}: {error}",
            ),
            place=option,
            remedy=say(
                f"{found.value} が必要とするパッケージを入れてください",
                f"it comes from {found.value}; is everything that it needs installed?",
            ),
        ) from error


FLAG = "--agent-option"


class Options(BaseModel):
    """The settings of an agent: frozen, unknown ones refused. The base class has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def pairs(given: Sequence[str], place: str) -> dict[str, str]:
    """Parse words such as `depth=2` into key → value. place: the option they belong to.

    Raises:
        InputError: a word without a key or an equals sign, or a duplicate key.
    """
    out: dict[str, str] = {}
    for word in given:
        key, equals, value = (part.strip() for part in word.partition("="))
        if not (key and equals):
            raise InputError(
                say(
                    f"'{word}' は KEY=VALUE の形ではありません",
                    f"expected KEY=VALUE, not '{word}'",
                ),
                place=place,
                remedy=say(f"{place} KEY=VALUE と書いてください", f"write {place} KEY=VALUE"),
            )
        if key in out:
            raise InputError(
                say(f"'{key}' が二度指定されています", f"'{key}' is set twice"),
                place=place,
                remedy=say("どちらか一つにしてください", "leave one of them out"),
            )
        out[key] = value
    return out


def typed(model: type[BaseModel], given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Convert the settings to the types of `model`, as JSON; omitted ones stay omitted.

    Raises:
        InputError: an unknown name, or an invalid value.
    """
    try:
        # In lax mode: "2" is a whole number, "false" is False.
        return model.model_validate(dict(given)).model_dump(mode="json", exclude_unset=True)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        known = ", ".join(model.model_fields) or say("なし", "this agent has no settings")
        raise InputError(
            say(f"'{name}' という設定はありません", f"unknown setting '{name}'")
            if first["type"] == "extra_forbidden"
            else f"{first['msg'].removeprefix('Value error, ')}: {first['input']!r}",
            place=f"{FLAG} {name}",
            remedy=say(f"使えるもの: {known}", f"known: {known}"),
        ) from error


def untyped(given: Mapping[str, str]) -> dict[str, JsonValue]:
    """The settings of an agent that declares none: values that are valid JSON are parsed, others
    stay text."""
    out: dict[str, JsonValue] = {}
    for key, value in given.items():
        try:
            out[key] = json_of(value)
        except ValueError:
            out[key] = value
    return out


@contextmanager
def needs_extra(extra: str = "") -> Iterator[None]:
    """A context that turns a failed import into an `InputError` naming the extra, or, without one,
    the full package (`naisei-core` is a part)."""
    try:
        yield
    except ImportError as error:
        told = say(f"入っていないパッケージです: {error}", f"a package is missing: {error}")
        named = f'"naisei[{extra}]"' if extra else "naisei"
        raise InputError(told, remedy=f"pip install {named}") from error
