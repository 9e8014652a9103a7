"""From flags to a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from naisei.core import InputError
from naisei.intent.cli.flags import Behaviour, Models, Person
from naisei.intent.config import AssistConfig
from naisei.intent.contacts import Contacts, load_contacts
from naisei.intent.places import place
from naisei.intent.profile import Profile
from naisei.intent.rules import Rules, Setting
from naisei.intent.schemas import Extended
from naisei.intent.thresholds import Thresholds
from naisei.intent.toml_files import read_model
from naisei.lang import language, say

__all__ = ["CONTACTS", "config_of"]

#: Looked for beside the index's own files where no other is named.
CONTACTS = "contacts.toml"
_NAMES = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")


def config_of(index: Path, behaviour: Behaviour, models: Models, person: Person) -> AssistConfig:
    """Raises `InputError` for a threshold, file or name that cannot be."""
    place("feedback", person.user, option="--user")
    named = models.named
    rules = Rules(
        budget=behaviour.budget,
        k=behaviour.k,
        unsupported=behaviour.unsupported,
        thresholds=_thresholds(behaviour),
        language=behaviour.talk or language(),
        roles=frozenset(named),  # type: ignore[arg-type]
    )
    profile = read_model(person.profile, Profile, what="profile") if person.profile else Profile()
    setting = Setting(rules=rules, profile=profile, contacts=_contacts(index, behaviour.contacts))
    return AssistConfig(
        index=str(index.resolve()),
        mode=behaviour.mode,
        setting=setting,
        user=person.user,
        models=named,
    )


def _contacts(index: Path, given: Path | None) -> Contacts:
    if given is not None:
        return load_contacts(given)
    beside = index / CONTACTS
    return load_contacts(beside) if beside.is_file() else Contacts()


def _thresholds(behaviour: Behaviour) -> Thresholds:
    given: dict[str, Any] = {}
    for pair in behaviour.threshold or ():
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not sign or name not in _NAMES:
            raise InputError(
                say(f"{pair!r} はしきい値ではありません", f"{pair!r} is no threshold"),
                place="--threshold",
                remedy=say(
                    f"名前=1〜5 と書いてください。名前: {', '.join(_NAMES)}",
                    f"write NAME=1..5; names: {', '.join(_NAMES)}",
                ),
            )
        given[name] = value
    try:
        return Thresholds(
            **given, extended=_extended(behaviour.extended), ask_profile=behaviour.ask_profile
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{name}: {first['msg']}",
            place="--threshold",
            remedy=say("1〜5 の整数にしてください", "give a whole number, 1 to 5"),
        ) from error


def _extended(given: str) -> frozenset[Any]:
    names: Sequence[str] = [n.strip() for n in given.split(",") if n.strip() not in ("", "none")]
    if unknown := [n for n in names if n not in get_args(Extended)]:
        raise InputError(
            say(f"{unknown[0]!r} という場合はありません", f"no case is called {unknown[0]!r}"),
            place="--extended",
            remedy=say(
                f"{', '.join(get_args(Extended))} か none です",
                f"use {', '.join(get_args(Extended))}, or none",
            ),
        )
    return frozenset(names)
