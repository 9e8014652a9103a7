"""The fixed questions of the audit, filled in for an instance."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from naisei.clarify.offence import objects
from naisei.clarify.schemas import ActionSet, Instance
from naisei.clarify.simulator.knowledge import is_known
from naisei.core import fingerprint
from naisei.japanese.normal import normalise

__all__ = ["CONTAINERS", "Kind", "Probe", "battery_digest", "conversations", "probes"]

Kind = Literal["polar", "open", "useless", "presence", "outright", "container", "again"]

#: Containers asked about, and how a scene may call them.
CONTAINERS = {
    "ja": ("コップ", "グラス", "ペットボトル", "水筒", "タッパー"),
    "en": ("cup", "glass", "bottle", "flask", "container"),
}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of the audit for one instance.

    truth: `yes`, `no`, `maybe`, or empty where nothing is known. of: for `again`, the place
    of the question asked before. container, expects: for `container`, which one, and what
    a yes would mean (`empty` or `full`).
    """

    kind: Kind
    question: str
    truth: str = ""
    of: int = -1
    container: str = ""
    expects: str = ""


@cache
def _battery() -> list[dict[str, Any]]:
    text = (files("naisei.clarify.audit") / "battery.toml").read_text(encoding="utf-8")
    loaded: list[dict[str, Any]] = tomllib.loads(text)["conversation"]
    return loaded


def battery_digest() -> str:
    """Changes whenever the battery does."""
    return fingerprint(_battery())


def conversations(actions: ActionSet) -> tuple[int, ...]:
    """The conversations that apply to an action set, by their numbers in the battery."""
    known = is_known(actions)
    return tuple(n for n, c in enumerate(_battery()) if known or "set" not in c)


def probes(number: int, instance: Instance, actions: ActionSet) -> tuple[Probe, ...]:
    """The questions of a conversation; those that cannot be put to the instance are left out."""
    language = instance.scene.language
    named = objects(actions.text(instance.gold)) if language == "ja" else ()
    thing = named[0] if named else ""
    container = _container(instance)
    found: list[Probe] = []
    for q in _battery()[number]["question"]:
        text: str = q[language]
        if ("$object" in text and not thing) or ("$container" in text and not container):
            continue
        found.append(
            Probe(
                q["kind"],
                text.replace("$object", thing).replace("$container", container),
                _truth(q, instance.gold),
                q.get("of", -1),
                container if q["kind"] == "container" else "",
                q.get("expects", ""),
            )
        )
    return tuple(found)


def _truth(question: dict[str, Any], gold: int) -> str:
    if "yes" not in question:
        return ""
    if gold in question["yes"]:
        return "yes"
    return "maybe" if gold in question["maybe"] else "no"


def _container(instance: Instance) -> str:
    """The first container that the scene shows, hands first."""
    user = instance.scene.user
    seen = [*user.holding, *user.reach]
    seen += [thing for things in instance.scene.surroundings.values() for thing in things]
    for thing in seen:
        for name in CONTAINERS[instance.scene.language]:
            if name in normalise(thing).lower():
                return name
    return ""
