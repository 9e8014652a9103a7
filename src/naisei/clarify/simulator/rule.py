"""A rule-based user, who answers from the facts of the wish.

It follows the paper's simulator (Figure 6): it answers in a sentence or two, describes the
situation instead of the action, never misleads, stays consistent, and refuses useless questions
with 【回答できません】. It admits what this person cannot know. Without facts it knows
only the words of the wanted action.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace

from naisei.clarify.describe import REFUSAL
from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import Action, ActionSet, Facts, Instance, Manner, Turn
from naisei.clarify.simulator.claims import FRAME, Claim
from naisei.clarify.simulator.containers import LEVELS, asked_container, asks_empty, level
from naisei.clarify.simulator.topics import (
    TELL_ME,
    WHAT_IS_UP,
    facet_asked,
    leads_nowhere,
    speaks_of_things,
)
from naisei.clarify.simulator.voice import Reply, Stance, Voice, nominal, pick, register_of
from naisei.clarify.simulator.wish import Verdict, Wish
from naisei.clarify.things import mentioned, thing_of
from naisei.core import AskUser, Handler, Where
from naisei.japanese.questions import Question, parse

#: Facet of an open question → the facts that answer it, best first.
_SLOTS = {
    "why": ("why", "state"),
    "plan": ("what_for", "why"),
    "use": ("what_for", "state"),
    "state": ("state", "why"),
    "whom": ("whom",),
    "": ("first", "state", "why", "what_for"),
}


#: Words that may precede the name in a question.
_OPENS = re.compile(r"^(?:それって|それは|もしかして|では)、?")


class RuleSimulator(Handler):
    """Answers `AskUser` effects for one instance in one episode.

    seed: affects only the wording. manner: how this user answers. The same questions in the same
    order get the same answers.
    """

    def __init__(
        self,
        instance: Instance,
        actions: ActionSet,
        *,
        seed: int = 0,
        manner: Manner = "cooperative",
    ) -> None:
        self.instance, self.actions, self.seed = instance, actions, seed
        self.history: list[Turn] = []
        self._voice = Voice(register_of(instance, manner), manner)
        self._facts = instance.facts or Facts()
        self._wish = Wish(instance.model_copy(update={"facts": self._facts}), actions)

    def perform(self, effect: AskUser, where: Where) -> str:
        answer = self.answer(effect.question)
        self.history.append(Turn(question=effect.question, answer=answer))
        return answer

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        self.history.append(Turn(question=effect.question, answer=result))

    def answer(self, question: str) -> str:
        """The user's next answer, given the questions so far; changes no state."""
        if broken_rule(question, self.actions) is not None:
            return REFUSAL
        parsed = parse(question)
        if parsed.form == "none":
            # Any text counts as a question.
            parsed = parse(question.rstrip("。…！!. ") + "？")
        key = f"{self.seed}:{self.instance.id}:{len(self.history)}:{parsed.text}"
        reply = self._reply(parsed, "ja" if parsed.japanese else "en", key)
        if reply is None:
            return REFUSAL
        return self._voice.speak(reply, key, turn=len(self.history))

    def _reply(self, question: Question, language: str, key: str) -> Reply | None:
        """The reply; `None` for a useless question."""
        if question.form == "none" or not (question.content or question.form == "wh"):
            return None
        if question.sides and (chosen := self._among_things(question, language, key)):
            return chosen
        if (
            question.form == "polar"
            and not question.negated
            and self._is_wanted(question.text, language)
        ):
            return self._tell_with("yes", key)
        named = nominal(question.text, english=not question.japanese)
        if not named and (fact := self._contents(question, key)):
            return fact
        if question.form == "alternative":
            return self._alternative(question, language, key)
        if leads_nowhere(question.text, language) and not self._wish.tells_of(
            question.text, language
        ):
            return None
        if question.form == "wh" or TELL_ME.search(question.text.lower()):
            return self._open(question, language, key)
        return self._polar(question, language, key)

    def _contents(self, question: Question, key: str) -> Reply | None:
        """The reply about a container's level; `None` for other questions."""
        container = asked_container(question.text)
        # 「空のペットボトルか、水筒か」 chooses between things.
        if not container or len({t for side in question.sides for t in mentioned(side)}) > 1:
            return None
        how_full = level(container, self.instance)
        if how_full is None:
            return Reply("unknown", self._wish.nearest(question.text, self._answers_so_far()))
        stem = pick(LEVELS[self.instance.scene.language][how_full], f"level:{key}")
        if question.form != "polar" or question.negated:
            return Reply("open", stem, clause=True)
        holds = (how_full == "empty") == asks_empty(question.text)
        return Reply("yes" if holds else "no", stem, clause=True)

    def _polar(self, question: Question, language: str, key: str) -> Reply | None:
        judged = self._wish.judge(question.text, language)
        if judged.truth == "unknown":
            facet = facet_asked(question.text, language) if question.indefinite else ""
            if question.indefinite and (fact := self._tell(facet, key)):
                return fact
            if question.japanese and self._wish.is_far(question.text):
                return None
            return Reply("unknown", self._wish.nearest(question.text, self._answers_so_far()))
        fact = self._telling(judged, question.text, key)
        if question.negated and judged.said is None:
            # A yes to a negative question is ambiguous, so state the fact.
            return _with(fact, "open", True)
        return _with(fact, judged.truth, question.negated)

    def _among_things(self, question: Question, language: str, key: str) -> Reply | None:
        """The reply to a choice among named things: the wanted one, or none of them; `None` if
        unclear."""
        english = language == "en"
        names = [self._wish.printed(s) or nominal(s, english=english) for s in question.sides]
        whose = [self._wish.whose(name, language) if name else None for name in names]
        if whose.count("own") == 1:
            at = whose.index("own")
            # An ordinal could refer to another list.
            named = len(question.sides) > 2 or re.search(r"どれ|どっち|どちら", question.text)
            sides = tuple(n or s for n, s in zip(names, question.sides, strict=True))
            fact = self._tell_with("side", key)
            return replace(fact, sides=sides, at=at, by_name=bool(named))
        if set(whose) == {"other"}:
            return _none_of(question, self._tell("state", key))
        return None

    def _is_wanted(self, text: str, language: str) -> bool:
        """Whether a question only names the wanted thing."""
        said = _OPENS.sub("", text)
        name = self._wish.printed(said) or nominal(said, english=language == "en")
        return bool(name) and self._wish.whose(name, language) == "own"

    def _tell_with(self, stance: Stance, key: str) -> Reply:
        fact = self._tell(pick(("plan", "state"), f"named:{key}"), key)
        return _with(fact, stance, False) if fact else Reply(stance)

    def _alternative(self, question: Question, language: str, key: str) -> Reply | None:
        claims = [Claim.of(s, language) for s in question.sides]
        alike = frozenset.intersection(*(c.words for c in claims))
        judged = [self._wish.judge(s, language, tail=question.tail) for s in question.sides]
        # If all other sides are denied, judge a side by its distinctive words.
        for at, side in enumerate(question.sides):
            others = [j.truth for j in (*judged[:at], *judged[at + 1 :])]
            if judged[at].truth == "unknown" and set(others) == {"no"}:
                judged[at] = self._wish.judge(side, language, tail=question.tail, apart=alike)
        # A fact that mentions a side would sound like choosing it.
        apart = frozenset(w for c in claims for w in (*c.words, *c.things))
        truths = [j.truth for j in judged]
        held = [i for i, t in enumerate(truths) if t == "yes"]
        if len(held) > 1 and all(judged[i].named for i in held) and len(self.instance.wanted) > 1:
            return Reply("both", sides=question.sides)
        if len(held) > 1:
            # If two hold, choose the one with more support.
            most = max(judged[i].weight for i in held)
            held = [i for i in held if judged[i].weight > most - 0.05]
        if len(held) == 1:
            fact = self._telling(judged[held[0]], question.sides[held[0]], key)
            return replace(fact, stance="side", sides=question.sides, at=held[0])
        if not held and "unknown" not in truths:
            # Every side is denied; add the first reason found.
            said = next((j.said for j in judged if j.said and not j.said.clause), None)
            return _none_of(
                question, Reply("neither", said.text) if said else self._tell("state", key)
            )
        if set(truths) == {"unknown"} and all(leads_nowhere(s, language) for s in question.sides):
            return None
        return self._tell("state", key, apart) or Reply("unknown")

    def _open(self, question: Question, language: str, key: str) -> Reply | None:
        facet = facet_asked(question.text, language)
        if question.asks == "why" or re.search(r"what (?:made|makes) you", question.text.lower()):
            facet = "why"
        if WHAT_IS_UP.search(question.text):
            return self._tell("", key)
        # For custom actions, relevance is unknown.
        helps = facet or self._wish.tells_of(question.text, language) or not thing_of(self._gold)
        if not helps and speaks_of_things(question.text, language):
            return None
        asks = Claim.of(question.text, language).words - FRAME
        return self._tell(facet, key, about=asks)

    def _telling(self, judged: Verdict, text: str, key: str) -> Reply:
        """The fact to state with a verdict: its reason, or a related one."""
        said = judged.said
        if said is not None:
            return Reply("open", said.text, said.clause, not said.so, first=self._facts.first)
        if judged.truth == "yes":
            return self._tell(pick(("plan", "state"), f"named:{key}"), key) or Reply("open")
        things = Claim.of(text, self.instance.scene.language).things
        for action, why in self._facts.no.items():
            listed = next((a for a in self.actions if a.id == action), None)
            if listed is not None and thing_of(listed) in things:
                return Reply("open", why, first=self._facts.first)
        return Reply("open")

    def _tell(
        self,
        facet: str,
        key: str,
        apart: Set[str] = frozenset(),
        about: Set[str] = frozenset(),
    ) -> Reply | None:
        """An unused fact for a facet, without the words `apart`; without a facet, one with the
        words `about`."""
        fact = self._answers_so_far()
        ordered = (*_SLOTS.get(facet, _SLOTS[""]), "what_for", "state", "why", "first")
        found = [s for name in ordered if (s := getattr(self._facts, name))]
        language = self.instance.scene.language
        claims = [Claim.of(s, language) for s in found]
        free = [not apart & {*c.words, *c.things} for c in claims]
        found = [s for s, ok in zip(found, free, strict=True) if ok] or found
        if facet in ("", "state"):
            found.sort(key=lambda s: not about & Claim.of(s, language).words)
        # The posture is visible to everyone.
        seen = Claim.of(self.instance.scene.user.posture, language)
        found = [s for s in found if not _within(Claim.of(s, language), seen)] or found
        fresh = [s for s in found if s not in fact]
        said = (fresh or found or [""])[0]
        return Reply("open", said, first=self._facts.first) if said else None

    def _answers_so_far(self) -> str:
        """All answers so far."""
        return " ".join(t.answer for t in self.history)

    @property
    def _gold(self) -> Action:
        return next(a for a in self.actions if a.id == self.instance.gold)


def _within(claim: Claim, seen: Claim) -> bool:
    return bool(claim.words) and claim.words <= seen.words


def _none_of(question: Question, fact: Reply | None) -> Reply:
    """A denial of all alternatives, with a fact if there is one."""
    return replace(fact or Reply("neither"), stance="neither", restate=False, sides=question.sides)


def _with(reply: Reply, stance: str, restate: bool) -> Reply:
    return replace(reply, stance=stance, restate=restate)  # type: ignore[arg-type]
