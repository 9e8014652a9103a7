"""The audit's questions to a simulated user, and the judgements of its answers, all by rule.

The judgements see what an answer says in so many words; a hint that gives the intent away
without naming it, or a lie that needs knowledge of the world to spot, is not detected.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from naisei.clarify.audit.facts import FORMS, FactProbe, fact_probes, forms_digest
from naisei.clarify.question_patterns import objects
from naisei.clarify.schemas import Action, ActionSet, Instance
from naisei.clarify.things import all_known
from naisei.core import fingerprint
from naisei.japanese.answers import Stance, understand
from naisei.japanese.morph import is_japanese, normalise, tokens
from naisei.japanese.questions import words
from naisei.japanese.sentences import sentences

_SHORT = {"ティッシュ箱": "ティッシュ", "サランラップ": "ラップ", "充電ケーブル": "ケーブル"}
_WISH = re.compile(
    r"(?:何|なに|どんな(?:物|もの|飲み物|食べ物))(?:が|を)?[^、。？]{0,6}(?:食べ|飲み|召し上が|欲し|ほし|使いたい)|"
    r"what .*(?:eat|drink|like to have)",
    re.IGNORECASE,
)
_LEVEL = {
    "empty": re.compile(
        r"空(?:っぽ|です|だ|な|に|よ|$)|からっぽ|何も(?:入って|残って)(?:い)?(?:な|ま)|もう(?:入って|残って)(?:い)?(?:な|ませ)|"
        r"飲み(?:終|干|切)|入っていな|\b(?:it's|is) empty|\bnothing (?:left|in)|drank it all",
        re.IGNORECASE,
    ),
    "full": re.compile(
        r"(?:まだ|少し|半分|たっぷり|ちゃんと|いっぱい|途中)[^。]{0,8}(?:残|入|減|ある|あり)|満杯|"
        r"\bleft in\b|\bplenty\b|\bhalf full\b|\bit's full\b|\bstill (?:a|some)",
        re.IGNORECASE,
    ),
}
_EMPTY_SEEN = re.compile(r"空の|空に|飲み終|飲み干|洗っ|伏せ|乾い|\bempty|\bwashed|\bdry")
_FULL_SEEN = re.compile(r"飲みかけ|残|半分|入り|入った|未開封|詰め|[（(]|\bhalf|\bfull|\bunopened")


def _words(text: str) -> frozenset[str]:
    if is_japanese(text):
        return frozenset(t.form for t in tokens(text) if t.content)
    return frozenset(words(text))


def _object(action: Action) -> str:
    named = objects(action.text)
    if named:
        # 「周辺の水族館を検索する」: nobody who wants it says 周辺.
        return named[0].removeprefix("周辺の")
    return action.text


def names_object(answer: str, action: Action) -> bool:
    """Whether the thing of an action is named. Actions without an object are taken whole."""
    thing = _object(action)
    said = normalise(answer).lower()
    if thing == action.text:
        return _words(thing) <= _words(answer)
    return any(name in said for name in (thing, _SHORT.get(thing, thing)))


def names_action(answer: str, action: Action) -> bool:
    """Whether the thing is named together with what should be done with it."""
    if not names_object(answer, action):
        return False
    deed = _words(action.text.partition("を")[2]) - {"為る", "居る"}
    return deed <= _words(answer)


def asks_for_wish(question: str) -> bool:
    """Whether a question plainly asks which thing is wished for: then naming it is no leak."""
    return _WISH.search(normalise(question)) is not None


def polarity(answer: str, question: str) -> str:
    """`yes`, `no`, or empty for all else (hedged, open, refused)."""
    read = understand(answer, question)
    if read.certainty < 1:
        return ""
    return {Stance.YES: "yes", Stance.NO: "no"}.get(read.stance, "")


def level_claimed(answer: str, question: str, expects: str) -> str:
    """What an answer says of a container: `empty`, `full` (something in it), or empty text."""
    said = normalise(answer)
    if understand(said, question).stance is Stance.UNSURE:
        return ""
    if _LEVEL["empty"].search(said):
        return "empty"
    if _LEVEL["full"].search(said):
        return "full"
    stance = polarity(answer, question)
    other = {"empty": "full", "full": "empty"}[expects]
    return {"yes": expects, "no": other}.get(stance, "")


def levels_seen(container: str, instance: Instance) -> frozenset[str]:
    """What the scene shows of such containers: any of `empty`, `full`."""
    user = instance.scene.user
    things = [*user.holding, *user.reach]
    things += [t for area in instance.scene.surroundings.values() for t in area]
    seen: set[str] = set()
    for thing in things:
        if container not in normalise(thing).lower():
            continue
        if _EMPTY_SEEN.search(thing):
            seen.add("empty")
        elif _FULL_SEEN.search(thing):
            seen.add("full")
    return frozenset(seen)


def sentence_count(answer: str) -> int:
    """Sentences of an answer."""
    return len(sentences(answer))


Kind = Literal["polar", "open", "useless", "presence", "outright", "container", "again", "fact"]

#: Containers asked about, and how a scene may call them.
CONTAINERS = {
    "ja": ("コップ", "グラス", "ペットボトル", "水筒", "タッパー"),
    "en": ("cup", "glass", "bottle", "flask", "container"),
}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of the audit for one instance.

    of: for `again`, the place
    of the question asked before. container, expects: for `container`, which one, and what
    a yes would mean (`empty` or `full`). fact: for `fact`, the question with its truth.
    """

    kind: Kind
    question: str
    of: int = -1
    container: str = ""
    expects: str = ""
    fact: FactProbe | None = None


@cache
def _battery() -> list[dict[str, Any]]:
    text = (files("naisei.clarify.audit") / "battery.toml").read_text(encoding="utf-8")
    loaded: list[dict[str, Any]] = tomllib.loads(text)["conversation"]
    return loaded


def battery_digest() -> str:
    """Changes whenever the battery, or what is asked about facts, does."""
    return fingerprint([_battery(), forms_digest()])


#: Conversations from here on ask about the facts of an instance, one for each of `FORMS`.
FROM_FACTS = 100


def conversations(actions: ActionSet) -> tuple[int, ...]:
    """The conversations that apply to an action set, by their numbers in the battery."""
    known = all_known(actions)
    of_battery = tuple(n for n, c in enumerate(_battery()) if known or "set" not in c)
    return of_battery + tuple(FROM_FACTS + n for n in range(len(FORMS)))


def probes(number: int, instance: Instance, actions: ActionSet) -> tuple[Probe, ...]:
    """The questions of a conversation; those that cannot be put to the instance are left out."""
    language = instance.scene.language
    if number >= FROM_FACTS:
        asked = fact_probes(FORMS[number - FROM_FACTS], instance, actions)
        return tuple(Probe("fact", p.question, fact=p) for p in asked)
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
                q.get("of", -1),
                container if q["kind"] == "container" else "",
                q.get("expects", ""),
            )
        )
    return tuple(found)


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
