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


class Reply(BaseModel):
    """A thought, and then either a question or an action.

    Flat on purpose: unions are refused or mangled by many endpoints, and weak models
    fill a flat form more reliably. `action` is always given: when asking it is the
    best guess so far, from which over-asking is measured.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str = told("判断の理由。日本語で二文以内", "The reason, in two sentences at most")
    choice: Literal["clarify", "execute"] = told(
        "clarify は質問、execute は実行",
        "clarify asks, execute acts",
        synonyms={
            "clarify": ("質問", "質問する", "確認", "確認する", "ask", "question"),
            "execute": ("実行", "実行する", "行動", "行動する", "act", "action"),
        },
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


_MEMO = {
    "ja": "【内省メモ】（これまでの試行の失敗から得た教訓）",
    "en": "[Reflection memo] (lessons of the trials that failed)",
}
_TRIED = {
    "ja": "すでに実行して違っていた行動{barred}：",
    "en": "Already executed and wrong{barred}: ",
}
_BARRED = {"ja": "（もう選べません）", "en": " (no longer allowed)"}
_MAY_ASK = {
    "ja": "質問はあと{n}回できます。{trials}質問するか、実行するかを決めてください。",
    "en": "Questions left: {n}. {trials}Decide: ask or execute.",
}
_AGAIN = {
    "ja": "{action} はすでに実行して違っていた行動です。ほかの行動を選んでください。",
    "en": "{action} was executed before and was wrong. Choose another action.",
}
_MUST_ACT = {
    "ja": "もう質問はできません。{trials}行動を1つ選んで実行してください。",
    "en": "Questions left: 0. {trials}Choose one action and execute it.",
}
#: What is said of the trials after this one: none, and some.
_TRIALS = {
    "ja": ("これが最後の試行です。", "外れたときに残る試行は{n}回です。"),
    "en": ("This is the last trial. ", "Trials left after this one: {n}. "),
}
#: How many actions are wanted, and what executing several takes; by whether there may be several.
_WANTED = {
    "ja": {
        False: "望まれている行動は、一覧のうちただ一つです。ほかの行動がもっともらしく見えても、"
        "この人が今望んでいるのはその一つだけです。",
        True: "望まれている行動は、ふつう一覧のうちただ一つです。"
        "まれに、二つか三つをまとめて望んでいることがあります。",
    },
    "en": {
        False: "Exactly one of them is wanted. Others may look sensible too, but this person wants "
        "that one, now.",
        True: "As a rule exactly one of them is wanted; rarely two or three are wanted together.",
    },
}
_ALSO = {
    "ja": "\n- ほかにも望まれていると分かった行動があれば also に入れます。"
    "余計な行動を一つでも含めば失敗です。",
    "en": "\n- Put further actions into also only where you know that they are wanted too: a "
    "single needless one is a failure.",
}


def conversation(view: View, prompt: str, *, several: bool = False) -> list[Message]:
    """The messages for a decision; several: further actions may be wanted with the first.

    Everything before the last message stays the same within a trial, so that endpoints can reuse
    their prefix cache."""
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
        wanted=_WANTED[language][several],
        also=_ALSO[language] if several else "",
    )
    messages = [system(instructions)]
    heard = "\n\n".join(given)
    for turn in view.asked:
        messages += [user(heard), assistant(turn.question)]
        heard = turn.answer
    messages.append(user(f"{heard}\n\n{now}"))
    return messages


class LLMOptions(Options):
    """prompt: name of the system prompt."""

    prompt: PromptName = "agent.v3"


class LLMAgent:
    """Decides by one structured model call per step."""

    name = "llm"

    def __init__(self, prompt: str = "agent.v3", *, several: bool = False) -> None:
        self.prompt, self.several = prompt, several

    def decide(self, view: View) -> Flow[Decision]:
        schema = reply_schema(view.actions.ids, several=self.several)
        told = conversation(view, self.prompt, several=self.several)
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
    options = LLMOptions.model_validate(dict(context.options))
    return LLMAgent(options.prompt, several=context.several)
