"""What a user knows of the own wish: whether a claim about it holds, by named things and facts.

A claim is a question or one of its alternatives, read as a positive statement. Sources, in this
order: the thing that it names, the facts of the instance, what holds of the wanted action in
general (`knowledge`). What none of them settles is `unknown`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from naisei.clarify.schemas import ActionSet, Instance
from naisei.clarify.simulator.judge import LIGHT, having, judge, matched
from naisei.clarify.simulator.knowledge import Proposition
from naisei.clarify.simulator.voice import nominal
from naisei.clarify.things import mentioned, thing_of
from naisei.japanese.morph import normalise, tokens
from naisei.japanese.questions import denied, words

__all__ = ["Claim", "Statement", "Verdict", "Wish"]

#: Propositions about what becomes of the thing: they hold whatever the scene is.
_DEEDS = frozenset({"to-come", "to-go", "store", "shelf", "fridge", "heat", "discard"})
#: Words of claims that only name a thing: what is done to it, and frames (「…の話」).
_FRAME_WORDS = (
    "いま 今日 "
    "持つ 来る 取る 要る 片付ける 仕舞う 戻す 使う 話 件 側 派 方 事 欲しい 言う 頼む 願う "
    "出す 何方 どちら 物 為る 居る 有る 良い 気 別 他 奴 感じ それ これ 此れ 其れ 必要 用 "
    "探す 求める 指す 意味 本当 多分 若しかする 因みに 確認 一番 bring need want get mean "
    "one thing talk "
)
_FRAME = frozenset(_FRAME_WORDS.split())
#: Enough of a claim must be found in a fact: words of the claim that it shares, 0 to 1.
_COVER = 0.6


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact, or a part of one. text: the whole sentence, or a clause without its end (`clause`).

    holds: whether what it speaks of is so, its own negation taken in. so: whether the text itself
    is true: 「ジュースがない」 as a clause that is false speaks of juice that is there. other: it
    tells why something else is not wanted.
    """

    text: str
    claim: Claim
    holds: bool
    clause: bool = False
    so: bool = True
    other: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The words of a text as they are compared. concepts: what it is about, by `knowledge`.
    desire: it speaks of what one would like, 「敷きたい」 against 「敷いた」. wished: the verbs of
    that."""

    words: frozenset[str]
    concepts: frozenset[str]
    things: tuple[str, ...]
    negated: bool
    desire: bool = False
    wished: frozenset[str] = frozenset()

    @staticmethod
    def of(text: str, language: str) -> Claim:
        return _claim(normalise(text).strip("。？！、 "), language)


@lru_cache(maxsize=32768)
def _claim(text: str, language: str) -> Claim:
    text = re.sub(r"(?:もしか|ひょっと)(?:して|すると|したら)、?", "", text)
    # 「ぬるんか」 of the west.
    text = re.sub(r"(?<=[うくすつぬむるぐぶいた])んか?$", "", text)
    wished = frozenset[str]()
    if language == "en":
        found = frozenset(w for w in words(text) if w not in _EN_LIGHT and not w.endswith("n't"))
    else:
        every = tokens(text)
        content = {t.form for t in every if t.content}
        wished = frozenset(t.form for t, after in pairwise(every) if after.form == "たい")
        found = frozenset(f for f in having(text, language) if f in content or _folded(f)) - LIGHT
    concepts = frozenset(p.name for p in matched(text, language)) - _DEEDS
    desire = re.search(r"た(?:い|く|かった)|\b(?:want|like)\b", text) is not None
    return Claim(found, concepts, mentioned(text), denied(text), desire, wished)


def _folded(form: str) -> bool:
    return form in ("お腹", "御飯", "ゴミ", "もらう", "すぐ", "酒")


_EN_LIGHT_WORDS = (
    "rather mean then say after so about a an the is are am was were be been do doe does "
    "did you your i my it its it's that this there to of for in on at with and or so "
    "would could should can will have has had some any right now just something anything "
    "somebody someone thing like want need please if about feel going go what which not "
    "n't no more i'm you're we our they them he she his her me up out one "
)
_EN_LIGHT = frozenset(_EN_LIGHT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """truth: `yes`, `no`, `maybe`, `mixed` or `unknown`. said: the fact that tells, if any;
    facet: what to tell otherwise (of the table of needs). named: it was a thing that was named.
    weight: how surely, for choosing between two that hold.
    """

    truth: str
    said: Statement | None = None
    facet: str = "state"
    named: bool = False
    weight: float = 0.0
    general: bool = False


class Wish:
    """The wish of an instance with facts or of the 40 actions."""

    def __init__(self, instance: Instance, actions: ActionSet, *, known: bool) -> None:
        self._instance, self._known = instance, known
        by_id = {a.id: a for a in actions}
        self._things = {thing_of(by_id[a]) for a in instance.wanted} - {""}
        self._brings = any(
            re.search(r"持ってくる|\b[Bb]ring\b", by_id[a].text) for a in instance.wanted
        )

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The facts in parts that are compared one by one."""
        facts = self._instance.facts
        if facts is None:
            return ()
        language = self._instance.scene.language
        out: list[Statement] = []
        told = (facts.what_for, facts.why, facts.state, facts.first, facts.whom)
        for sentence in (*told, *facts.no.values()):
            for part in (sentence, *re.split(r"[、。！？,.!?…]+", sentence)):
                claim = Claim.of(part, language)
                # Why another thing is not wanted says nothing for the wish.
                other = sentence not in told
                if (claim.words or claim.concepts) and not (other and not claim.negated):
                    out.append(Statement(sentence, claim, not claim.negated, other=other))
        for holds, clauses in ((True, facts.true), (False, facts.false)):
            for clause in clauses:
                claim = Claim.of(clause, language)
                out.append(Statement(clause, claim, holds != claim.negated, clause=True, so=holds))
        return tuple(out)

    def judge(self, text: str, language: str, *, tail: str = "") -> Verdict:
        """Whether a claim holds as it is said: 「渇いていない」 of one who is not thirsty, yes.

        What only holds in general is judged as a positive statement (`general`).
        """
        claim = Claim.of(text, language)
        found = self._positive(claim, text, language, tail)
        if claim.negated and not found.general and found.truth in ("yes", "no"):
            return replace(found, truth="no" if found.truth == "yes" else "yes")
        return found

    def _positive(self, claim: Claim, text: str, language: str, tail: str) -> Verdict:
        general = self._in_general(text, language)
        core = nominal(text, english=language == "en")
        own = bool(core) and self._own_name(claim)
        if (claim.things or own) and (verdict := self._named(claim, general, own=own)):
            return verdict
        if core and (verdict := self._seen(Claim.of(core, language))):
            return verdict
        by_fact = self._by_facts(claim, general)
        if core and by_fact.truth == "yes" and general.truth == "no":
            # 「おなかも満ち足りてる」 speaks of the stomach, but it is not what the wish is about.
            return replace(general, general=True)
        if by_fact.truth != "unknown":
            return by_fact
        if tail:
            whole = self.judge(f"{text}、{tail}", language)
            if whole.truth != "unknown":
                return whole
        if general.truth != "unknown":
            return replace(general, general=True)
        if claim.things and not self._things & set(claim.things):
            return Verdict("no", named=True, weight=0.2)
        return by_fact

    def _named(self, claim: Claim, general: Verdict, *, own: bool) -> Verdict | None:
        """By the thing that a claim names, if naming is all it does."""
        named = set(claim.things)
        ours = bool(named & self._things) or own
        if ours and claim.desire and not self._brings:
            # 「おやつにしたい」 of one who wants it put away.
            return None
        rest = {w for w in claim.words - _FRAME if not mentioned(w) or w in ("飲む", "食べる")}
        rest -= {w for w in rest if self._called.get(w, set()) & (self._things if ours else named)}
        if not own and rest - self._words_of(named):
            # 「スマホの電池が…」 is about something else than the phone.
            return None
        if ours and general.facet == "deed":
            return Verdict(general.truth, named=True, weight=1.5)
        return Verdict("yes" if ours else "no", named=True, weight=1.5)

    def _seen(self, claim: Claim) -> Verdict | None:
        """By what the scene calls the things: 「チョコの箱（お菓子）」 is a 「チョコの箱」."""
        meant: set[str] | None = None
        for word in claim.words - _FRAME:
            if word not in self._called:
                return None
            meant = self._called[word] if meant is None else meant & self._called[word]
        if not meant:
            return None
        if not meant & self._things:
            if self._bears_on(claim):
                return Verdict("unknown", named=True)
            return Verdict("no", named=True, weight=1.2)
        return Verdict("yes", named=True, weight=1.2) if meant <= self._things else None

    def _bears_on(self, claim: Claim) -> bool:
        """Whether the wish has to do with a thing that is not the wanted one, so that it cannot
        be denied flatly: the fish that the paper is to dry, the tin (缶) of the opener (缶切り)."""
        asked = claim.words - _FRAME
        told = {w for s in self.statements if s.holds and not s.other for w in s.claim.words}
        stems = {t[0] for t in self._things if "一" <= t[0] <= "龠"}
        return bool(asked & told) or any(w[0] in stems for w in asked)

    @cached_property
    def _called(self) -> dict[str, set[str]]:
        """Words with which the scene speaks of things → these things; an entry without a known
        thing stands for itself."""
        scene = self._instance.scene
        entries = [*scene.user.holding, *scene.user.reach]
        entries += [t for area in scene.surroundings.values() for t in area]
        out: dict[str, set[str]] = {}
        for entry in entries:
            for word in Claim.of(entry, scene.language).words - _FRAME:
                out.setdefault(word, set()).update(mentioned(entry) or (entry,))
        return out

    def _own_name(self, claim: Claim) -> bool:
        facts = self._instance.facts
        if facts is None or not facts.name:
            return False
        own = Claim.of(facts.name, self._instance.scene.language).words - _FRAME
        asked = claim.words - _FRAME
        return bool(own) and (own <= asked or (bool(asked) and len(own) > 1 and asked <= own))

    @staticmethod
    @lru_cache(maxsize=256)
    def _words_for(thing: str) -> frozenset[str]:
        from naisei.clarify.things import all_names

        return frozenset(
            w for n in all_names(thing) for w in (*words(n), *(t.form for t in tokens(n)))
        )

    def _words_of(self, things: set[str]) -> frozenset[str]:
        return frozenset(w for t in things for w in self._words_for(t))

    def _by_facts(self, claim: Claim, general: Verdict) -> Verdict:
        best: dict[bool, tuple[float, Statement | None]] = {
            True: (0.0, None),
            False: (0.0, None),
        }
        for statement in self.statements:
            score = _likeness(claim, statement.claim)
            if statement.clause:
                score *= 1.05
            if score > best[statement.holds][0]:
                best[statement.holds] = (score, statement)
        (yes, why), (no, why_not) = best[True], best[False]
        if max(yes, no) < _COVER or (abs(yes - no) < 0.05 and yes > 0 and no > 0):
            return Verdict("unknown")
        if yes > no:
            return Verdict("yes", why, weight=yes)
        return Verdict("no", why_not, weight=no)

    def _in_general(self, text: str, language: str) -> Verdict:
        """By what holds of the wanted actions in any scene; else a mere `maybe`."""
        if not self._known:
            return Verdict("unknown")
        asked = matched(text, language)
        judged = [judge(text, need, language) for need in sorted(self._instance.wanted)]
        truths = [j.truth for j in judged]
        truth = next((t for t in ("yes", "maybe", "mixed", "no") if t in truths), "unknown")
        facet = judged[truths.index(truth)].facet
        if asked and all(p.name in _DEEDS for p in asked):
            return Verdict(truth, facet="deed", weight=0.8)
        if truth == "yes" and self.statements and any(map(_of_the_scene, asked)):
            # It mostly goes with such a wish, but nothing says that it is so here.
            return Verdict("maybe", facet=facet, weight=0.4)
        return Verdict(truth, facet=facet, weight=0.5)


def _of_the_scene(proposition: Proposition) -> bool:
    return proposition.facet in ("state", "why", "plan") and proposition.name not in _DEEDS


def _likeness(claim: Claim, fact: Claim) -> float:
    """How much of a claim a fact speaks of, 0 to about 1.2."""
    asked = claim.words - _FRAME or claim.words
    if not asked and not claim.concepts:
        return 0.0
    common = asked & fact.words
    cover = len(common) / len(asked) if asked else 0.0
    # 「水をふきたい」 is another wish than 「水の来ない所に置きたい」.
    apart = claim.wished and fact.wished and not claim.wished & fact.wished
    if claim.concepts and claim.concepts <= fact.concepts and not apart:
        cover = max(cover, 0.8)
    elif len(asked) <= 2 and cover < 1:
        return 0.0
    alike = 0.06 if claim.desire == fact.desire else 0.0
    return cover + 0.2 * len(common) / max(1, len(fact.words)) + alike
