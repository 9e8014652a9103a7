"""`hybrid`: a model proposes hypotheses and a question; the policy decides whether to ask.

The model is good at guessing meanings and wording questions, and bad at knowing when asking pays.
So it returns candidate actions, their probabilities, and the user's expected answer under each;
optimal stopping (`policy.plan`) does the rest.
"""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from annotated_types import Len
from pydantic import BaseModel, ConfigDict, create_model

from naisei import lang
from naisei.clarify.agent import AgentContext, AgentFactory, PromptName, View
from naisei.clarify.agents.llm import situation
from naisei.clarify.agents.policy import Stage, plan
from naisei.clarify.agents.questions import POLAR
from naisei.clarify.describe import action_list, wanted_text
from naisei.clarify.schemas import Chance, Clarify, Decision, Execute
from naisei.core import Chat, Flow, Message, system, user
from naisei.plugins import Options
from naisei.schema import model_field
from naisei.similarity import order

Array = npt.NDArray[np.float64]
Expected = Literal["yes", "no", "unknown"]

#: Number of hypotheses.
COUNT = 5


class Hypothesis(BaseModel):
    """A possible meaning and its probability."""

    model_config = ConfigDict(extra="ignore")

    action: int = model_field("行動の番号", "Number of the action")
    percent: int = model_field(
        "見込み（％、5 刻み）", "Its chance in per cent, in steps of 5", ge=0, le=100
    )


class Hypotheses(BaseModel):
    """A thought, `COUNT` actions with their chances, and perhaps a yes/no question with the
    expected answer under each, in the same order."""

    model_config = ConfigDict(extra="ignore")

    thought: str = model_field(
        "見立ての理由。日本語で二文以内", "The reason, in two sentences at most"
    )
    hypotheses: tuple[Hypothesis, ...] = model_field(
        "ありそうな順に、互いに異なる行動", "Different actions, the likeliest first"
    )
    question: str = model_field(
        "仮説を分ける質問の一文。質問できないなら空",
        "One yes/no question that separates them; empty if none may be asked",
        "",
    )
    answers: tuple[Expected, ...] = model_field(
        "各仮説が正しいときの相手の答え（仮説と同じ順）。質問が空なら空",
        "What the person would answer under each, in the same order; empty without a question",
        (),
        synonyms={
            "yes": ("はい", "肯定"),
            "no": ("いいえ", "否定"),
            "unknown": ("不明", "わからない", "分からない", "どちらでもない", "unsure"),
        },
    )

    def belief(self, ids: tuple[int, ...], floor: float) -> Array:
        """P(action), shape (ids,), sums to 1. floor: share spread over all `ids`."""
        mass = np.zeros(len(ids))
        given = [h for h in self.hypotheses if h.action in ids]
        for hypothesis in given:
            mass[ids.index(hypothesis.action)] += hypothesis.percent
        if mass.sum() <= 0:
            # Without probabilities the order decides.
            mass[ids.index(given[0].action) if given else slice(None)] = 1.0
        out: Array = (1 - floor) * mass / mass.sum() + floor / len(ids)
        return out

    def expected(self, ids: tuple[int, ...]) -> tuple[Expected, ...]:
        """The expected answer for each of `ids`; `unknown` if missing."""
        found: dict[int, Expected] = {}
        for hypothesis, answer in zip(self.hypotheses, self.answers, strict=False):
            found.setdefault(hypothesis.action, answer)
        return tuple(found.get(a, "unknown") for a in ids)


@lru_cache(maxsize=64)
def hypotheses_schema(ids: tuple[int, ...]) -> type[Hypotheses]:
    """The schema, constant in a run so that requests share a prefix."""
    number: Any = Literal[ids]
    field = deepcopy(Hypothesis.model_fields["action"])
    one: Any = create_model("Hypothesis", __base__=Hypothesis, action=(number, field))
    some: Any = Annotated[tuple[one, ...], Len(COUNT, COUNT)]
    field = deepcopy(Hypotheses.model_fields["hypotheses"])
    return create_model("Hypotheses", __base__=Hypotheses, hypotheses=(some, field))


#: Share of the belief spread over all actions, for meanings the model missed.
FLOOR = 0.1

_TRUTH = {"yes": "yes", "no": "no", "unknown": "maybe"}
_WORDS = {
    "ja": {
        "question": "質問：",
        "answer": "回答：",
        "ask": "仮説を{n}つと、はい・いいえで答えられる質問を1つ挙げてください。",
        "act": "もう質問はできません。仮説を{n}つ挙げてください。",
    },
    "en": {
        "question": "Question: ",
        "answer": "Answer: ",
        "ask": "Give {n} hypotheses and one question that can be answered with yes or no.",
        "act": "No more questions are possible. Give {n} hypotheses.",
    },
}


class HybridOptions(Options):
    """prompt: name of the system prompt."""

    prompt: PromptName = "hybrid.v3"


class HybridAgent:
    """Makes one structured model call per step; a policy decides whether to ask."""

    name = "hybrid"

    def __init__(self, context: AgentContext) -> None:
        self._alpha, self._beta, self._trials = context.alpha, context.beta, context.trials
        self._prompt = HybridOptions.model_validate(dict(context.options)).prompt

    def decide(self, view: View) -> Flow[Decision]:
        allowed = view.allowed
        reply = yield from Chat(
            "agent",
            self._messages(view),
            hypotheses_schema(view.actions.ids),
        )
        belief = reply.belief(allowed, FLOOR)
        question = reply.question.strip()
        fresh = question and question not in {t.question for t in view.asked}
        tables = np.zeros((0, 3, len(allowed)))
        if view.may_ask and fresh:
            truths = [POLAR[_TRUTH[e]] for e in reply.expected(allowed)]
            tables = np.array(truths).T[None]
        stage = Stage(
            alpha=self._alpha,
            beta=self._beta,
            trials=max(1, self._trials - view.trial + 1),
            quota=view.quota_left + len(view.asked),
            left=view.quota_left if view.may_ask else 0,
        )
        chosen = plan(belief, tables, stage)
        guess = allowed[chosen.action]
        top = order(belief)[:COUNT]
        chances = tuple(Chance(action=allowed[i], p=float(belief[i])) for i in top)
        if chosen.pays:
            return Clarify(question=question, thought=reply.thought, guess=guess, chances=chances)
        return Execute(action=guess, thought=reply.thought, chances=chances)

    def _messages(self, view: View) -> list[Message]:
        language = view.scene.language
        w = _WORDS[language]
        lines = situation(view)
        lines += [f"{w['question']}{t.question}\n{w['answer']}{t.answer}" for t in view.asked]
        lines.append(w["ask" if view.may_ask else "act"].format(n=COUNT))
        instructions = lang.render(
            "naisei.clarify",
            self._prompt,
            language,
            actions=action_list(view.actions),
            wanted=wanted_text(language, several=view.several, declines=view.declines),
        )
        return [system(instructions), user("\n\n".join(lines))]


build = AgentFactory(HybridAgent, model_free=False, options=HybridOptions)
