"""A user's knowledge of their wish, used to judge claims.

A claim is a question or one of its alternatives, read as a positive statement. Sources, in this
order: the named thing, the instance's facts, the words of the wanted action. Otherwise the verdict
is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from naisei.clarify.schemas import ActionSet, Instance
from naisei.clarify.simulator.claims import (
    AVERSE,
    FRAME,
    Claim,
    Statement,
    at_once,
    clauses,
    dreads,
    leaning,
    likeness,
    nearest,
    nearness,
    repeats,
    settles,
)
from naisei.clarify.simulator.topics import having
from naisei.clarify.simulator.voice import nominal
from naisei.clarify.things import mentioned, name_words, thing_of
from naisei.japanese.morph import is_japanese, normalise
from naisei.japanese.questions import denied

#: Share of a claim's words that a fact needs to deny it, 0 to 1.
_COVER = 0.6
#: Below this `leaning`, a yes becomes `unknown`. On 291 questions of the development instances
#: this removes 5 % of the correct and 35 % of the wrong ones.
_VETO = -0.05
#: Below these cosines to the facts and to the actions, a question is irrelevant.
_FAR, _STRANGE = 0.42, 0.25
#: The weight of a clause that a claim repeats.
_REPEATED = 2.0


#: Verbs for handling a thing, grouped by meaning.
_DEEDS = {
    "bring": "持つ 取る 届ける 手元 bring fetch get",
    "away": "片付ける 片付け 片す 仕舞う 戻す 収納 退ける tidy put clear store away",
    "discard": "捨てる 処分 塵箱 throw discard bin",
    "heat": "温める 温かい レンジ heat warm microwave",
    "chill": "冷やす 冷蔵 冷蔵庫 chill fridge refrigerator",
}
_DEED_OF = {word: deed for deed, listed in _DEEDS.items() for word in listed.split()}


_OPENS = re.compile(r"^(?:もしかして|ひょっとして|いま|今)、?")
#: Denials of a whole sentence: 「出かけて買うわけではないのですか」.
_NOT_SO = re.compile(
    r"(?<=.)(?:という)?(?:わけ|訳|こと)(?:では|じゃ)?(?:ない|ありません)"
    r"(?:の|ん)?(?:です|でしょう)?か?[？。]*$"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """truth: `yes`, `no` or `unknown`. said: the supporting fact, if any. named: decided by a named
    thing or verb. weight: certainty, for choosing between two true sides."""

    truth: str
    said: Statement | None = None
    named: bool = False
    weight: float = 0.0


class Wish:
    """The wish of an instance, with or without facts."""

    def __init__(self, instance: Instance, actions: ActionSet) -> None:
        self._instance = instance
        by_id = {a.id: a for a in actions}
        self._texts = {a.id: a.text for a in actions}
        self._entries = instance.scene.entries
        self._things = {thing_of(by_id[a]) for a in instance.wanted} - {""}
        self._deeds = self._deeds_in(" ".join(self._texts[a] for a in sorted(instance.wanted)))

    def _deeds_in(self, text: str) -> set[str]:
        held = having(text, "ja" if is_japanese(text) else "en")
        return {_DEED_OF[w] for w in held if w in _DEED_OF}

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The facts split into comparable parts."""
        facts = self._instance.facts
        if facts is None:
            return ()
        language = self._instance.scene.language
        out: list[Statement] = []
        own = (facts.what_for, facts.why, facts.state, facts.first, facts.whom)
        for sentence in (*own, *facts.no.values()):
            pieces = clauses(sentence, language)
            whole = () if len(pieces) > 1 and denied(sentence) else (sentence,)
            for part in dict.fromkeys((*whole, *pieces)):
                claim = Claim.of(part, language)
                if part.endswith(("て", "で")):
                    # 「飲みおえて置いた」: the sentence ending gives the time.
                    claim = replace(claim, mode=Claim.of(sentence, language).mode)
                # Reasons against other things do not support the wish.
                other = sentence not in own
                if claim.words and not (other and not claim.negated):
                    out.append(Statement(sentence, claim, not claim.negated, other=other))
        for holds, listed in ((True, facts.true), (False, facts.false)):
            for clause in listed:
                claim = Claim.of(clause, language)
                out.append(Statement(clause, claim, holds != claim.negated, clause=True, so=holds))
        return tuple(out)

    def judge(
        self, text: str, language: str, *, tail: str = "", apart: frozenset[str] = frozenset()
    ) -> Verdict:
        """Judge a claim: 「渇いていない」 is true of someone who is not thirsty.

        tail: the predicate shared by all alternatives. apart: words shared by all of them.
        """
        text = _OPENS.sub("", text)
        if framed := _NOT_SO.search(normalise(text)):
            whole = text[: framed.start()].removesuffix("な")
            of_whole = self.judge(whole, language, tail=tail, apart=apart)
            turned = {"yes": "no", "no": "yes"}.get(of_whole.truth, of_whole.truth)
            return replace(of_whole, truth=turned)
        claim = Claim.of(text, language)
        if claim.negated and len(clauses(text, language)) > 1 and not claim.things:
            # 「のどが渇いて眠れない」 denies only the last clause.
            return Verdict("unknown")
        found = self._positive(claim, text, language, tail, apart)
        if claim.negated and found.truth in ("yes", "no"):
            return replace(found, truth="no" if found.truth == "yes" else "yes")
        return found

    def printed(self, side: str) -> str:
        """The scene entry that an alternative names exactly (「空の水筒のことですか」); empty for
        「空の水筒を洗いたいですか」."""
        said = normalise(side)
        named = [e for e in map(normalise, self._entries) if said.startswith(e)]
        # `nominal` fails on long noun phrases, so substitute a short noun.
        only = [e for e in named if nominal("物" + said[len(e) :], english=False) == "物"]
        return max(only, key=len, default="")

    def whose(self, name: str, language: str) -> Literal["own", "other"] | None:
        """Whether a name means the wanted thing or another one; `None` if unclear. Names
        come from the scene, the actions and this person."""
        needed = Claim.of(name, language).words - FRAME
        if self._own_name(Claim.of(name, language)):
            return "own"
        if self._things:
            named = set(mentioned(name)) or self._entry(name)
            if len(named) != 1:
                return None
            return "own" if named & self._things else "other"
        if needed & self._object(self._instance.wanted):
            return "own"
        others = set(self._texts) - self._instance.wanted
        return "other" if self._entry(name) or needed & self._object(others) else None

    def _entry(self, name: str) -> set[str]:
        """The known things in the scene entry with this name, else the entry."""
        said = normalise(name)
        held = next((e for e in self._entries if normalise(e) == said), "")
        return set(mentioned(held)) or ({held} - {""})

    def _object(self, wanted: Iterable[int]) -> frozenset[str]:
        """The object of actions: the words before を, or the whole text."""
        heads = (self._texts[a].rpartition("を")[0] or self._texts[a] for a in wanted)
        language = self._instance.scene.language
        return frozenset(w for h in heads for w in Claim.of(h, language).words) - FRAME

    def nearest(self, text: str, heard: str) -> str:
        """The unused fact nearest to a text; empty if none is left."""
        facts = self._instance.facts
        if facts is None:
            return ""
        own = (facts.state, facts.why, facts.what_for, facts.first)
        return nearest(text, [s for s in own if s and s not in heard])

    def is_far(self, text: str) -> bool:
        """Whether a question is unrelated to the wish and to all actions, by sentence vectors (true
        of 2 % of the fair yes/no questions on the development instances)."""
        texts = [s.text for s in self.statements]
        return nearness(text, texts) < _FAR and nearness(text, [*self._texts.values()]) < _STRANGE

    def tells_of(self, text: str, language: str) -> bool:
        """Whether a question relates to the facts, a thing, or the objects of actions."""
        claim = Claim.of(text, language)
        if claim.things or claim.words & self._object(self._texts):
            return True
        return any((claim.words - FRAME) & s.claim.words for s in self.statements)

    def _positive(
        self, claim: Claim, text: str, language: str, tail: str, apart: frozenset[str]
    ) -> Verdict:
        core = nominal(text, english=language == "en")
        own = bool(core) and self._own_name(claim)
        if (claim.things or own) and (verdict := self._named(claim, own=own)):
            return verdict
        by_fact = self._by_facts(claim, text, apart)
        if core and by_fact.truth == "yes" and by_fact.weight < _REPEATED:
            # 「飲み物は用意してある」 mentions drinks, but the wish is not about them.
            by_fact = Verdict("unknown")
        if by_fact.truth != "unknown":
            return by_fact
        if tail:
            whole = self.judge(f"{text}、{tail}", language, apart=apart)
            if whole.truth != "unknown":
                return whole
        if not claim.words - FRAME - _DEED_OF.keys() and (deeds := self._deeds_in(text)):
            return Verdict("yes" if deeds <= self._deeds else "no", named=True, weight=0.8)
        if claim.things and not self._things & set(claim.things) and (core or claim.desire):
            return Verdict("no", named=True, weight=0.2)
        return self._by_action(claim) if not self._things else by_fact

    def _by_action(self, claim: Claim) -> Verdict:
        """The verdict from the words of wanted and other actions."""
        own = self._object(self._instance.wanted)
        others = self._object(
            set(self._texts) - self._instance.wanted - {*self._instance.plausible}
        )
        for truth, about in (("yes", own), ("no", others - own)):
            if claim.words & about:
                return Verdict(truth, named=True, weight=0.3)
        return Verdict("unknown")

    def _named(self, claim: Claim, *, own: bool) -> Verdict | None:
        """The verdict from the named thing, if the claim only names it."""
        named = set(claim.things)
        ours = bool(named & self._things) or own
        if claim.times - {"now"}:
            # 「おろし器は後でいい」 says more than which thing it is.
            return None
        if ours and claim.desire and "bring" not in self._deeds:
            # 「おやつにしたい」, but the user wants it put away.
            return None
        rest = {w for w in claim.words - FRAME if not mentioned(w) or w in ("飲む", "食べる")}
        rest -= {w for w in rest if self._called.get(w, set()) & (self._things if ours else named)}
        if not own and rest - frozenset().union(*map(name_words, named)):
            # 「スマホの電池が…」 is not about the phone itself.
            return None
        return Verdict("yes" if ours else "no", named=True, weight=1.5)

    @cached_property
    def _called(self) -> dict[str, set[str]]:
        """The scene's words for things → the things; an entry without a known thing maps to
        itself."""
        language = self._instance.scene.language
        out: dict[str, set[str]] = {}
        for entry in self._entries:
            for word in Claim.of(entry, language).words - FRAME:
                out.setdefault(word, set()).update(mentioned(entry) or (entry,))
        return out

    def _own_name(self, claim: Claim) -> bool:
        facts = self._instance.facts
        if facts is None or not facts.name:
            return False
        own = Claim.of(facts.name, self._instance.scene.language).words - FRAME
        needed = claim.words - FRAME
        return bool(own) and (own <= needed or (bool(needed) and len(own) > 1 and needed <= own))

    def _by_facts(self, claim: Claim, text: str, apart: frozenset[str]) -> Verdict:
        """Yes if one fact settles the claim and no false statement is nearer; no if a false
        statement covers most of it, or a true fact names another time."""
        if claim.averse and claim.words - FRAME - AVERSE:
            return self._of_dread(claim)
        needed = claim.words - FRAME - apart or claim.words - apart
        yes, no = Verdict("unknown"), Verdict("unknown")
        speaks_for = 0.0
        for statement in self.statements:
            score = likeness(claim, statement.claim, apart) * (1.05 if statement.clause else 1.0)
            if statement.clause and repeats(statement.claim, claim):
                return Verdict("yes" if statement.holds else "no", statement, weight=_REPEATED)
            settled = settles(statement.claim, needed, claim)
            if statement.holds:
                speaks_for = max(speaks_for, score)
                if settled and score >= yes.weight:
                    yes = Verdict("yes", statement, weight=score)
                elif settled is False:
                    return Verdict("no", statement, weight=score)
            elif score >= _COVER and score > no.weight and at_once(statement.claim, claim):
                no = Verdict("no", statement, weight=score)
        if yes.said is not None and yes.weight > no.weight - 0.05:
            return Verdict("unknown") if leaning(text, self.statements) < _VETO else yes
        return no if no.weight > speaks_for + 0.05 else Verdict("unknown")

    def _of_dread(self, claim: Claim) -> Verdict:
        """Judge 「散らかるのがいやですか」 by facts about unwelcome things only."""
        for statement in self.statements:
            if not statement.other and dreads(statement.claim, claim):
                # 「散らかしたくない」 negates the claim, but the text is true.
                truth = "yes" if statement.so else "no"
                return Verdict(truth, statement, weight=1.0)
        return Verdict("unknown")
