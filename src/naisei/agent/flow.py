"""The agent: understand the remark, then act, answer or talk; check every line; learn from errors.

A request to act goes to R-Clarify (`naisei.clarify.flow.trial`), a question to the assistant
(`naisei.intent.flow.converse`); every line passes the director's gate
(`naisei.director.flow.line`) and reflects the relationship (`naisei.relationship`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

from pydantic import JsonValue

from naisei.agent.house import left_out, named, without_denied
from naisei.agent.mind import PERSON, Deed, Kind, Mind, briefed
from naisei.agent.options import AgentRules
from naisei.agent.own_actions import OwnActions, is_question
from naisei.agent.persona import Persona
from naisei.agent.understanding import Ear, ParsedRemark, asks_back, understood
from naisei.agent.unprompted import reply_without_a_model, told_before
from naisei.agent.wording import did, in_words, phrase
from naisei.clarify.agent import Agent
from naisei.clarify.careful import CarefulAgent, confirmed
from naisei.clarify.config import Rules
from naisei.clarify.conversation import AnnouncingAgent
from naisei.clarify.flow import reflect, trial
from naisei.clarify.schemas import ActionSet, TrialLog, Turn
from naisei.core import Act, AskUser, Chat, Effect, Flow, Now, Remember, Say, through
from naisei.core.events import plain
from naisei.director.config import TalkRules
from naisei.director.describe import writer_messages
from naisei.director.draft import meta as line_meta
from naisei.director.flow import Writer, line
from naisei.director.schemas import Draft
from naisei.intent.dialogue import Dialogue
from naisei.intent.flow import converse
from naisei.intent.rules import Setting
from naisei.intent.urgent import urgent_reply
from naisei.japanese.sentences import sentences
from naisei.memory import Memory
from naisei.memory.stream import Entry, Recall, Recent, remember
from naisei.textgame.schemas import START

T = TypeVar("T")
#: The person's memory stream; how many entries are retrieved, and used at once.
STREAM, _FOUND, _TOLD = "person", 24, 3
#: Number of earlier requests that a later one may refer to.
_EARLIER = 5


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a persona. ear: parses remarks. agent: chooses actions; `None` if it cannot act.
    own: chooses among custom actions, if no model does. memory: the reflection memory. setting:
    document settings, or `None`. roles: those filled by a model: `understanding`, `speaker`,
    `reflector`, …"""

    persona: Persona
    rules: AgentRules
    ear: Ear
    memory: Memory
    agent: Callable[[ActionSet], Agent] | None = None
    own: OwnActions | None = None
    setting: Setting | None = None
    roles: frozenset[str] = frozenset()

    def kinds(self, mind: Mind) -> tuple[Kind, ...]:
        """The kinds of remarks possible now."""
        served: dict[Kind, object] = {
            # In a game an action cannot be retried, since the world has changed.
            "correction": None if self.persona.plays else mind.deed,
            "act": self.agent,
            "question": self.setting,
        }
        return (*(kind for kind, by in served.items() if by is not None), "chat")


@dataclass(frozen=True, slots=True)
class Remark:
    """The remark to answer. remembered: relevant memories, best first."""

    parts: Parts
    mind: Mind
    meant: ParsedRemark
    remembered: Sequence[Entry] = ()


class Interrupted(Exception):
    """The person answers a question with an emergency or another question, which ends the current
    task. meant: that answer."""

    def __init__(self, meant: ParsedRemark) -> None:
        self.meant = meant


def talk(parts: Parts, mind: Mind) -> Flow[NoReturn]:
    """Talk until the user quits."""
    if parts.agent is not None and mind.actions is None:  # a game describes its start
        mind.see((yield from Act(START)))
        yield from Say(mind.seen, parts.persona.profile.id, {})
    while True:
        said = yield from AskUser("")
        mind.hear(PERSON, said)
        yield from respond(parts, mind)
        now = (yield from Now()).replace(tzinfo=None)
        id = f"{now:%Y%m%dT%H%M%S%f}-{len(mind.talk.history)}"
        yield from remember(STREAM, Entry(id=id, time=now, text=said, speaker=PERSON))


def respond(parts: Parts, mind: Mind) -> Flow[None]:
    """Handle one remark, up to the agent's closing line."""
    try:
        for said in (yield from _matters(parts, mind)):
            yield from _served(parts, mind, (yield from _understood(parts, mind, said)))
    except Interrupted as interrupted:
        yield from _served(parts, mind, interrupted.meant)


def _understood(parts: Parts, mind: Mind, said: str) -> Flow[ParsedRemark]:
    model = "understanding" in parts.roles
    kinds = parts.kinds(mind)
    return (yield from understood(mind, said, kinds, parts.ear, parts.own, model=model))


def _matters(parts: Parts, mind: Mind) -> Flow[Sequence[str]]:
    """The last line; if it contains a question and a request (「…はいくら？あと…も予約して」),
    the question, then the request."""
    said = mind.last_line
    if parts.own is None or parts.setting is None:
        return (said,)
    asked = [each for each in sentences(said) if is_question(each)]
    rest = "".join(each for each in sentences(said) if each not in asked)
    wanted = asked and rest and (yield from parts.own.read(rest)).about_an_action
    return ("".join(asked), rest) if wanted else (said,)


def _served(parts: Parts, mind: Mind, meant: ParsedRemark) -> Flow[None]:
    if meant.call:
        yield from rescue(Remark(parts, mind, meant))
        return
    remembered = yield from recalled(mind, model="understanding" in parts.roles)
    ways = {"act": act, "correction": correct, "question": answer, "chat": chat}
    yield from ways[meant.kind](Remark(parts, mind, meant, remembered))


def rescue(remark: Remark) -> Flow[None]:
    """Handle an emergency: say the public number, and help from the documents."""
    text, setting = remark.meant.call, remark.parts.setting
    if setting is not None:
        urgent = yield from urgent_reply(Dialogue(utterance=remark.mind.last_line), setting)
        text = urgent.message if urgent is not None else text
    yield from speak(remark, text, checked=False)


def act(remark: Remark) -> Flow[None]:
    """Ask within the quota, then act or decline."""
    parts, mind, told = remark.parts, remark.mind, None
    words = remark.meant.words
    if "understanding" not in parts.roles:
        words = without_denied(words)
        if mind.actions and mind.deed and "correction" in parts.kinds(mind):
            last = mind.actions.text(mind.deed.logs[-1].acts[-1])
            told = left_out(mind.last_line, mind.actions, like=last)
    yield from _attempt(remark, Deed(utterance=words), told)


def correct(remark: Remark) -> Flow[None]:
    """Handle a wrong action: rewrite the memo, then execute the intended one or retry."""
    parts, mind, language = remark.parts, remark.mind, remark.parts.persona.language
    assert mind.deed is not None and mind.actions is not None
    *before, last = mind.deed.logs
    texts = [mind.actions.text(action) for action in last.acts]
    said = Turn(question=phrase("was it", language, *texts), answer=mind.last_line)
    failed = last.model_copy(update={"success": False, "turns": (*last.turns, said)})
    if parts.rules.reflecting and "reflector" in parts.roles:
        scene = mind.deed.instance(language).scene
        yield from Remember((yield from reflect(scene, mind.actions, failed, parts.memory)))
    full = "understanding" in parts.roles  # already without pronouns
    utterance = remark.meant.words if full else mind.deed.utterance
    others = [action for action in mind.actions if action.id not in last.acts]
    told = named(remark.meant.words, others, like=texts[0])
    yield from _attempt(remark, Deed(utterance=utterance, logs=(*before, failed)), told)


def _attempt(remark: Remark, deed: Deed, told: int | None) -> Flow[None]:
    """Run one R-Clarify trial and say the result. told: the known action, if any."""
    parts, mind, language = remark.parts, remark.mind, remark.parts.persona.language
    assert mind.actions is not None and parts.agent is not None
    actions, confirm = mind.actions, parts.persona.permissions.confirm
    risky = [action.id for action in actions if action.text in confirm]
    careful = CarefulAgent(parts.agent(actions), actions, risky, reserved=2)
    quota = parts.rules.quota * parts.rules.asking + careful.reserved
    rules = Rules(trials=len(deed.logs) + 1, quota=quota)
    instance = deed.instance(language, words="" if told is None else actions.text(told))
    memo = parts.memory.recall()
    one = trial(instance, actions, AnnouncingAgent(careful), memo, deed.logs, rules, declines=True)
    log: TrialLog = yield from voiced(one, parts, mind, words=deed.utterance)
    if log.declined == "no request" and not log.turns:
        yield from chat(replace(remark, meant=remark.meant.model_copy(update={"sort": "chat"})))
    elif not log.success:
        ended = "cannot" if log.declined == "none fits" else "left alone"
        yield from chat(remark, phrase(ended, language, deed.utterance), {"deed": None})
    else:
        done = Deed(utterance=deed.utterance, logs=(*deed.logs, log))
        text = mind.seen or did([actions.text(action) for action in log.acts], language)
        yield from speak(remark, text, {"deed": done.model_dump(mode="json")})


def answer(remark: Remark) -> Flow[None]:
    """Answer from the documents with sources; ask back first if vague."""
    parts, mind = remark.parts, remark.mind
    assert parts.setting is not None
    # A model gets all lines; the rules get only requests.
    before = mind.person_lines[:-1] if "evaluator" in parts.roles else mind.asked
    asking = converse(remark.meant.words, parts.setting, earlier=before[-_EARLIER:])
    reply = yield from voiced(asking, parts, mind)
    nothing, model = reply.band == "none" and not reply.urgent, "speaker" in parts.roles
    small = reply.extended in ("greeting", "farewell")
    told = model or remark.meant.sort not in ("question", "act")
    if small or (nothing and told):
        # Without documents the persona answers itself, or says that it does not know.
        yield from chat(remark, reply.message if nothing and model and not small else "")
        return
    found: dict[str, JsonValue] = {"reply": reply.model_dump(mode="json", exclude={"message"})}
    # Rules of speech do not apply to quotations.
    own = not reply.citations
    yield from speak(remark, in_words(reply.message), {"asked": reply.query}, found, checked=own)


def chat(remark: Remark, message: str = "", done: dict[str, JsonValue] | None = None) -> Flow[None]:
    """Say a line that fits the relationship and memories. message: content to convey. done: data
    recorded in the mind."""
    spare = message or reply_without_a_model(remark.mind, remark.meant, remark.remembered)
    if "speaker" not in remark.parts.roles:
        yield from speak(remark, spare, done or {"told": spare})
        return
    persona, relating = remark.parts.persona, remark.parts.rules.relating
    memo, now = remark.parts.memory.recall(), (yield from Now())
    state = briefed(remark.mind, remark.remembered, message, memo, now, relating=relating)

    def write(rejected: Sequence[Draft]) -> Flow[str]:
        told = writer_messages(persona.profile, state, rejected, persona.language)
        return (yield from Chat("speaker", told))

    yield from speak(remark, write, done, spare=spare)


def speak(
    remark: Remark,
    words: str | Writer,
    done: dict[str, JsonValue] | None = None,
    more: dict[str, JsonValue] | None = None,
    *,
    spare: str = "",
    checked: bool = True,
) -> Flow[None]:
    """Pass a line through the gate and say it, with its metadata. words: the line, or its writer.
    done: data recorded in the mind. more: data shown with the line. spare: the fallback if every
    draft is rejected.
    """
    parts, mind = remark.parts, remark.mind
    text, seen = yield from gated(parts, mind, words, spare=spare, checked=checked)
    meta: dict[str, JsonValue] = {
        **seen,
        **(more or {}),
        "done": done or {},
        "understood": remark.meant.model_dump(mode="json"),
        "stance": plain(mind.stances),
        "memo": parts.memory.recall(),
    }
    me = parts.persona.profile.id
    yield from Say(text, me, meta)
    mind.hear(me, text, meta)
    mind.note(done or {})


def gated(
    parts: Parts, mind: Mind, words: str | Writer, *, spare: str = "", checked: bool = True
) -> Flow[tuple[str, dict[str, JsonValue]]]:
    """Return an accepted line and its verdicts, or `spare` if every draft is rejected. Fixed lines
    are not checked."""
    write: Writer = _as_they_are(words) if isinstance(words, str) else words
    if not (checked and parts.rules.checking):
        return (yield from write(())), {}
    me, written = parts.persona.profile, not isinstance(words, str)
    rules = TalkRules(
        retries=TalkRules().retries * written,
        policy="refuse",
        judge=written and "judge" in parts.roles,
        language=parts.persona.language,
    )
    turn = yield from line(me, write, mind.talk, rules, number=len(mind.talk.history))
    drafts: list[JsonValue] = [draft.model_dump(mode="json") for draft in turn.drafts]
    text = turn.text if turn.text is not None else spare or turn.drafts[-1].text
    return text, {**line_meta(turn, me, rules.language), "drafts": drafts}


def _as_they_are(words: str) -> Writer:
    def write(rejected: Sequence[Draft]) -> Flow[str]:
        return words
        yield  # a flow without effects

    return write


def voiced(flow: Flow[T], parts: Parts, mind: Mind, *, words: str = "") -> Flow[T]:
    """Run another system's flow in the persona's voice: its questions pass the gate. words: the
    request; a custom action receives it with all answers. Raises `Interrupted`."""
    said: list[JsonValue] = [words]

    def perform(effect: Effect[Any]) -> Flow[Any]:
        if isinstance(effect, AskUser):
            said.append((yield from _ask_user(parts, mind, effect.question)))
            return said[-1]
        if isinstance(effect, Act) and parts.own is not None:
            effect = Act({**effect.action, "said": [*said]})
        result = yield effect
        if isinstance(effect, Act):
            mind.see(result)
        return result

    return (yield from through(flow, perform))


def _ask_user(parts: Parts, mind: Mind, question: str) -> Flow[str]:
    question, _ = yield from gated(parts, mind, question)
    confirms = mind.actions is not None and confirmed(
        question, mind.actions, parts.persona.language
    )
    while True:
        said = yield from AskUser(question)
        mind.hear(parts.persona.profile.id, question)
        mind.hear(PERSON, said)
        heard = yield from parts.ear.classify(said)
        # If the persona acts, a short answer may resemble a fact (「甘いもの」).
        if heard.call or asks_back(said) or (heard.fact and parts.agent is None):
            raise Interrupted(heard)
        if not (confirms and is_question(said)):
            return said
        kind: Kind = "question" if parts.setting is not None else "chat"
        asked = heard.model_copy(update={"kind": kind, "sort": "question"})
        yield from _served(parts, mind, asked)


def recalled(mind: Mind, *, model: bool) -> Flow[Sequence[Entry]]:
    """Memories of the person, best first: from other conversations, and, without a model, from
    this one if the person asks about it."""
    if not (yield from Recent(STREAM, 1)):
        return ()
    now = (yield from Now()).replace(tzinfo=None)
    found = yield from Recall((mind.last_line,), STREAM, now, k=_FOUND)
    told = [one.entry for one in found]
    former = [entry for entry in told if entry.text not in mind.person_lines]
    today = not model and asks_back(mind.last_line) and not (former and told_before(mind.last_line))
    return (told if today else former)[:_TOLD]
