"""Other users: one that knows nothing, as a control, and one that a language model plays."""

from __future__ import annotations

import random
from collections.abc import Callable

from naisei.core import AskUser, Chat, Flow, FlowHandler, Handler, InputError, Where
from naisei.core import system as instructions
from naisei.core import user as heard
from naisei.intent.evaluation.items import Item
from naisei.intent.evaluation.person import Person, offered
from naisei.japanese.normal import is_japanese
from naisei.lang import say
from naisei.prompts import render

__all__ = ["USERS", "simulated_user"]


class Unknowing(Handler):
    """Picks any topic, and has nothing to say: what asking gains with it, the questions alone
    gain, not the user's knowledge."""

    def __init__(self, item: Item, seed: int) -> None:
        self._language = "ja" if is_japanese(item.text) else "en"
        self._key = f"{seed}/{item.id}"

    def perform(self, effect: AskUser, where: Where) -> str:
        options = offered(effect.question)
        if not options:
            return "わかりません。" if self._language == "ja" else "I do not know."
        # From the question, not from a running generator: the same after a resume.
        return str(random.Random(f"{self._key}/{effect.question}").randint(1, len(options)))


class Played(FlowHandler):
    """A language model in the role `simulator`, told the wish and the facts."""

    def __init__(self, item: Item) -> None:
        self._item = item
        self._language = "ja" if is_japanese(item.text) else "en"

    def respond(self, effect: AskUser, where: Where) -> Flow[str]:
        item = self._item
        facts = "\n".join(f"- {fact.about}: {fact.says}" for fact in item.facts)
        told = render(
            "naisei.intent.evaluation",
            "simulator.v1",
            self._language,
            text=item.text,
            intent=item.intent or item.text,
            facts=facts or "-",
        )
        answer = yield from Chat("simulator", [instructions(told), heard(effect.question)])
        return answer.strip()


#: Name → who plays the user of an item, given a seed.
USERS: dict[str, Callable[[Item, int], Handler]] = {
    "rule": lambda item, seed: Person(item),
    "unknowing": Unknowing,
    "llm": lambda item, seed: Played(item),
}


def simulated_user(name: str, item: Item, *, seed: int = 0) -> Handler:
    """Raises `InputError` for an unknown name."""
    if name not in USERS:
        raise InputError(
            say(f"「{name}」というユーザー役はありません", f"no user is called '{name}'"),
            place="--simulator",
            remedy=say(f"使えるもの: {', '.join(USERS)}", f"known: {', '.join(USERS)}"),
        )
    return USERS[name](item, seed)
