"""Questions made from the facts of an instance, each with its true answer; how answers are read.

Forms: a thing is named, two or three are offered, a clause is asked for as it is and negated, and
what, why. Each comes in three punctuations and several phrasings, drawn by the instance; the truth
is the wish's, so that a denial, an assent or an evasion can be told from a right answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import ActionSet, Facts, Instance
from naisei.clarify.simulator.voice import attributive, pick
from naisei.clarify.things import all_names, called, mentioned, names_of, thing_of
from naisei.core import fingerprint
from naisei.japanese.answers import PLACES, Stance, repaired, understand
from naisei.japanese.morph import is_japanese, normalise, tokens
from naisei.japanese.questions import denied

FORMS = ("named", "either-or", "three-way", "which", "polar", "negative", "what", "why")
_NAMED = {
    "ja": ("{a}のことですか", "{a}の話でしょうか", "もしかして{a}のほうですか", "{a}かな"),
    "en": ("Is it about the {a}", "Do you mean the {a}", "The {a}, then"),
}
_EITHER = {
    "ja": (
        "{a}のほうですか、{b}のほうですか",
        "{a}ですか、それとも{b}ですか",
        "えっと、{a}の話ですか。それとも{b}の話でしょうか",
        "{a}か{b}かで言うと、{a}ですか、{b}ですか",
        "{a}ですか？{b}ですか",
    ),
    "en": ("Is it the {a} or the {b}", "Do you mean the {a}, or rather the {b}"),
}
_CLAUSES = {
    "ja": ("{a}のですか、それとも{b}のですか", "{a}んですか、{b}んですか"),
    "en": ("Is it that {a}, or that {b}",),
}
_THREE = {
    "ja": (
        "{a}、{b}、それとも{c}ですか",
        "{a}ですか、{b}ですか、{c}ですか",
        "{a}と{b}と{c}のうち、どれのことですか",
    ),
    "en": ("Is it the {a}, the {b} or the {c}",),
}
_WHICH = {
    "ja": (
        "{a}と{b}ならどちらですか",
        "{a}と{b}では、どっちの話ですか",
        "{a}か{b}か、どちらでしょう",
    ),
    "en": ("Which is it, the {a} or the {b}",),
}
_POLAR = {
    "ja": ("{a}のですか", "いま、{a}のでしょうか", "もしかして{a}んですか"),
    "en": ("Is it so that {a}", "Would you say that {a}"),
}
_NEGATIVE = {
    "ja": ("{a}わけではないのですか", "{a}わけではないんでしょうか"),
    "en": ("Isn't it so that {a}",),
}
_OPEN = {
    "what": {
        "ja": ("それは何のためですか", "これから何をするおつもりですか", "いまどんな様子ですか"),
        "en": ("What is it for", "What are you about to do"),
    },
    "why": {
        "ja": (
            "どうしてそう思ったんですか",
            "何かきっかけがあったのでしょうか",
            "なぜなんでしょう",
        ),
        "en": ("Why is that", "What made you say so"),
    },
}
#: Forms that name things as the scene prints them, where it shows them.
_PRINTED = ("three-way", "which")
_ENDS = {"ja": ("？", "。", ""), "en": ("?", "?", "?")}


def forms_digest() -> str:
    """Changes whenever the questions do."""
    tables = (_NAMED, _EITHER, _CLAUSES, _THREE, _WHICH, _POLAR, _NEGATIVE, _OPEN, _ENDS, _PRINTED)
    return fingerprint([list(map(str, tables))])


@dataclass(frozen=True, slots=True)
class FactProbe:
    """A question with its truth: `yes`, `no`, `neither`, `open`, or the place of the alternative
    that holds, counted from 0. sides: the alternatives as they stand in the question."""

    form: str
    question: str
    truth: str
    sides: tuple[str, ...] = ()


def fact_probes(form: str, instance: Instance, actions: ActionSet) -> tuple[FactProbe, ...]:
    """The questions of a form for an instance; none where it has no facts, or too few things."""
    facts = instance.facts
    if facts is None:
        return ()
    language = instance.scene.language
    things = {a.id: thing_of(a) for a in actions}
    own = things[instance.gold]
    wanted = {things[a] for a in instance.wanted}
    others = [
        t
        for t in dict.fromkeys(things[a] for a in (*facts.no, *instance.plausible))
        if t and t not in wanted
    ]
    shown = _shown(instance) if form in _PRINTED else {}
    name = {t: shown.get(t) or names_of(t, language)[0] for t in (own, *others) if t}
    makers = {
        "named": lambda: _of_names(name, own, others, language),
        "either-or": lambda: _of_two(name, own, others, facts, language),
        "three-way": lambda: _of_three(name, own, others, language),
        "which": lambda: _of_which(name, own, others, language),
        "polar": lambda: _of_clauses(_POLAR[language], facts, "polar"),
        "negative": lambda: _of_clauses(_NEGATIVE[language], facts, "negative"),
    }
    made = makers[form]() if form in makers else [(q, "open", ()) for q in _OPEN[form][language]]
    out = []
    for number, (question, truth, sides) in enumerate(made):
        asked = question.rstrip("？。?") + _ENDS[language][(number + len(instance.id)) % 3]
        if broken_rule(asked, actions) is None:
            out.append(FactProbe(form, asked, truth, tuple(sides)))
    return tuple(out)


def _shown(instance: Instance) -> dict[str, str]:
    """Thing → the first entry of the scene that names it and no other."""
    user = instance.scene.user
    out: dict[str, str] = {}
    for entries in (user.holding, user.reach, *instance.scene.surroundings.values()):
        for entry in map(normalise, entries):
            named = mentioned(entry)
            if len(named) == 1:
                out.setdefault(named[0], entry)
    return out


_Made = list[tuple[str, str, tuple[str, ...]]]


def _of_names(name: dict[str, str], own: str, others: Sequence[str], language: str) -> _Made:
    ways = _NAMED[language]
    made: _Made = [(way.format(a=name[own]), "yes", ()) for way in ways[:2] if own]
    made += [(pick(ways, t).format(a=name[t]), "no", ()) for t in others[:3]]
    return made


def _of_two(
    name: dict[str, str], own: str, others: Sequence[str], facts: Facts, language: str
) -> _Made:
    made: _Made = []
    for at, other in enumerate(others[:3] if own else ()):
        pair = (own, other) if at % 2 else (other, own)
        sides = tuple(name[t] for t in pair)
        way = pick(_EITHER[language], own + other)
        made.append((way.format(a=sides[0], b=sides[1]), str(pair.index(own)), sides))
    for first, second in pairwise(others[:3]):
        sides = (name[first], name[second])
        way = pick(_EITHER[language], first + second)
        made.append((way.format(a=sides[0], b=sides[1]), "neither", sides))
    clauses = list(zip(facts.true, facts.false, strict=False))[:2]
    for at, (so, not_so) in enumerate(clauses):
        pair = (so, not_so) if at else (not_so, so)
        if any(re.search(r"だ$", c) for c in pair):
            continue
        way = pick(_CLAUSES[language], so)
        made.append((way.format(a=pair[0], b=pair[1]), str(pair.index(so)), pair))
    return made


def _of_three(name: dict[str, str], own: str, others: Sequence[str], language: str) -> _Made:
    if not own or len(others) < 2:
        return []
    made: _Made = []
    for at in range(3):
        listed = [others[0], others[1]]
        listed.insert(at, own)
        sides = tuple(name[t] for t in listed)
        way = _THREE[language][at % len(_THREE[language])]
        made.append((way.format(a=sides[0], b=sides[1], c=sides[2]), str(at), sides))
    return made


def _of_which(name: dict[str, str], own: str, others: Sequence[str], language: str) -> _Made:
    made: _Made = []
    for at, other in enumerate(others[:2] if own else ()):
        pair = (own, other) if at else (other, own)
        sides = tuple(name[t] for t in pair)
        way = pick(_WHICH[language], other + own)
        made.append((way.format(a=sides[0], b=sides[1]), str(pair.index(own)), sides))
    return made


def _of_clauses(ways: Sequence[str], facts: Facts, form: str) -> _Made:
    made: _Made = []
    for truth, clauses in (("yes", facts.true), ("no", facts.false)):
        for clause in clauses[:3]:
            if form == "negative" and re.search(r"(?:ない|ません|たく?ない)$|not ", clause):
                continue
            made.append((pick(ways, clause).format(a=attributive(clause)), truth, ()))
    return made


def heard(answer: str, probe: FactProbe) -> str:
    """What an answer says to a probe, in the terms of `FactProbe.truth`; empty: neither here nor
    there. Hedged answers count as what they lean to."""
    read = understand(answer, probe.question)
    if read.stance in (Stance.REFUSED, Stance.UNSURE):
        # 「わからないけど、…」 takes no side, whatever is told then.
        return ""
    if not probe.sides:
        if probe.form == "negative":
            return _of_negative(answer, probe, read.stance)
        return {Stance.YES: "yes", Stance.NO: "no"}.get(read.stance, "")
    if read.stance is Stance.NEITHER:
        return "neither"
    for said in re.split(r"(?<=[。.!！])", normalise(repaired(answer))):
        # The choice comes first, perhaps after a remark, and a fact that goes with it after.
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
    own = {t.form for t in tokens(side) if t.content}
    return len(own) > 1 and own <= {t.form for t in tokens(answer) if t.content}


_DENIES = re.compile(
    r"(?:わけ|こと|ん)(?:じゃ|では|は)?(?:ない|ありません)|not (?:that|the case)|it's not"
)
_LEADS = re.compile(
    r"^(?:[^。]{0,24}(?:なくて(?:さ|ね)?|忙しくてね|いそがしいの)。)?(?:うーん|まあ|たぶん|えっと|実は)?、?"
    r"(?:はい|ええ|うん|そう[^、。]{0,6}|ああ[^。]{0,8}|いや[^。、]{0,12}|ううん|いいえ|いえ[^。、]{0,12}|"
    r"ちがうよ|yes|yeah|no)[、。！,.]\s*",
    re.IGNORECASE,
)


def _of_negative(answer: str, probe: FactProbe, stance: Stance) -> str:
    """What is stated counts; a bare yes to a negative question agrees with the denial, though
    not in English (「Isn't it …?」「Yes」)."""
    english = not is_japanese(probe.question)
    if english and stance in (Stance.YES, Stance.NO):
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
    """Whether an answer speaks of a thing that the scene does not show, says that one which it
    shows is not there, or puts it elsewhere."""
    user = instance.scene.user
    shown = [*user.holding, *user.reach, user.posture, instance.scene.utterance]
    shown += [t for area in instance.scene.surroundings.values() for t in area]
    seen = {t for entry in shown for t in mentioned(entry)} | set(mentioned(question))
    said = normalise(answer)
    for thing in mentioned(said):
        # By its everyday names: 「電話」 need not be the smartphone.
        if not any(n.lower() in said.lower() for n in names_of(thing, instance.scene.language)):
            continue
        if thing not in seen:
            return True
        own = [entry for entry in shown if thing in mentioned(entry)]
        spots = {s for entry in own for s in _SPOTS if s in entry}
        names = "|".join(map(re.escape, all_names(thing)))
        claim = re.search(
            rf"(?:{names})(?:は|が|なら)[^。、]{{0,4}}({'|'.join(_SPOTS)})(?:の上)?(?:に|だ|で)",
            said,
        )
        absent = re.search(rf"{thing}(?:は|が|も){_ABSENT}", said)
        if (absent and any(thing in entry for entry in own)) or (
            claim and spots and claim[1] not in spots
        ):
            return True
    return False
