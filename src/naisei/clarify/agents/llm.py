"""`llm`: a language model decides in one reply, flat, closed, and valid by construction."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from naisei import lang
from naisei.clarify.agent import AgentContext, PromptName, View, declares
from naisei.clarify.describe import action_list, scene_text
from naisei.clarify.schemas import Clarify, Decision, Execute
from naisei.core import Chat, Flow, Message, assistant, system, user
from naisei.plugins import Options

__all__ = ["LLMAgent", "LLMOptions", "Reply", "build", "conversation", "reply_schema"]


class Reply(BaseModel):
    """A thought, and then either a question or an action.

    Flat on purpose: unions are refused or mangled by many endpoints, and weak models
    fill a flat form more reliably. `action` is always given: when asking it is the
    best guess so far, from which over-asking is measured.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str
    choice: Literal["clarify", "execute"]
    question: str = ""
    action: int

    @model_validator(mode="after")
    def _a_question_has_words(self) -> Reply:
        if self.choice == "clarify" and not self.question.strip():
            raise ValueError("choice is 'clarify' but the question is empty")
        return self


@lru_cache(maxsize=1024)
def reply_schema(allowed: tuple[int, ...], may_ask: bool) -> type[Reply]:
    """The schema for this step: only actions still allowed, and no question once none may be asked.

    Actions are an enumeration, since endpoints do not enforce integer bounds.
    """
    fields: dict[str, Any] = {
        "thought": (str, Field(description="short reasoning before the decision")),
        "choice": (Literal["clarify", "execute"] if may_ask else Literal["execute"], ...),
        "action": (
            Literal[allowed],
            Field(description="id of the action to execute; when asking, the best guess so far"),
        ),
    }
    if may_ask:  # else the base's optional one stays, for models that fill it all the same
        asked = Field(description="the one question to ask; empty when executing")
        fields["question"] = (str, asked)
    return create_model("Decision", __base__=Reply, **fields)


_MEMO = {"ja": "【内省メモ】", "en": "[Reflection memo]"}
_TRIED = {
    "ja": "すでに実行して違っていた行動（もう選べません）：",
    "en": "Already executed and wrong (no longer allowed): ",
}
_MAY_ASK = {
    "ja": "質問はあと{n}回できます。質問するか、実行するかを決めてください。",
    "en": "You may ask {n} more question(s). Decide: ask or execute.",
}
_MUST_ACT = {
    "ja": "もう質問はできません。行動を1つ選んで実行してください。",
    "en": "No more questions are possible. Choose one action and execute it.",
}


def conversation(view: View, prompt: str) -> list[Message]:
    """The messages for a decision. Everything before the last message stays the same
    within a trial, so that endpoints can reuse their prefix cache."""
    language = view.scene.language
    given = [scene_text(view.scene)]
    if view.memo:
        given.append(f"{_MEMO[language]}\n{view.memo}")
    if view.tried:
        separator = "、" if language == "ja" else ", "
        named = separator.join(f"{a}. {view.actions.text(a)}" for a in view.tried)
        given.append(_TRIED[language] + named)
    now = _MAY_ASK[language].format(n=view.quota_left) if view.may_ask else _MUST_ACT[language]
    messages = [
        system(lang.render("naisei.clarify", prompt, language, actions=action_list(view.actions)))
    ]
    heard = "\n\n".join(given)
    for turn in view.asked:
        messages += [user(heard), assistant(turn.question)]
        heard = turn.answer
    messages.append(user(f"{heard}\n\n{now}"))
    return messages


class LLMOptions(Options):
    """prompt: name of the system prompt."""

    prompt: PromptName = "agent.v1"


class LLMAgent:
    """Decides by one structured model call per step."""

    name = "llm"

    def __init__(self, prompt: str = "agent.v1") -> None:
        self.prompt = prompt

    def decide(self, view: View) -> Flow[Decision]:
        allowed = tuple(a for a in view.actions.ids if a not in view.tried)
        reply = yield from Chat(
            "agent",
            conversation(view, self.prompt),
            reply_schema(allowed, view.may_ask),
        )
        if reply.choice == "clarify":
            return Clarify(question=reply.question, thought=reply.thought, guess=reply.action)
        return Execute(action=reply.action, thought=reply.thought)


@declares(model_free=False, options=LLMOptions)
def build(context: AgentContext) -> LLMAgent:
    """Options: `LLMOptions`."""
    return LLMAgent(prompt=LLMOptions.model_validate(dict(context.options)).prompt)
