"""Rules by which the audit interprets answers.

The rules see only explicit words; they do not detect a hint that reveals the intent without naming
it, or a lie that requires world knowledge to spot.
"""

from __future__ import annotations

import re

from naisei.clarify.audit.questions import Probe
from naisei.clarify.schemas import Action, Instance
from naisei.clarify.simulator.containers import levels
from naisei.clarify.things import all_names, called, mentioned, names_of, objects
from naisei.japanese.answers import PLACES, Stance, repaired, understand
from naisei.japanese.morph import is_japanese, normalise, tokens
from naisei.japanese.questions import denied, words

_SHORT = {"ティッシュ箱": "ティッシュ", "サランラップ": "ラップ", "充電ケーブル": "ケーブル"}
_WISH = re.compile(
    r"(?:何|なに|どんな(?:物|もの|飲み物|食べ物))(?:が|を)?[^、。？]{0,6}(?:食べ|飲み|召し上が|欲し|ほし|使いたい)|"
    r"what .*(?:eat|drink|like to have)",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"空(?:っぽ|です|だ|な|に|よ|$)|からっぽ|何も(?:入って|残って)(?:い)?(?:な|ま)|もう(?:入って|残って)(?:い)?(?:な|ませ)|"
    r"飲み(?:終|干|切)|入っていな|\b(?:it's|is) empty|\bnothing (?:left|in)|drank it all",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"(?:まだ|少し|半分|たっぷり|ちゃんと|いっぱい|途中)[^。]{0,8}(?:残|入|減|ある|あり)|満杯|"
    r"\bleft in\b|\bplenty\b|\bhalf full\b|\bit's full\b|\bstill (?:a|some)",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    if is_japanese(text):
        return frozenset(t.form for t in tokens(text) if t.content)
    return frozenset(words(text))


def names_object(answer: str, action: Action) -> bool:
    """Whether an answer names the action's object, or, if it has none, the whole action."""
    named = objects(action.text)
    if not named:
        return _words(action.text) <= _words(answer)
    # 「周辺の水族館を検索する」: users do not say 周辺.
    thing = named[0].removeprefix("周辺の")
    said = normalise(answer).lower()
    return any(name in said for name in (thing, _SHORT.get(thing, thing)))


def names_action(answer: str, action: Action) -> bool:
    """Whether an answer names both the object and what to do with it."""
    deed = _words(action.text.partition("を")[2]) - {"為る", "居る"}
    return names_object(answer, action) and deed <= _words(answer)


def asks_for_wish(question: str) -> bool:
    """Whether a question plainly asks for the wanted thing; naming it is then not a leak."""
    return _WISH.search(normalise(question)) is not None


def polarity(answer: str, question: str) -> str:
    """`yes`, `no`, or "" for other answers (hedged, open, refused)."""
    read = understand(answer, question)
    if read.certainty < 1:
        return ""
    return {Stance.YES: "yes", Stance.NO: "no"}.get(read.stance, "")


def level_claimed(answer: str, question: str, expects: str) -> str:
    """The level that an answer claims for a container: `empty`, `full` (something in it), or empty
    text."""
    said = normalise(answer)
    if understand(said, question).stance is Stance.UNSURE:
        return ""
    if _EMPTY.search(said):
        return "empty"
    if _FULL.search(said):
        return "full"
    other = {"empty": "full", "full": "empty"}[expects]
    return {"yes": expects, "no": other}.get(polarity(answer, question), "")


def levels_seen(container: str, instance: Instance) -> frozenset[str]:
    """The levels of such containers in the scene: any of `empty`, `full`."""
    return frozenset("empty" if s == "empty" else "full" for s in levels(container, instance))


def interpret_answer(answer: str, probe: Probe) -> str:
    """The answer to a question from facts in the terms of `Probe.truth`; empty if undecided. Hedged
    answers count by their tendency."""
    read = understand(answer, probe.question)
    if read.stance in (Stance.REFUSED, Stance.UNSURE):
        # 「わからないけど、…」 takes no side, whatever follows.
        return ""
    if not probe.sides:
        if probe.kind == "negative":
            return _of_negative(answer, probe, read.stance)
        return {Stance.YES: "yes", Stance.NO: "no"}.get(read.stance, "")
    if read.stance is Stance.NEITHER:
        return "neither"
    for said in re.split(r"(?<=[。.!！])", normalise(repaired(answer))):
        # The choice comes first, perhaps after a remark; a fact follows.
        by_place = [i for i, p in enumerate(PLACES[: len(probe.sides)]) if p.search(said)]
        # A fact that mentions one of them takes no side.
        chosen = len(said) <= max(map(len, probe.sides)) + 18
        by_name = [i for i, side in enumerate(probe.sides) if chosen and _repeats(said, side)]
        for found in (by_place, by_name):
            if len(found) == 1:
                return str(found[0])
    return ""


def _repeats(answer: str, side: str) -> bool:
    things = mentioned(side)
    names = [side, *(n for t in things for n in all_names(t))]
    names += [called(t, by) for t in things for by in ("child", "elder")]
    if any(n and n.lower() in answer.lower() for n in names):
        return True
    own = _words(side)
    return len(own) > 1 and own <= _words(answer)


_DENIES = re.compile(
    r"(?:わけ|こと|ん)(?:じゃ|では|は)?(?:ない|ありません)|not (?:that|the case)|it's not"
)
_LEADS = re.compile(
    r"^(?:[^。]{0,24}(?:なくて(?:さ|ね)?|忙しくてね|いそがしいの)。)?(?:うーん|まあ|たぶん|えっと|実は)?、?"
    r"(?:はい|ええ|うん|そう[^、。]{0,6}|ああ[^。]{0,8}|いや[^。、]{0,12}|ううん|いいえ|いえ[^。、]{0,12}|"
    r"ちがうよ|yes|yeah|no)[、。！,.]\s*",
    re.IGNORECASE,
)


def _of_negative(answer: str, probe: Probe, stance: Stance) -> str:
    """A statement counts; a bare yes to a negative question confirms the negation, but not in
    English (「Isn't it …?」「Yes」)."""
    if not is_japanese(probe.question) and stance in (Stance.YES, Stance.NO):
        return stance.value
    said = normalise(repaired(answer))
    stated = _LEADS.sub("", _LEADS.sub("", said))
    if stated and (_DENIES.search(stated) or denied(stated)):
        return "no"
    clause = {t.form for t in tokens(probe.question) if t.content} - {"訳", "言う", "為る", "居る"}
    if clause & {t.form for t in tokens(stated) if t.content}:
        return "yes"
    return {Stance.YES: "no", Stance.NO: "yes"}.get(stance, "")


_SPOTS = (
    *("床", "テーブル", "机", "棚", "冷蔵庫", "ソファ", "椅子", "流し"),
    *("floor", "table", "shelf", "fridge"),
)
_ABSENT = r"(?:もう)?(?:どこにも)?(?:な(?:い|く|かった)|ありません|無)"


def against_scene(answer: str, question: str, instance: Instance) -> bool:
    """Whether an answer contradicts the scene: it mentions an absent thing, denies a visible one,
    or misplaces it."""
    scene = instance.scene
    shown = [*scene.entries, scene.user.posture, scene.utterance]
    seen = {t for entry in shown for t in mentioned(entry)} | set(mentioned(question))
    said = normalise(answer)
    for thing in mentioned(said):
        # Only everyday names: 「電話」 need not mean the smartphone.
        if not any(n.lower() in said.lower() for n in names_of(thing, scene.language)):
            continue
        if thing not in seen:
            return True
        own = [entry for entry in shown if thing in mentioned(entry)]
        spots = {s for entry in own for s in _SPOTS if s in entry}
        names = "|".join(map(re.escape, all_names(thing)))
        put = rf"(?:{names})(?:は|が|なら)[^。、]{{0,4}}({'|'.join(_SPOTS)})(?:の上)?(?:に|だ|で)"
        claim = re.search(put, said)
        absent = re.search(rf"{thing}(?:は|が|も){_ABSENT}", said)
        if (absent and any(thing in entry for entry in own)) or (
            claim and spots and claim[1] not in spots
        ):
            return True
    return False
