"""`llm`: a language model decides in one reply, constrained by a flat schema."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model, model_validator
from pydantic_core import PydanticCustomError

from naisei import lang
from naisei.clarify.agent import AgentContext, AgentFactory, PromptName, View
from naisei.clarify.describe import (
    action_list,
    scene_text,
    set_text,
    tried_text,
    wanted_text,
)
from naisei.clarify.schemas import Clarify, Decision, Decline, Declined, Execute
from naisei.core import Chat, Flow, Message, assistant, system, user
from naisei.plugins import Options
from naisei.schema import model_field

#: The last two decline (`naisei.clarify.schemas.Declined`).
Choice = Literal["clarify", "execute", "none_fits", "no_request"]
_SYNONYMS = {
    "clarify": ("質問", "質問する", "確認", "確認する", "ask", "question"),
    "execute": ("実行", "実行する", "行動", "行動する", "act", "action"),
}


class Reply(BaseModel):
    """A thought, and then either a question or an action.

    Flat on purpose: unions are refused or mangled by many endpoints, and weak models
    fill a flat form more reliably. `action` is always given: when asking it is the
    best guess so far, from which over-asking is measured.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str = model_field(
        "判断の理由。日本語で二文以内", "The reason, in two sentences at most"
    )
    choice: Choice = model_field(
        "clarify は質問、execute は実行",
        "clarify asks, execute acts",
        synonyms=_SYNONYMS,
    )
    question: str = model_field(
        "質問の一文。execute なら空", "The question, one sentence; empty with execute", ""
    )
    action: int = model_field(
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

    also: list[int] = model_field(
        "ほかにも望まれていると分かった行動の番号。なければ空",
        "Numbers of further actions known to be wanted; empty if none",
        [],
    )


_DECLINED: dict[str, Declined] = {"none_fits": "none fits", "no_request": "no request"}
_ANY_CHOICE: Any = model_field(
    "clarify は質問、execute は実行、none_fits は合う行動がない、no_request は頼みごとではない",
    "clarify asks, execute acts, none_fits: no action fits, no_request: nothing is asked for",
    synonyms=_SYNONYMS,
)


@lru_cache(maxsize=64)
def reply_schema(
    ids: tuple[int, ...], *, several: bool = False, declines: bool = False
) -> type[Reply]:
    """The reply schema, constant in a run so that requests share a prefix. Actions are an enum,
    since endpoints do not enforce integer bounds.

    several: further actions may be executed with the first. declines: the reply may execute none.
    """
    number: Any = Literal[ids]
    base = SeveralReply if several else Reply
    acts: Any = (Literal["clarify", "execute"], deepcopy(base.model_fields["choice"]))
    fields: dict[str, Any] = {
        "choice": (Choice, deepcopy(_ANY_CHOICE)) if declines else acts,
        "action": (number, deepcopy(base.model_fields["action"])),
    }
    if several:
        listed: Any = list[number]
        fields["also"] = (listed, deepcopy(base.model_fields["also"]))
    return create_model("Decision", __base__=base, **fields)


_MEMO = {
    "ja": "【内省メモ】（これまでの試行の失敗から得た教訓）",
    "en": "[Reflection memo] (lessons of the trials that failed)",
}
_MAY_ASK = {
    "ja": "質問はあと{n}回できます。{trials}質問するか、実行するかを決めてください。",
    "en": "Questions left: {n}. {trials}Decide: ask or execute.",
}
_AGAIN = {
    "ja": "{acts} はすでに実行して、違っていました。ほかを選んでください。",
    "en": "{acts} was executed before and was wrong. Choose something else.",
}
_MUST_ACT = {
    "ja": "もう質問はできません。{trials}行動を1つ選んで実行してください。",
    "en": "Questions left: 0. {trials}Choose one action and execute it.",
}
#: Texts about the remaining trials: none, and some.
_TRIALS = {
    "ja": ("これが最後の試行です。", "外れたときに残る試行は{n}回です。"),
    "en": ("This is the last trial. ", "Trials left after this one: {n}. "),
}
#: Text that allows choosing no action.
_DECLINE = {
    "ja": "\n- 望みをかなえる行動が一覧にないときは none_fits を、頼みごとではないとき"
    "（挨拶、お礼、取り消しなど）は no_request を選びます。どちらも何も実行しません。",
    "en": "\n- Choose none_fits where no action of the list would do what is wanted, and "
    "no_request where nothing is asked for (a greeting, thanks, a request taken back). Both "
    "execute nothing.",
}
_ALSO = {
    "ja": "\n- ほかにも望まれていると分かった行動があれば also に入れます。"
    "余計な行動を一つでも含めば失敗です。",
    "en": "\n- Put further actions into also only where you know that they are wanted too: a "
    "single needless one is a failure.",
}


def situation(view: View) -> list[str]:
    """The agent's situation as text: the scene, the memo, and the failed actions."""
    language = view.scene.language
    given = [scene_text(view.scene)]
    if view.memo:
        given.append(f"{_MEMO[language]}\n{view.memo}")
    if view.tried:
        masked, several = view.masked, view.several
        told = tried_text(view.tried, view.actions, language, masked=masked, several=several)
        given.append(told)
    return given


def conversation(view: View, prompt: str) -> list[Message]:
    """The messages for a decision.

    Everything before the last message stays the same within a trial, so that endpoints can reuse
    their prefix cache."""
    language = view.scene.language
    trials = ""
    if view.trials_left is not None:
        last, more = _TRIALS[language]
        trials = more.format(n=view.trials_left) if view.trials_left else last
    template = _MAY_ASK if view.may_ask else _MUST_ACT
    now = template[language].format(n=view.quota_left, trials=trials)
    instructions = lang.render(
        "naisei.clarify",
        prompt,
        language,
        actions=action_list(view.actions),
        wanted=wanted_text(language, several=view.several, declines=view.declines),
        also=_ALSO[language] * view.several + _DECLINE[language] * view.declines,
    )
    messages = [system(instructions)]
    heard = "\n\n".join(situation(view))
    for turn in view.asked:
        messages += [user(heard), assistant(turn.question)]
        heard = turn.answer
    messages.append(user(f"{heard}\n\n{now}"))
    return messages


class LLMOptions(Options):
    """prompt: name of the system prompt."""

    prompt: PromptName = "agent.v4"


class LLMAgent:
    """Decides by one structured model call per step."""

    name = "llm"

    def __init__(self, context: AgentContext) -> None:
        self.prompt = LLMOptions.model_validate(dict(context.options)).prompt

    def decide(self, view: View) -> Flow[Decision]:
        schema = reply_schema(view.actions.ids, several=view.several, declines=view.declines)
        messages = conversation(view, self.prompt)
        reply = yield from Chat("agent", messages, schema)
        # If no questions are left, the guess of a reply that asks is executed.
        asks = reply.choice == "clarify" and view.may_ask
        acts = reply.choice not in _DECLINED and not asks
        if acts and view.masked and frozenset(_acts(reply)) in view.tried:
            again = _AGAIN[view.scene.language].format(acts=set_text(_acts(reply), view.actions))
            messages += [assistant(reply.model_dump_json()), user(again)]
            reply = yield from Chat("agent", messages, schema)
            asks = reply.choice == "clarify" and view.may_ask
        if reply.choice in _DECLINED:
            return Decline(reason=_DECLINED[reply.choice], thought=reply.thought)
        if asks:
            return Clarify(question=reply.question, thought=reply.thought, guess=reply.action)
        action, *also = _acts(reply)
        return Execute(action=action, also=tuple(also), thought=reply.thought)


def _acts(reply: Reply) -> tuple[int, ...]:
    also = reply.also if isinstance(reply, SeveralReply) else ()
    return tuple(dict.fromkeys((reply.action, *also)))


build = AgentFactory(LLMAgent, model_free=False, options=LLMOptions)
