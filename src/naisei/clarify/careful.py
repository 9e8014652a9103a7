"""Rules for agents that act for people: a refusal ends the request, a chosen option is final, and
irreversible actions are confirmed first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from naisei.clarify.agent import Agent, View
from naisei.clarify.schemas import ActionSet, Clarify, Decision, Decline, Execute, Language
from naisei.core import Flow
from naisei.japanese.consent import consent
from naisei.japanese.declining import declines

#: Longest list of actions to choose from.
_OPTIONS = 9
#: Characters of a request that a confirmation quotes.
_QUOTED = 200
_WORDS = {
    "ja": {
        "sure": "「{action}」を行います。ご依頼は「{request}」でした。よろしいですか？",
        "again": "「{action}」は先ほど済んでいます（ご依頼「{request}」）。もう一度行いますか？",
        "plainly": "一部だけ、条件付きでは行えません。「はい」か「いいえ」でお答えください。",
        "yes": "はい",
        "no": "いいえ",
        "none": "この中にはない",
    },
    "en": {
        "sure": 'I am about to do this: "{action}". You asked: "{request}". Shall I?',
        "again": 'I have just done this: "{action}". You asked the same: "{request}". Once more?',
        "plainly": "I can only do it as it is, or not at all: please answer yes or no. ",
        "yes": "Yes",
        "no": "No",
        "none": "None of these",
    },
}


@dataclass(frozen=True)
class CarefulAgent:
    """Wraps `agent` and handles confirmations and other cases that need no model. dangerous: ids of
    actions that need a yes. done: the action that the same words just triggered (0: none); a repeat
    needs a yes. reserved: number of questions reserved for confirmations.
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
        asked = view.asked[-1].question if view.asked else ""
        confirming = confirmed(asked, self.actions, view.scene.language)
        if said.strip() in {words["none"] for words in _WORDS.values()}:
            return Decline(reason="none fits")
        if confirming:
            granted = consent(said, self.actions.text(confirming))
            if granted is not None:
                return Execute(action=confirming) if granted else Decline(reason="not confirmed")
        elif declines(said, asked, "\n".join(a.text for a in self.actions)):
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
        """The decision, or a question to confirm it; asks again once if the answer is neither a
        bare yes nor a plain no."""
        must = {*self.dangerous, self.done}
        wanted = next((each for each in (decision.action, *decision.also) if each in must), 0)
        if not wanted:
            return decision
        language = view.scene.language
        words, request = _WORDS[language], " ".join(view.scene.utterance.split())
        quoted = request if len(request) <= _QUOTED else f"{request[:_QUOTED]}…"
        question = words["again" if wanted == self.done else "sure"].format(
            action=self.actions.text(wanted), request=quoted
        )
        times = sum(confirmed(t.question, self.actions, language) == wanted for t in view.asked)
        if times > 1:
            return Decline(reason="not confirmed", thought=decision.thought)
        if times:
            question = words["plainly"] + question
        return Clarify(question=question, thought=decision.thought, guess=wanted)

    def _inner(self, view: View) -> View:
        """The agent's view, with a quota that excludes reserved questions."""
        language = view.scene.language
        confirmations = sum(confirmed(t.question, self.actions, language) > 0 for t in view.asked)
        left = view.quota_left - self.reserved + confirmations
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
    if confirmed(question, actions, language):
        return words["yes"], words["no"]
    listed = [actions.text(each) for each in likely] or [each.text for each in actions]
    return (*listed, words["none"]) if len(listed) <= _OPTIONS else ()


def confirmed(question: str, actions: ActionSet, language: Language) -> int:
    """The action that a question asks to confirm; 0 for another question."""
    words = _WORDS[language]
    question = question.removeprefix(words["plainly"])
    for action in actions:
        for kind in ("sure", "again"):
            head, tail = words[kind].split("{request}")
            head = head.replace("{action}", action.text)
            if question.startswith(head) and question.endswith(tail):
                return action.id
    return 0
