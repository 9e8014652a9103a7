"""The agent: understand the remark, then act, answer or talk; check every line; learn from errors.

A request to act goes to R-Clarify (`naisei.clarify.flow.trial`), a question to the assistant
(`naisei.intent.flow.converse`); every line passes the director's gate
(`naisei.director.flow.line`), told how the two stand (`naisei.relationship`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pydantic import JsonValue

from naisei import lang
from naisei.agent.house import named
from naisei.agent.mind import PERSON, Deed, Kind, Mind
from naisei.agent.persona import Persona
from naisei.agent.rules import AgentRules
from naisei.agent.understanding import Ear, Meant, understood
from naisei.agent.unprompted import reply_without_a_model
from naisei.agent.wording import did, phrase
from naisei.clarify.agent import Agent, View
from naisei.clarify.config import Rules
from naisei.clarify.flow import reflect, trial
from naisei.clarify.schemas import ActionSet, Decision, Execute, TrialLog, Turn
from naisei.core import Act, AskUser, Chat, Effect, Flow, Now, Observation, Remember, Say
from naisei.director.config import TalkRules
from naisei.director.describe import writer_messages
from naisei.director.draft import meta as line_meta
from naisei.director.flow import Writer, line
from naisei.director.schemas import Draft
from naisei.director.state import Note, TalkState
from naisei.intent.dialogue import Dialogue
from naisei.intent.flow import converse
from naisei.intent.rules import Setting
from naisei.intent.urgent import urgent_reply
from naisei.japanese.answers import Stance, understand
from naisei.memory import Memory
from naisei.memory.stream import Entry, Recall, Recent, remember
from naisei.relationship.vector import worded

T = TypeVar("T")
#: The stream of what is remembered of the person; how much of it is looked at, and told at once.
STREAM, _FOUND, _TOLD = "person", 24, 3
#: Earlier requests that a later one may point back to.
_EARLIER = 5


@dataclass(frozen=True, slots=True)
class Parts:
    """What a persona brings. ear: reads a remark. actions, agent: `None` where it cannot act.
    memory: of reflection. setting: of its documents, `None` where it has none. roles: those that
    have a model: `understanding`, `speaker`, `reflector`, …"""

    persona: Persona
    rules: AgentRules
    ear: Ear
    actions: ActionSet | None = None
    agent: Agent | None = None
    memory: Memory | None = None
    setting: Setting | None = None
    roles: frozenset[str] = frozenset()

    def kinds(self, mind: Mind) -> tuple[Kind, ...]:
        """What a remark may be taken for just now."""
        acts, looks_up = self.agent is not None, self.setting is not None
        deeds = ("correction",) if mind.deed else ()
        return (*deeds, *(("act",) * acts), *(("question",) * looks_up), "chat")


@dataclass(frozen=True, slots=True)
class Remark:
    """What is answered. remembered: of former days, what bears on it, best first."""

    parts: Parts
    mind: Mind
    meant: Meant
    remembered: Sequence[Entry] = ()


class Emergency(Exception):
    """The answer to a question tells of one: whatever was going on ends. meant: that answer."""

    def __init__(self, meant: Meant) -> None:
        self.meant = meant


def talk(parts: Parts, mind: Mind) -> Flow[NoReturn]:
    """A conversation without end; whoever has had enough leaves."""
    while True:
        said = yield from AskUser("")
        mind.hear(PERSON, said)
        yield from respond(parts, mind)
        yield from kept(parts, mind, said)


def respond(parts: Parts, mind: Mind) -> Flow[None]:
    """All that one remark leads to, up to the line that ends it."""
    model = "understanding" in parts.roles
    meant = yield from understood(mind, parts.kinds(mind), parts.ear, model=model)
    try:
        if meant.call:
            raise Emergency(meant)
        ways = {"act": act, "correction": correct, "question": answer, "chat": chat}
        remembered = yield from recalled(parts, mind.said)
        yield from ways[meant.kind](Remark(parts, mind, meant, remembered))
    except Emergency as emergency:
        yield from rescue(Remark(parts, mind, emergency.meant))


def rescue(remark: Remark) -> Flow[None]:
    """An emergency: the public number, and what the documents have for it, whoever speaks."""
    text, setting = remark.meant.call, remark.parts.setting
    if setting is not None:
        urgent = yield from urgent_reply(Dialogue(utterance=remark.meant.words), setting)
        text = urgent.message if urgent is not None else text
    yield from speak(remark, _words(text), checked=False)


def act(remark: Remark) -> Flow[None]:
    """Ask as often as is allowed, then do it, or say that there is nothing to be done."""
    yield from _attempt(remark, Deed(utterance=remark.meant.words, logs=()))


def correct(remark: Remark) -> Flow[None]:
    """What was done was wrong: the memo is rewritten, and what was meant is done or tried again."""
    parts, mind = remark.parts, remark.mind
    assert mind.deed is not None and parts.actions is not None
    *before, last = mind.deed.logs
    texts = [parts.actions.text(action) for action in last.acts]
    told = Turn(question=phrase("was it", parts.persona.language, *texts), answer=mind.said)
    failed = last.model_copy(update={"success": False, "turns": (*last.turns, told)})
    deed = mind.deed.model_copy(update={"logs": (*before, failed)})
    if parts.rules.reflecting and parts.memory is not None and "reflector" in parts.roles:
        scene = deed.instance(parts.persona.language).scene
        mind.memo = yield from reflect(scene, parts.actions, failed, parts.memory)
        yield from Remember(mind.memo)
    instead = named(remark.meant.words, parts.actions, like=texts[0])
    yield from _attempt(remark, deed, None if instead is None else Certain(instead))


@dataclass(slots=True)
class Certain:
    """An agent that has been told which action is meant."""

    action: int
    name: str = "told"

    def decide(self, view: View) -> Flow[Decision]:
        return Execute(action=self.action)
        yield  # a flow without effects


def _attempt(remark: Remark, deed: Deed, agent: Agent | None = None) -> Flow[None]:
    parts, mind = remark.parts, remark.mind
    agent = agent or parts.agent
    assert parts.actions is not None and agent is not None
    language = parts.persona.language
    rules = Rules(quota=parts.rules.quota, clarify=parts.rules.asking, repeats="mask")
    instance, notes = deed.instance(language), mind.memo
    one = trial(instance, parts.actions, agent, notes, deed.logs, rules, declines=True)
    log: TrialLog = yield from voiced(one, parts, mind)
    if log.declined == "no request" and not log.turns:
        talk = remark.meant.model_copy(update={"sort": "chat"})
        yield from chat(Remark(parts, mind, talk, remark.remembered))
    elif not log.success:
        ended = "cannot" if log.declined == "none fits" else "left alone"
        yield from speak(remark, _words(phrase(ended, language)), {"deed": None})
    else:
        done = Deed(utterance=deed.utterance, logs=(*deed.logs, log))
        text = did([parts.actions.text(action) for action in log.acts], language)
        yield from speak(remark, _words(text), {"deed": done.model_dump(mode="json")})


def answer(remark: Remark) -> Flow[None]:
    """From the documents, with their sources; asked back first where it is vague."""
    parts, mind = remark.parts, remark.mind
    assert parts.setting is not None
    asking = converse(remark.meant.words, parts.setting, earlier=mind.asked[-_EARLIER:])
    reply = yield from voiced(asking, parts, mind)
    nothing = reply.band == "none" and not reply.urgent
    if reply.extended == "greeting" or (nothing and remark.meant.sort not in ("question", "act")):
        yield from chat(remark)
        return
    found: dict[str, JsonValue] = {"reply": reply.model_dump(mode="json", exclude={"message"})}
    yield from speak(remark, _words(reply.message), {"asked": reply.query}, found)


def chat(remark: Remark) -> Flow[None]:
    """The persona's line, as somebody who stands so to the person and remembers them."""
    spare = reply_without_a_model(remark.mind, remark.meant, remark.remembered)
    if "speaker" not in remark.parts.roles:
        yield from speak(remark, _words(spare), {"told": spare})
        return
    persona, state = remark.parts.persona, _staged(remark)

    def write(rejected: Sequence[Draft]) -> Flow[str]:
        told = writer_messages(persona.profile, state, rejected, persona.language)
        return (yield from Chat("speaker", told))

    yield from speak(remark, write, spare=spare)


def _staged(remark: Remark) -> TalkState:
    """The talk as the speaker is told it: with facts, memories, the memo, and how they stand."""
    mind, persona = remark.mind, remark.parts.persona
    scene = lang.render(
        "naisei.agent",
        "scene.v1",
        persona.language,
        partner=persona.partner or phrase("nobody known", persona.language),
        facts=_listed([fact.say for fact in persona.facts]),
        memories=_listed([entry.line for entry in remark.remembered]),
        memo=mind.memo or "-",
    )
    state = mind.talk.model_copy(update={"scene": scene})
    if remark.parts.rules.relating and mind.stance is not None and (vector := mind.stance.vector):
        note = Note(to=persona.profile.id, text=" ".join(worded(vector, persona.language)))
        state = state.model_copy(update={"notes": (*state.notes, note)})
    return state


def _listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items) or "-"


def _words(text: str) -> Writer:
    """A line whose words are there."""

    def write(rejected: Sequence[Draft]) -> Flow[str]:
        return text
        yield  # a flow without effects

    return write


def speak(
    remark: Remark,
    write: Writer,
    done: dict[str, JsonValue] | None = None,
    more: dict[str, JsonValue] | None = None,
    *,
    spare: str = "",
    checked: bool = True,
) -> Flow[None]:
    """The line through the gate, and out; what came of it is committed with it.

    done: what the mind notes with it. more: what is shown with it. spare: is said where every
    draft is rejected.
    """
    parts, mind = remark.parts, remark.mind
    seen: dict[str, JsonValue] = {}
    if checked and parts.rules.checking:
        text, seen = yield from gated(parts, mind, write, spare=spare)
    else:
        text = yield from write(())
    readings = {"own": mind.stance, "theirs": mind.toward}
    stance: dict[str, JsonValue] = {
        name: reading.vector.model_dump(mode="json") if reading and reading.vector else None
        for name, reading in readings.items()
    }
    meta: dict[str, JsonValue] = {
        **seen,
        **(more or {}),
        "done": done or {},
        "understood": remark.meant.model_dump(mode="json"),
        "stance": stance,
        "memo": mind.memo,
    }
    me = parts.persona.profile.id
    yield from Say(text, me, meta)
    mind.hear(me, text, meta)
    mind.note(done or {})


def gated(
    parts: Parts, mind: Mind, write: Writer, *, spare: str = ""
) -> Flow[tuple[str, dict[str, JsonValue]]]:
    """A line that may go out, and what the director said of it. Where every draft is rejected,
    `spare`, or what was to be said if there is none."""
    me = parts.persona.profile
    rules = TalkRules(
        retries=parts.rules.retries if spare else 0,
        policy="refuse",
        judge="judge" in parts.roles,
        language=parts.persona.language,
    )
    turn = yield from line(me, write, mind.talk, rules, number=len(mind.talk.history))
    drafts: list[JsonValue] = [draft.model_dump(mode="json") for draft in turn.drafts]
    text = turn.text if turn.text is not None else spare or turn.drafts[-1].text
    return text, {**line_meta(turn, me, rules.language), "drafts": drafts}


def voiced(flow: Flow[T], parts: Parts, mind: Mind) -> Flow[T]:
    """Another system's flow, spoken by the persona: its questions pass the gate, and what must be
    confirmed is asked about before it is done. Raises `Emergency`."""
    step: Callable[[], Effect[Any]] = lambda: next(flow)  # noqa: E731
    while True:
        try:
            effect = step()
        except StopIteration as stop:
            returned: T = stop.value
            return returned
        result: Any
        try:
            if isinstance(effect, AskUser):
                result = yield from _asked(parts, mind, effect.question)
            elif isinstance(effect, Act) and not (yield from _confirmed(parts, mind, effect)):
                result = Observation(reward=0.0, done=True, info={"left": 1.0})
            else:
                result = yield effect
        except Emergency:
            flow.close()
            raise
        except Exception as error:
            step = lambda failed=error: flow.throw(failed)  # type: ignore[misc] # noqa: E731
        else:
            step = lambda got=result: flow.send(got)  # type: ignore[misc] # noqa: E731


def _asked(parts: Parts, mind: Mind, question: str) -> Flow[str]:
    if parts.rules.checking:
        question, _ = yield from gated(parts, mind, _words(question))
    said = yield from AskUser(question)
    mind.hear(parts.persona.profile.id, question)
    mind.hear(PERSON, said)
    heard = yield from parts.ear.heard(said)
    if heard.call:
        raise Emergency(heard)
    return said


def _confirmed(parts: Parts, mind: Mind, effect: Act) -> Flow[bool]:
    assert parts.actions is not None
    also = effect.action.get("also", [])
    texts = [parts.actions.text(int(a)) for a in (effect.action["execute"], *also)]
    if not {*texts} & {*parts.persona.permissions.confirm}:
        return True
    said = yield from _asked(parts, mind, phrase("may I", parts.persona.language, *texts))
    return understand(said).stance is Stance.YES


def recalled(parts: Parts, said: str) -> Flow[Sequence[Entry]]:
    """What is remembered of the person from former days, best first."""
    if not parts.rules.remembering or not (yield from Recent(STREAM, 1)):
        return ()
    now = (yield from Now()).replace(tzinfo=None)
    found = yield from Recall((said,), STREAM, now, k=_FOUND)
    former = [one.entry for one in found if one.entry.time.date() < now.date()]
    return former[:_TOLD]


def kept(parts: Parts, mind: Mind, said: str) -> Flow[None]:
    """The remark is remembered, for days to come where the person allows it."""
    if parts.rules.remembering:
        now = (yield from Now()).replace(tzinfo=None)
        id = f"{now:%Y%m%dT%H%M%S%f}-{len(mind.talk.history)}"
        yield from remember(STREAM, Entry(id=id, time=now, text=said, speaker=PERSON))
