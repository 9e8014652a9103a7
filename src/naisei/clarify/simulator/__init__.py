"""User simulators, which know the hidden intent and answer questions without revealing it."""

from __future__ import annotations

from typing import Literal

from naisei import lang
from naisei.clarify.describe import REFUSAL, facts_text, is_refusal, scene_text
from naisei.clarify.schemas import ActionSet, Instance, Language, Manner, Turn
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.core import (
    AskUser,
    Chat,
    Flow,
    FlowHandler,
    Handler,
    Message,
    Where,
    assistant,
    system,
    user,
)

__all__ = ["LLMSimulator", "simulator"]


class LLMSimulator(FlowHandler):
    """Answers `AskUser` effects by `Chat("simulator", …)`.

    Its calls are logged and counted under the role `simulator`. Its prompt holds its earlier
    answers, so that it stays consistent. Its answers are not filtered: `naisei clarify audit`
    measures how often it reveals the intent.
    """

    def __init__(
        self, instance: Instance, actions: ActionSet, *, manner: Manner = "cooperative"
    ) -> None:
        self.instance = instance
        self.history: list[Turn] = []
        language = instance.scene.language
        comma = "、" if language == "ja" else ", "
        facts = instance.facts and facts_text(instance.facts, actions, language)
        self._instructions = lang.render(
            "naisei.clarify",
            "simulator.v5",
            language,
            scene=scene_text(instance.scene),
            action=comma.join(actions.text(a) for a in sorted(instance.wanted)),
            refusal=REFUSAL if language == "ja" else "[cannot answer]",
            facts=facts or _NO_FACTS[language],
            manner=_MANNERS[language][manner],
        )

    def respond(self, effect: AskUser, where: Where) -> Flow[str]:
        reply = yield from Chat("simulator", self._messages(effect.question))
        answer = _tidied(reply)
        self.history.append(Turn(question=effect.question, answer=answer))
        return answer

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        self.history.append(Turn(question=effect.question, answer=result))

    def _messages(self, question: str) -> list[Message]:
        messages = [system(self._instructions)]
        for turn in self.history:
            messages += [user(turn.question), assistant(turn.answer)]
        return [*messages, user(question)]


def _tidied(reply: str) -> str:
    """Strip outer quotation marks and normalise the refusal; never empty."""
    text = reply.strip()
    for opening, closing in ("「」", '""', "''", "“”"):
        if len(text) > 1 and text.startswith(opening) and text.endswith(closing):
            text = text[1:-1].strip()
    return REFUSAL if not text or is_refusal(text) else text


_NO_FACTS = {
    "ja": "（望みと状況から分かることのほかは、何も決まっていません）",
    "en": "(nothing but what follows from the wish and the situation)",
}
_MANNERS: dict[Language, dict[Manner, str]] = {
    "ja": {
        "cooperative": "聞かれたことに、関わりのあることを添えて、一文か二文で素直に答えます。",
        "terse": "ひとことだけで答えます。理由や説明は付けません。",
        "vague": "はっきり言わず、「たぶん」「そんなところ」のようにぼかして、一文で答えます。"
        "うそは言いません。",
        "hurried": "急いでいます。手が離せないというひとことのあとに、短く答えます。",
        "mistaken": "最初の質問にだけ、いったん言い間違えて、同じ答えの中ですぐに言い直します。"
        "言い直したほうが本当の答えです。",
        "child": "幼い子どもの言葉で答えます。物の名前は子どもの言い方をします。",
        "elder": "年配の人の言葉で答えます。物の名前は昔の言い方や遠回しな言い方をします。",
    },
    "en": {
        "cooperative": "Answer what is asked readily, with what bears on it, in a sentence or two.",
        "terse": "Answer with a word or two only, without reasons.",
        "vague": "Stay vague and hedge, but never say what is not so.",
        "hurried": "You are in a hurry: a remark that you are busy, then a short answer.",
        "mistaken": "At the first question only, misspeak and put it right in the same answer; "
        "what you say then is true.",
        "child": "Speak as a small child does, with a child's names of things.",
        "elder": "Speak as an elderly person does, with roundabout names of things.",
    },
}


def simulator(
    name: Literal["rule", "llm"],
    instance: Instance,
    actions: ActionSet,
    *,
    seed: int = 0,
    manner: Manner = "cooperative",
) -> Handler:
    """Create the user of one episode, a handler of `AskUser` effects.

    manner: how this user answers, see `naisei.clarify.schemas.Manner`.
    """
    if name == "llm":
        return LLMSimulator(instance, actions, manner=manner)
    return RuleSimulator(instance, actions, seed=seed, manner=manner)
