"""Where an action's object is to be seen in a scene, and in what state."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.clarify.schemas import Scene
from naisei.japanese.morph import lemmas

__all__ = ["Sight", "own_area", "see", "tidy_words"]

#: State words of a thing that has been used and lies about, and of one that waits for use.
_USED = re.compile(
    r"飲み終|飲み干|食べ終|食べ残|飲み残|飲みかけ|食べかけ|使いかけ|使い終|使ったあと|空の|空に|"
    r"転が|散ら|落ち|出しっぱなし|置きっぱなし|つけっぱなし|からま|絡ま|丸め|倒れ|汚れ|"
    r"開いた|開けた|乗った|広が|床|遊びかけ|脱|出たまま|置かれたまま|"
    r"\b(?:empty|used|finished|half|left|lying|scattered|crumpled|open|dirty|tangled|floor)\b"
)
_STORED = re.compile(
    r"棚の|棚に|引き出し|冷蔵庫の中|冷蔵庫に|買い置き|未開封|水切りかご|干して|洗った|乾いた|乾か|"
    r"並ん|冷えた|新しい|箱に入|かごに入|充電中|戸棚|袋に入|満タン|"
    r"\b(?:shelf|cupboard|drawer|fridge|unopened|washed|dry|new|full|chilled)\b"
)
#: Words too common to point at a thing.
_COMMON = frozenset(
    {"為る", "居る", "有る", "無い", "物", "事", "こと", "もの", "何", "其れ", "此れ", "今", "成る"}
    | {"言う", "良い", "方", "所", "気", "中", "上", "出る", "置く"}
)
_TIDY_WORDS = re.compile(
    r"散らか|片づ|片付|かたづ|すっきり|ごちゃ|邪魔|じゃま|しま[わいうっえ]|戻[しすせそ]|もどし|"
    r"終わ|おわ|済ん|もう(?:いい|い[いら]|使わ|飲ま|食べ|見|じゅうぶん|十分)|いらな|要らな|きれい|"
    r"出しっぱ|置きっぱ|放置|場所(?:を)?とる|狭[いくす]|足の踏み場|踏[みんむ]|つまず|整[えっ理]|"
    r"やめ|控え|太[るっり]|お腹いっぱい|ごちそうさま|帰[るっ]|乾い|"
    r"\b(?:tid(?:y|ied)|clean|clear|mess|clutter|done|finished|over|away|enough|full)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen of an object. own_area: it is in the area that the user is in. used,
    stored: words of its state say that it has been used and lies about, or that it waits for
    use. overlap: how many words of the utterance tell where or how it is, at most 2
    (「ソファの上のそれ」)."""

    visible: bool
    held: bool
    reach: bool
    own_area: bool
    used: bool
    stored: bool
    overlap: float


def see(names: tuple[str, ...], scene: Scene) -> Sight:
    """Look for an object by its names, given in lower case."""

    def among(things: tuple[str, ...]) -> list[str]:
        return [thing for thing in things if any(n in thing.lower() for n in names)]

    areas = {area: found for area, things in scene.surroundings.items() if (found := among(things))}
    held, reach = among(scene.user.holding), among(scene.user.reach)
    phrases = [*(p for found in areas.values() for p in found), *held, *reach]
    if not phrases:
        return Sight(False, False, False, False, False, False, 0.0)
    return Sight(
        visible=True,
        held=bool(held),
        reach=bool(reach),
        own_area=bool(among(own_area(scene))),
        used=any(_USED.search(p) for p in phrases),
        stored=any(_STORED.search(p) for p in phrases),
        overlap=_overlap(names, scene, areas),
    )


def own_area(scene: Scene) -> tuple[str, ...]:
    """The things of the area that the user is in."""
    place = scene.user.place
    return tuple(
        thing
        for area, things in scene.surroundings.items()
        if place and (area in place or place in area)
        for thing in things
    )


def tidy_words(utterance: str) -> float:
    """How much an utterance sounds like clearing up, from 0 to 1."""
    return min(1.0, len(_TIDY_WORDS.findall(utterance)) / 2)


def _overlap(names: tuple[str, ...], scene: Scene, areas: dict[str, list[str]]) -> float:
    said = set(lemmas(scene.utterance)) - _COMMON
    own = {word for name in names for word in lemmas(name)}
    pointed = [
        len(said & ({*lemmas(thing), *lemmas(area)} - own))
        for area, things in areas.items()
        for thing in things
    ]
    return float(min(2, max(pointed, default=0)))
