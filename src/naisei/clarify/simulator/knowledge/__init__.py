"""What the rule simulator knows: what holds of each wish, states of containers, cue words."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal

from naisei.clarify.schemas import ActionSet, Instance
from naisei.japanese.morph import normalise, tokens
from naisei.japanese.questions import words

#: Words that must all be there, in normalised form.
Cue = frozenset[str]

#: One form for each negation and for pairs that Sudachi keeps apart.
_SAME = {
    "無い": "ない",
    "ぬ": "ない",
    "ず": "ない",
    "すく": "空く",
    "ほしい": "欲しい",
    "御腹": "お腹",
    "ご飯": "御飯",
    "ごみ": "ゴミ",
    "暖かい": "温かい",
    "暖める": "温める",
    "関わる": "関係",
    "関する": "関係",
    "関連": "関係",
    "纏わる": "関係",
    "貰う": "もらう",
    "くる": "来る",
    "直ぐ": "すぐ",
    "お子": "子",
    "お酒": "酒",
    "御酒": "酒",
    "だ": "です",
    "掛ける": "かける",
    "為さる": "為る",
}


def folded(forms: Iterable[str]) -> frozenset[str]:
    """The words of a question as cues spell them."""
    return frozenset(_SAME.get(f, f) for f in forms)


def cue(text: str, language: str) -> Cue:
    """A cue from its written form.

    Japanese: parts joined by `+`; each part's content words count; `=` marks a part taken
    as it stands. English: words. Raises ValueError for a cue without words.
    """
    if language == "en":
        made = frozenset(words(text))
    else:
        made = folded(form for part in text.split("+") for form in _part(part))
    if not made:
        raise ValueError(f"the cue '{text}' has no words")
    return made


#: Normalised forms that mean something else when they stand alone as text.
_VERBATIM = frozenset({"為る", "居る"})


def _part(part: str) -> list[str]:
    if part.startswith("=") or part in _VERBATIM:
        return [part.removeprefix("=")]
    found = tokens(part)
    return [t.form for t in found if t.content] or [t.form for t in found]


def fits(cues: Iterable[Cue], having: frozenset[str]) -> list[Cue]:
    """The cues all of whose words are there."""
    return [c for c in cues if c <= having]


#: Propositions about what becomes of the thing: they hold whatever the scene is.
DEEDS = frozenset({"to-come", "to-go", "store", "shelf", "fridge", "heat", "discard"})


@dataclass(frozen=True, slots=True)
class Proposition:
    """Something that holds for the needs in `yes`, may hold for those in `maybe`, else not."""

    name: str
    facet: str
    cues: tuple[Cue, ...]
    yes: frozenset[int]
    maybe: frozenset[int]

    def truth(self, need: int) -> str:
        """`yes`, `maybe` or `no`."""
        return "yes" if need in self.yes else "maybe" if need in self.maybe else "no"


@dataclass(frozen=True, slots=True)
class Facet:
    """A thing that open questions ask after."""

    name: str
    cues: tuple[Cue, ...]


@dataclass(frozen=True, slots=True)
class Propositions:
    """All that can be asked, in one language; `outside`: topics that lead nowhere. by_word: a
    word of each cue → those cues, and the number of their proposition."""

    items: tuple[Proposition, ...]
    facets: tuple[Facet, ...]
    outside: tuple[Cue, ...]
    vocabulary: frozenset[str]
    by_word: Mapping[str, Sequence[tuple[Cue, int]]]

    def told(self, having: frozenset[str]) -> list[tuple[Cue, int]]:
        """The cues all of whose words are there, each with the number of its proposition."""
        near = (self.by_word.get(word, ()) for word in having)
        return [(cue, n) for cues in near for cue, n in cues if cue <= having]


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))


def _ids(listed: list[int | str], groups: Mapping[str, list[int]]) -> frozenset[int]:
    return frozenset(
        i for entry in listed for i in (groups[entry] if isinstance(entry, str) else [entry])
    )


@lru_cache(maxsize=64)
def is_known(actions: ActionSet) -> bool:
    """Whether these are actions of AmbigAct-40, all or some: by name, or by id and text."""
    if any(a.id not in _texts() for a in actions):
        return False
    named = actions.name.startswith("ambigact40")
    return named or all(normalise(a.text) in _texts()[a.id] for a in actions)


@cache
def _texts() -> Mapping[int, frozenset[str]]:
    """Action id → its texts in AmbigAct-40 (paper, Table 4)."""
    source = files("naisei") / "data" / "ambigact40_open" / "actions.jsonl"
    rows = map(json.loads, source.read_text(encoding="utf-8").splitlines())
    return {r["id"]: frozenset(normalise(r[k]) for k in ("ja", "en")) for r in rows}


@cache
def propositions(language: str) -> Propositions:
    """What can be asked in a language (`ja`, `en`) about the 40 needs."""
    data = _toml("propositions.toml")
    groups = data["groups"]
    items = tuple(
        Proposition(
            p["name"],
            p["facet"],
            tuple(cue(c, language) for c in p[language]),
            _ids(p["yes"], groups),
            _ids(p["maybe"], groups) - _ids(p["yes"], groups),
        )
        for p in data["proposition"]
    )
    facets = tuple(
        Facet(f["name"], tuple(cue(c, language) for c in f[language])) for f in data["facet"]
    )
    outside = tuple(cue(c, language) for c in data["outside"][language])
    vocabulary = frozenset(w for p in items for c in p.cues for w in c) | frozenset(
        w for f in facets for c in f.cues for w in c
    )
    by_word: dict[str, list[tuple[Cue, int]]] = {}
    for n, item in enumerate(items):
        for each in item.cues:
            by_word.setdefault(max(each, key=len), []).append((each, n))
    return Propositions(items, facets, outside, vocabulary, by_word)


@cache
def directions(language: str) -> Mapping[int, Sequence[str]]:
    """Action id → what may be said of what becomes of the thing, as phrases without an end."""
    data = _toml("propositions.toml")
    by_group = data["direction"][language].items()
    return {number: said for group, said in by_group for number in data["groups"][group]}


Level = Literal["empty", "part", "full"]

_NAMES = {
    "コップ": r"コップ|カップ(?!麺|めん|ラーメン|焼|ケーキ|スープ|うどん|そば|アイス)|"
    r"湯のみ|湯呑み|マグ|\b(?:cup|mug)\b",
    "グラス": r"グラス|\bglass\b",
    "ペットボトル": r"ペットボトル|ボトル|\bbottle\b",
    "水筒": r"水筒|マイボトル|タンブラー|\b(?:flask|thermos)\b",
    "タッパー": r"タッパー|保存容器|弁当箱|\b(?:container|tupperware|lunch box)\b",
}
#: What things are called when nothing else can be meant, where that is not the key.
_PROPER = {"ペットボトル": r"ペットボトル|\bplastic bottles?\b"}
_STATE = re.compile(
    r"空(?!い|腹|気|間|調)|からっぽ|カラッポ|中身|残って|残り|満杯|いっぱい|入って|入れて(?:い|あ)|"
    r"飲み(?:終|干|切|き)|飲みかけ|使用中|\b(?:empty|full|left in|anything in|inside)\b"
)
_EMPTY = re.compile(r"空(?!い|腹)|からっぽ|カラッポ|飲み(?:終|干|切|き)|\bempty\b|\bfinished\b")
_EMPTY_SEEN = re.compile(
    r"空の|空に|空っぽ|飲み終|飲み干|食べ終|洗っ|伏せ|乾い|水切り|\b(?:empty|washed|dry|finished)\b"
)
_PART_SEEN = re.compile(r"飲みかけ|飲み残|残|半分|使いかけ|\b(?:half|left)\b")
_FULL_SEEN = re.compile(r"入り|入っ|未開封|詰め|[（(]|の水|のお茶|の麦茶|\b(?:full|unopened)\b")
#: Where the scene is silent: what fits with the wish, by action.
_WANTED: dict[str, dict[int, Level]] = {
    "コップ": {3: "empty", 12: "empty"},
    "グラス": {23: "empty", 33: "empty"},
    "ペットボトル": {6: "full", 15: "empty", 36: "part"},
    "水筒": {30: "empty", 40: "empty"},
    "タッパー": {38: "full", 39: "full"},
}


def asked_container(question: str) -> str:
    """The container whose contents a question is about, or an empty string."""
    text = normalise(question).lower()
    if not _STATE.search(text):
        return ""
    return next((name for name, pattern in _NAMES.items() if re.search(pattern, text)), "")


def asks_empty(question: str) -> bool:
    """Whether a yes means that it is empty."""
    return _EMPTY.search(normalise(question).lower()) is not None


def _seen(thing: str) -> Level | None:
    if _PART_SEEN.search(thing):
        return "part"
    if _EMPTY_SEEN.search(thing):
        return "empty"
    return "full" if _FULL_SEEN.search(thing) else None


def level(container: str, instance: Instance) -> Level | None:
    """How full it is, `None` where neither scene nor wish tells. Always the same for an instance.

    Of several such containers, what is in hand or in reach counts first, then the one that
    fits with the wish.
    """
    user = instance.scene.user
    near = [*user.holding, *user.reach]
    far = [thing for things in instance.scene.surroundings.values() for thing in things]
    # An oil bottle is not meant where there is a ペットボトル.
    proper = re.compile(_PROPER.get(container, container))
    called = any(proper.search(t.lower()) for t in (*near, *far))
    pattern = proper if called else re.compile(_NAMES[container])
    wanted = _WANTED[container].get(instance.gold)
    for things in (near, far):
        states = [s for t in things if pattern.search(t.lower()) and (s := _seen(t.lower()))]
        if wanted in states:
            return wanted
        if states:
            return states[0]
    return wanted


#: What one says of how full something is.
LEVELS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "ja": {
        "empty": ("もう空っぽな", "もう何も入っていない"),
        "part": ("まだ少し残っている", "途中まで減っている"),
        "full": ("まだちゃんと入っている", "中身はたっぷりある"),
    },
    "en": {
        "empty": ("It's empty", "There's nothing left in it"),
        "part": ("There's still a little left", "It's about half full"),
        "full": ("There's plenty in it", "It's full"),
    },
}
