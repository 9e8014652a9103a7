"""The audit's questions: a fixed battery, and questions generated from an instance's facts.

Forms of the latter: one named thing, two or three things, a clause and its negation, what, why.
Each has three punctuations and several phrasings, selected by instance; the truth follows from the
wish.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import ActionSet, Facts, Instance
from naisei.clarify.simulator.voice import attributive, pick
from naisei.clarify.things import all_known, mentioned, names_of, objects, thing_of
from naisei.core import fingerprint
from naisei.japanese.morph import normalise


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of the audit for one instance.

    kind: a kind of the battery, or a form of fact questions. of: for `again`, the index of the
    earlier question. container, expects: for `container`, which one, and what a yes would mean
    (`empty` or `full`). truth: for fact questions, `yes`, `no`, `neither`, `open`, or the index of
    the true alternative, from 0; empty for the battery. sides: the alternatives.
    """

    kind: str
    question: str
    of: int = -1
    container: str = ""
    expects: str = ""
    truth: str = ""
    sides: tuple[str, ...] = ()


#: Container → its names in scenes.
CONTAINERS = {
    "ja": ("コップ", "グラス", "ペットボトル", "水筒", "タッパー"),
    "en": ("cup", "glass", "bottle", "flask", "container"),
}
#: First number of the conversations about an instance's facts, one for each of `FORMS`.
FROM_FACTS = 100
FORMS = ("named", "either-or", "three-way", "which", "polar", "negative", "what", "why")
_WAYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ja": {
        "named": ("{}のことですか", "{}の話でしょうか", "もしかして{}のほうですか", "{}かな"),
        "either-or": (
            "{}のほうですか、{}のほうですか",
            "{}ですか、それとも{}ですか",
            "えっと、{}の話ですか。それとも{}の話でしょうか",
            "{0}か{1}かで言うと、{0}ですか、{1}ですか",
            "{}ですか？{}ですか",
        ),
        "clauses": ("{}のですか、それとも{}のですか", "{}んですか、{}んですか"),
        "three-way": (
            "{}、{}、それとも{}ですか",
            "{}ですか、{}ですか、{}ですか",
            "{}と{}と{}のうち、どれのことですか",
        ),
        "which": (
            "{}と{}ならどちらですか",
            "{}と{}では、どっちの話ですか",
            "{}か{}か、どちらでしょう",
        ),
        "polar": ("{}のですか", "いま、{}のでしょうか", "もしかして{}んですか"),
        "negative": ("{}わけではないのですか", "{}わけではないんでしょうか"),
        "what": ("それは何のためですか", "これから何をするおつもりですか", "いまどんな様子ですか"),
        "why": (
            "どうしてそう思ったんですか",
            "何かきっかけがあったのでしょうか",
            "なぜなんでしょう",
        ),
    },
    "en": {
        "named": ("Is it about the {}", "Do you mean the {}", "The {}, then"),
        "either-or": ("Is it the {} or the {}", "Do you mean the {}, or rather the {}"),
        "clauses": ("Is it that {}, or that {}",),
        "three-way": ("Is it the {}, the {} or the {}",),
        "which": ("Which is it, the {} or the {}",),
        "polar": ("Is it so that {}", "Would you say that {}"),
        "negative": ("Isn't it so that {}",),
        "what": ("What is it for", "What are you about to do"),
        "why": ("Why is that", "What made you say so"),
    },
}
#: Forms that name visible things as the scene does.
_PRINTED = ("three-way", "which")
_ENDS = {"ja": ("？", "。", ""), "en": ("?", "?", "?")}


@cache
def _battery() -> list[dict[str, Any]]:
    text = (files(__package__) / "battery.toml").read_text(encoding="utf-8")
    loaded: list[dict[str, Any]] = tomllib.loads(text)["conversation"]
    return loaded


def battery_digest() -> str:
    """The digest of the battery and of the questions about facts."""
    return fingerprint([_battery(), _WAYS, _PRINTED, _ENDS])


def conversations(actions: ActionSet) -> tuple[int, ...]:
    """The numbers of the conversations that apply to an action set."""
    known = all_known(actions)
    of_battery = tuple(n for n, c in enumerate(_battery()) if known or "set" not in c)
    return of_battery + tuple(FROM_FACTS + n for n in range(len(FORMS)))


def probes(number: int, instance: Instance, actions: ActionSet) -> tuple[Probe, ...]:
    """The questions of a conversation that apply to the instance."""
    language = instance.scene.language
    if number >= FROM_FACTS:
        return tuple(_from_facts(FORMS[number - FROM_FACTS], instance, actions))
    named = objects(actions.text(instance.gold)) if language == "ja" else ()
    filled = {"$object": named[0] if named else "", "$container": _container(instance)}
    found: list[Probe] = []
    for q in _battery()[number]["question"]:
        text: str = q[language]
        if any(mark in text and not word for mark, word in filled.items()):
            continue
        for mark, word in filled.items():
            text = text.replace(mark, word)
        container = filled["$container"] if q["kind"] == "container" else ""
        found.append(Probe(q["kind"], text, q.get("of", -1), container, q.get("expects", "")))
    return tuple(found)


def _container(instance: Instance) -> str:
    """The first visible container; those in hand come first."""
    names = CONTAINERS[instance.scene.language]
    shown = (normalise(thing).lower() for thing in instance.scene.entries)
    return next((name for thing in shown for name in names if name in thing), "")


def _from_facts(form: str, instance: Instance, actions: ActionSet) -> Iterator[Probe]:
    """The questions of a form; none without facts, or with too few things."""
    if instance.facts is None:
        return
    language = instance.scene.language
    for number, (question, truth, sides) in enumerate(_made(form, instance, actions)):
        asked = question.rstrip("？。?") + _ENDS[language][(number + len(instance.id)) % 3]
        if broken_rule(asked, actions) is None:
            yield Probe(form, asked, truth=truth, sides=sides)


#: A question without its ending, its truth, and the alternatives.
_Made = tuple[str, str, tuple[str, ...]]


def _made(form: str, instance: Instance, actions: ActionSet) -> Iterator[_Made]:
    facts, ways = instance.facts, _WAYS[instance.scene.language]
    assert facts is not None
    if form in ("what", "why"):
        yield from ((way, "open", ()) for way in ways[form])
        return
    if form in ("polar", "negative"):
        yield from _of_clauses(form, ways[form], facts)
        return
    things = {a.id: thing_of(a) for a in actions}
    own, wanted = things[instance.gold], {things[a] for a in instance.wanted}
    near = dict.fromkeys(things[a] for a in (*facts.no, *instance.plausible))
    others = [t for t in near if t and t not in wanted]
    shown = _entry_of_thing(instance) if form in _PRINTED else {}
    language = instance.scene.language
    name = {t: shown.get(t) or names_of(t, language)[0] for t in (own, *others) if t}
    for way, offered in _of_things(form, ways[form], own, others):
        sides = tuple(name[t] for t in offered)
        if form == "named":
            yield way.format(*sides), "yes" if offered == [own] else "no", ()
        else:
            at = str(offered.index(own)) if own in offered else "neither"
            yield way.format(*sides), at, sides
    if form == "either-or":
        yield from _of_two_clauses(ways["clauses"], facts)


def _of_things(
    form: str, ways: Sequence[str], own: str, others: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield phrasings with the things that they offer."""
    if form == "named":
        yield from ((way, [own]) for way in ways[:2] if own)
        yield from ((pick(ways, t), [t]) for t in others[:3])
    elif own and form == "three-way" and len(others) > 1:
        for at in range(3):
            offered = [others[0], others[1]]
            offered.insert(at, own)
            yield ways[at % len(ways)], offered
    elif own and form == "which":
        for at, other in enumerate(others[:2]):
            yield pick(ways, other + own), [own, other] if at else [other, own]
    elif form == "either-or":
        for at, other in enumerate(others[:3] if own else ()):
            yield pick(ways, own + other), [own, other] if at % 2 else [other, own]
        yield from ((pick(ways, a + b), [a, b]) for a, b in pairwise(others[:3]))


def _of_two_clauses(ways: Sequence[str], facts: Facts) -> Iterator[_Made]:
    clauses = list(zip(facts.true, facts.false, strict=False))[:2]
    for at, (so, not_so) in enumerate(clauses):
        pair = (so, not_so) if at else (not_so, so)
        if not any(c.endswith("だ") for c in pair):
            yield pick(ways, so).format(*pair), str(pair.index(so)), pair


def _of_clauses(form: str, ways: Sequence[str], facts: Facts) -> Iterator[_Made]:
    for truth, clauses in (("yes", facts.true), ("no", facts.false)):
        for clause in clauses[:3]:
            if form == "negative" and re.search(r"(?:ない|ません|たく?ない)$|not ", clause):
                continue
            yield pick(ways, clause).format(attributive(clause)), truth, ()


def _entry_of_thing(instance: Instance) -> dict[str, str]:
    """Thing → the first scene entry that names only it."""
    out: dict[str, str] = {}
    for entry in map(normalise, instance.scene.entries):
        named = mentioned(entry)
        if len(named) == 1:
            out.setdefault(named[0], entry)
    return out
