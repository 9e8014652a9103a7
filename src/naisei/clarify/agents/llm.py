"""`llm`: a language model decides in one reply, flat, closed, and valid by construction."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model, model_validator
from pydantic_core import PydanticCustomError

from naisei import lang
from naisei.clarify.agent import AgentContext, PromptName, View, declares
from naisei.clarify.describe import action_list, past_text, scene_text
from naisei.clarify.schemas import Clarify, Decision, Execute
from naisei.core import Chat, Flow, Message, assistant, system, user
from naisei.plugins import Options
from naisei.schema import told

__all__ = ["LLMAgent", "LLMOptions", "Reply", "build", "conversation", "reply_schema"]


class Reply(BaseModel):
    """A thought, and then either a question or an action.

    Flat on purpose: unions are refused or mangled by many endpoints, and weak models
    fill a flat form more reliably. `action` is always given: when asking it is the
    best guess so far, from which over-asking is measured.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str = told("判断の理由。二文以内", "The reason, in two sentences at most")
    choice: Literal["clarify", "execute"] = told(
        "clarify は質問、execute は実行", "clarify asks, execute acts"
    )
    question: str = told(
        "質問の一文。execute なら空", "The question, one sentence; empty with execute", ""
    )
    action: int = told(
        "実行する行動の番号。clarify なら今いちばん有力な番号",
        "Number of the action to execute; with clarify, the likeliest so far",
    )

    @model_validator(mode="after")
    def _a_question_has_words(self) -> Reply:
        if self.choice == "clarify" and not self.question.strip():
            raise PydanticCustomError("no_question", "with choice clarify, write the question")
        return self


class SeveralReply(Reply):
    """A reply that may execute several actions at once."""

    also: list[int] = told(
        "ほかにも望まれていると分かった行動の番号。なければ空",
        "Numbers of further actions known to be wanted; empty if none",
        [],
    )


@lru_cache(maxsize=64)
def reply_schema(ids: tuple[int, ...], *, several: bool = False) -> type[Reply]:
    """The same for all steps of a run, so that the beginning of its requests is. Actions are an
    enumeration, since endpoints do not enforce integer bounds.

    several: further actions may be executed with the first.
    """
    number: Any = Literal[ids]
    base = SeveralReply if several else Reply
    fields: dict[str, Any] = {"action": (number, deepcopy(base.model_fields["action"]))}
    if several:
        listed: Any = list[number]
        fields["also"] = (listed, deepcopy(base.model_fields["also"]))
    return create_model("Decision", __base__=base, **fields)


_MEMO = {"ja": "【内省メモ】", "en": "[Reflection memo]"}
_TRIED = {
    "ja": "すでに実行して違っていた行動{barred}：",
    "en": "Already executed and wrong{barred}: ",
}
_BARRED = {"ja": "（もう選べません）", "en": " (no longer allowed)"}
_MAY_ASK = {
    "ja": "質問はあと{n}回できます。質問するか、実行するかを決めてください。",
    "en": "You may ask {n} more question(s). Decide: ask or execute.",
}
_AGAIN = {
    "ja": "{action} はすでに実行して違っていた行動です。ほかの行動を選んでください。",
    "en": "{action} was executed before and was wrong. Choose another action.",
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
    if view.past:
        given.append(past_text(view.past, view.actions, language))
    if view.memo:
        given.append(f"{_MEMO[language]}\n{view.memo}")
    if view.tried:
        separator = "、" if language == "ja" else ", "
        named = separator.join(f"{a}. {view.actions.text(a)}" for a in view.tried)
        barred = _BARRED[language] if view.masked else ""
        given.append(_TRIED[language].format(barred=barred) + named)
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
    """prompt: name of the system prompt; by default agent.v1, or agent.v2 where several actions
    may be wanted."""

    prompt: PromptName | None = None


class LLMAgent:
    """Decides by one structured model call per step."""

    name = "llm"

    def __init__(self, prompt: str = "agent.v1", *, several: bool = False) -> None:
        self.prompt, self.several = prompt, several

    def decide(self, view: View) -> Flow[Decision]:
        schema = reply_schema(view.actions.ids, several=self.several)
        told = conversation(view, self.prompt)
        reply = yield from Chat("agent", told, schema)
        # Who asks though no question is left has given the likeliest action all the same.
        asks = reply.choice == "clarify" and view.may_ask
        if view.masked and reply.action in view.tried and not asks:
            again = _AGAIN[view.scene.language].format(action=reply.action)
            told += [assistant(reply.model_dump_json()), user(again)]
            reply = yield from Chat("agent", told, schema)
            asks = reply.choice == "clarify" and view.may_ask
        if asks:
            return Clarify(question=reply.question, thought=reply.thought, guess=reply.action)
        also = tuple(reply.also) if isinstance(reply, SeveralReply) else ()
        return Execute(action=reply.action, also=also, thought=reply.thought)


@declares(model_free=False, options=LLMOptions)
def build(context: AgentContext) -> LLMAgent:
    """Options: `LLMOptions`."""
    given = LLMOptions.model_validate(dict(context.options)).prompt
    prompt = given or ("agent.v2" if context.several else "agent.v1")
    return LLMAgent(prompt, several=context.several)
