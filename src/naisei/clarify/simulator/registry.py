"""User simulators by name: `rule`, and `llm`, a language model that plays the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei import lang
from naisei.clarify.describe import REFUSAL, is_refusal, scene_text
from naisei.clarify.schemas import ActionSet, Instance, Turn
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.core import (
    AskUser,
    Chat,
    Flow,
    FlowHandler,
    Handler,
    InputError,
    Message,
    Where,
    assistant,
    system,
    user,
)

__all__ = ["NAMES", "LLMSimulator", "simulator"]


_PROMPT = "simulator.v1"


class LLMSimulator(FlowHandler):
    """Answers `AskUser` effects by `Chat("simulator", …)`.

    Its calls are logged and counted under the role `simulator`. It is told its own earlier
    answers, so that it can keep its word. What it says is not censored: `naisei clarify
    audit` measures how often it gives the intent away.
    """

    def __init__(self, instance: Instance, actions: ActionSet) -> None:
        self.instance = instance
        self.history: list[Turn] = []
        self._instructions = lang.render(
            "naisei.clarify",
            _PROMPT,
            instance.scene.language,
            scene=scene_text(instance.scene),
            action=actions.text(instance.gold),
            refusal=REFUSAL,
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
    """Quotation marks around the whole off; one spelling of the refusal; never empty."""
    text = reply.strip()
    for opening, closing in ("「」", '""', "''", "“”"):
        if len(text) > 1 and text.startswith(opening) and text.endswith(closing):
            text = text[1:-1].strip()
    return REFUSAL if not text or is_refusal(text) else text


NAMES = ("rule", "llm")


def simulator(
    name: str,
    instance: Instance,
    actions: ActionSet,
    *,
    seed: int = 0,
    paraphrases: Mapping[int, Sequence[str]] | None = None,
) -> Handler:
    """The user of one episode: a handler of `AskUser` effects, fresh for each episode.

    Raises:
        InputError: no simulator of this name.
    """
    if name == "rule":
        return RuleSimulator(instance, actions, seed=seed, paraphrases=paraphrases)
    if name == "llm":
        return LLMSimulator(instance, actions)
    raise InputError(
        f"there is no user simulator '{name}'",
        place="--simulator",
        remedy=f"use one of {', '.join(NAMES)}",
    )
