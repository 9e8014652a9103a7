"""Rules for agents that act for people: a refusal ends the request, a chosen option is final, and
irreversible actions are confirmed first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from naisei.clarify.agent import Agent, View
from naisei.clarify.schemas import ActionSet, Clarify, Decision, Decline, Execute, Language
from naisei.core import Flow
from naisei.japanese.declining import declines

#: Longest list of actions to choose from.
_OPTIONS = 9
_WORDS = {
    "ja": {
        "sure": "「{action}」を行います。よろしいですか？",
        "again": "「{action}」は、同じご依頼で先ほど済んでいます。もう一度行いますか？",
        "yes": "はい",
        "no": "いいえ",
        "none": "この中にはない",
    },
    "en": {
        "sure": 'I am about to do this: "{action}". Shall I?',
        "again": 'I have just done this for the same request: "{action}". Once more?',
        "yes": "Yes",
        "no": "No",
        "none": "None of these",
    },
}


@dataclass(frozen=True)
class CarefulAgent:
    """Wraps `agent`: handles what needs no model, and confirmations. dangerous: actions that need a
    yes. done: the action that the same words triggered just before (0: none); repeating it needs a
    yes. reserved: questions of the quota that only confirmations may use.
    """

    agent: Agent
    actions: ActionSet
    dangerous: Collection[int] = ()
    done: int = 0
    reserved: int = 0

    @property
    def name(self) -> str:
        return self.agent.name

    def decide(self, view: View) -> Flow[Decision]:
        said = view.asked[-1].answer if view.asked else view.scene.utterance
        confirming = self._confirming(view)
        if said.strip() in {words["none"] for words in _WORDS.values()}:
            return Decline(reason="none fits")
        asked = view.asked[-1].question if view.asked else ""
        if not confirming and declines(said, asked, "\n".join(a.text for a in self.actions)):
            return Decline(reason="no request")
        if confirming:
            # Its patterns take time to load, and few doors confirm.
            from naisei.japanese.answers import grants, understand

            if grants(said):
                return Execute(action=confirming)
            if not understand(said).content or declines(said):
                return Decline(reason="no request")
        named = [each.id for each in self.actions if each.text == said.strip()]
        decision: Decision
        if named:
            decision = Execute(action=named[0])
        else:
            decision = yield from self.agent.decide(self._inner(view))
        if not isinstance(decision, Execute):
            return decision
        return self._confirmed(decision, view)

    def _confirmed(self, decision: Execute, view: View) -> Decision:
        """The decision, or a question to confirm it."""
        must = {*self.dangerous, self.done}
        wanted = next((each for each in (decision.action, *decision.also) if each in must), 0)
        if not wanted:
            return decision
        question = self._question(wanted, view.scene.language)
        if any(turn.question == question for turn in view.asked):
            # The confirmation got no yes.
            return Decline(reason="no request", thought=decision.thought)
        return Clarify(question=question, thought=decision.thought, guess=wanted)

    def _question(self, action: int, language: Language) -> str:
        words = _WORDS[language]["again" if action == self.done else "sure"]
        return words.format(action=self.actions.text(action))

    def _confirming(self, view: View) -> int:
        """The action that the last question asked to confirm; 0 for another question."""
        if not view.asked:
            return 0
        must = (*self.dangerous, *((self.done,) if self.done else ()))
        last = view.asked[-1].question
        return next((n for n in must if self._question(n, view.scene.language) == last), 0)

    def _inner(self, view: View) -> View:
        """The agent's view, without confirmations in its quota."""
        must = {*self.dangerous, *((self.done,) if self.done else ())}
        ours = {self._question(n, view.scene.language) for n in must}
        confirmed = sum(turn.question in ours for turn in view.asked)
        left = view.quota_left - self.reserved + confirmed
        return replace(view, may_ask=left > 0, quota_left=max(0, left))

    def options(self, asks: Clarify, view: View) -> tuple[str, ...]:
        """Answers to the question that are understood without a model."""
        likely = [each.action for each in asks.chances]
        return offered(asks.question, likely, self.actions, view.scene.language)


def offered(
    question: str, likely: Sequence[int], actions: ActionSet, language: Language
) -> tuple[str, ...]:
    """Answers to a question that are understood without a model. likely: actions, best first."""
    words = _WORDS[language]
    confirms = {words[name].format(action=a.text) for name in ("sure", "again") for a in actions}
    if question in confirms:
        return words["yes"], words["no"]
    listed = [actions.text(each) for each in likely] or [each.text for each in actions]
    return (*listed, words["none"]) if len(listed) <= _OPTIONS else ()
