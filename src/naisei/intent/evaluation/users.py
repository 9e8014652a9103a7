"""Simulated users, and the audit of their honesty.

The rule-based user knows the hidden wish and a few facts, but not the documents. Asked to choose,
it names a topic if most of its distinctive words are in the wish; otherwise it answers in its own
words where these are welcome, or says that no topic fits. Asked about something specific, it states
the matching fact. Asked generally, it states the wish and the first remaining fact. Each fact is
stated once; after the last it has nothing to add. It never sees the gold passages: all its words
come from the item or from options offered to it. Another user knows nothing (a control), and one is
played by a language model.

A user that quotes the gold passage would make any assistant look good. The audit therefore counts
words of the passage that the user said in the run before they occurred in the item or in the
assistant's messages.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from naisei.core import AskUser, Chat, Flow, FlowHandler, Handler, InputError, Where
from naisei.core import system as instructions
from naisei.core import user as heard
from naisei.intent.evaluation.items import Item
from naisei.intent.schemas import Exchange
from naisei.japanese.morph import is_japanese, normalise
from naisei.japanese.query_analysis import content_words
from naisei.lang import render, say

_OPTION = re.compile(r"^\s*(\d{1,2})[.)．]\s*(\S.*?)\s*$", re.M)
#: A topic is recognised if this share of its distinctive words is in the wish.
_RECOGNISED = 0.5
#: The user's words for a general "tell me more".
_GENERAL = re.compile(
    "詳しく|具体|どんなこと|何を知りた|どういった|ほかに|どのような|もう少し|聞かせて|教えて|"
    r"more|detail|specific|what (?:do|would|is)|tell me",
    re.I,
)
#: … and for free answers to a choice.
_OWN_WORDS = re.compile(r"自分の言葉|own words", re.I)
_NONE = {"ja": "その中にはありません。", "en": "None of these."}
_NOTHING = {"ja": "特にありません。", "en": "Nothing in particular."}


def offered(question: str) -> tuple[str, ...]:
    """The numbered topics of a question back, in order; fewer than two are not a choice.

    >>> offered("どれですか。\\n1. 休暇 › 有給\\n2. 休暇 › 看護")
    ('休暇 › 有給', '休暇 › 看護')
    """
    found = [(int(m[1]), m[2]) for m in _OPTION.finditer(question)]
    good = [n for n, _ in found] == list(range(1, len(found) + 1)) and len(found) >= 2
    return tuple(text for _, text in found) if good else ()


def nearest(options: Sequence[str], wish: str) -> int | None:
    """The index of the option that shares most with the wish; `None` if none does. It compares
    content words and letter pairs, weighted by rarity among the options. Ties go to the first.
    """
    parts = [_parts(option) for option in options]
    known = _parts(wish)
    weight = {
        part: math.log(len(options) / sum(part in other for other in parts))
        for part in set().union(*parts)
    }
    best, place = 0.0, None
    for at, mine in enumerate(parts):
        whole = sum(weight[p] for p in mine)
        shared = sum(weight[p] for p in mine & known)
        if whole > 0 and shared / whole >= _RECOGNISED and shared > best + 1e-9:
            best, place = shared, at
    return place


def _parts(text: str) -> frozenset[str]:
    """Content words, and for Japanese pairs of adjacent letters."""
    folded = normalise(text).lower()
    letters = "".join(c if c.isalnum() else " " for c in folded)
    pairs = {a + b for a, b in pairwise(letters) if is_japanese(a + b)}
    kana = re.compile(r"[\u3040-\u309f]")
    return frozenset(content_words(folded)) | {
        p for p in pairs if " " not in p and not kana.search(p)
    }


class Person(Handler):
    """Performs `AskUser` for one item. States each fact once."""

    def __init__(self, item: Item) -> None:
        self._language = "ja" if is_japanese(item.text) else "en"
        self._facts = list(item.facts)
        self._wish = " ".join([item.intent, *(f"{f.about} {f.says}" for f in item.facts)])

    def perform(self, effect: AskUser, where: Where) -> str:
        options = offered(effect.question)
        question = _OPTION.sub("", effect.question) if options else effect.question
        if options and (place := nearest(options, self._wish)) is not None:
            return str(place + 1)
        nothing = (_NONE if options else _NOTHING)[self._language]
        return self._tell(question, choosing=bool(options)) or nothing

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        self._facts = [fact for fact in self._facts if fact.says not in result]

    def _tell(self, question: str, *, choosing: bool) -> str:
        """The facts that match the question, joined; may be empty.

        choosing: topics were offered, so that only an invitation to speak freely is general.
        """
        general = (_OWN_WORDS if choosing else _GENERAL).search(question) is not None
        asked = _parts(question)
        text = normalise(question)
        about = [
            len(_parts(fact.about) & asked) + (normalise(fact.about) in text)
            for fact in self._facts
        ]
        told = {about.index(max(about))} if about and max(about) > 0 else set()
        if general and self._facts:
            told.add(0)
        elif choosing:
            told = set()
        says = [self._facts[at].says.strip() for at in sorted(told)]
        self._facts = [fact for at, fact in enumerate(self._facts) if at not in told]
        if self._language == "ja":
            return "".join(text if text.endswith(("。", "？")) else f"{text}。" for text in says)
        return " ".join(text if text.endswith((".", "?")) else f"{text}." for text in says)


class Unknowing(Handler):
    """A baseline user without knowledge: picks a random topic and says nothing else."""

    def __init__(self, item: Item, seed: int) -> None:
        self._language = "ja" if is_japanese(item.text) else "en"
        self._key = f"{seed}/{item.id}"

    def perform(self, effect: AskUser, where: Where) -> str:
        options = offered(effect.question)
        if not options:
            return "わかりません。" if self._language == "ja" else "I do not know."
        # Seeded by the question instead of a shared generator, so it is the same after a resume.
        return str(random.Random(f"{self._key}/{effect.question}").randint(1, len(options)))


class ModelUser(FlowHandler):
    """A language model in the role `simulator`, prompted with the wish and the facts."""

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


#: Name → factory of simulated users.
USERS: dict[str, Callable[[Item, int], Handler]] = {
    "rule": lambda item, seed: Person(item),
    "unknowing": Unknowing,
    "llm": lambda item, seed: ModelUser(item),
}


def simulated_user(name: str, item: Item, *, seed: int = 0) -> Handler:
    """Create a simulated user. Raises `InputError` for an unknown name."""
    if name not in USERS:
        raise InputError(
            say(f"「{name}」というユーザー役はありません", f"no user is called '{name}'"),
            place="--simulator",
            remedy=say(f"使えるもの: {', '.join(USERS)}", f"known: {', '.join(USERS)}"),
        )
    return USERS[name](item, seed)


def leaked(item: Item, exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    """Content words of the gold passages first said by the user.

    Words from the question, the intent, the facts and earlier messages of the assistant do not
    count.
    """
    secret = {word for gold in item.gold for word in content_words(gold.quote)}
    own = " ".join([item.text, item.intent, *(f"{f.about} {f.says}" for f in item.facts)])
    known = set(content_words(own))
    out: list[str] = []
    for exchange in exchanges:
        known.update(content_words(" ".join([exchange.question, *exchange.options])))
        out += [w for w in content_words(exchange.answer) if w in secret - known]
    return tuple(dict.fromkeys(out))
