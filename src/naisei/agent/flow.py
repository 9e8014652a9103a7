"""The agent: understand the remark, then act, answer or talk; check every line; learn from errors.

A request to act goes to R-Clarify (`naisei.clarify.flow.trial`), a question to the assistant
(`naisei.intent.flow.converse`); every line passes the director's gate
(`naisei.director.flow.line`), told how the two stand (`naisei.relationship`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pydantic import JsonValue

from naisei import lang
from naisei.agent.mind import PERSON, Deed, Kind, Mind
from naisei.agent.persona import Persona
from naisei.agent.rules import AgentRules
from naisei.agent.understanding import Meant, Weights, understood
from naisei.agent.unprompted import reply_without_a_model
from naisei.agent.wording import did, phrase
from naisei.clarify.agent import Agent
from naisei.clarify.config import Rules
from naisei.clarify.flow import reflect, trial
from naisei.clarify.schemas import ActionSet, TrialLog, Turn
from naisei.core import Act, AskUser, Chat, Effect, Flow, Now, Observation, Remember, Say
from naisei.director.config import TalkRules
from naisei.director.describe import writer_messages
from naisei.director.draft import meta as line_meta
from naisei.director.flow import line
from naisei.director.schemas import Draft
from naisei.director.state import Note
from naisei.intent.flow import converse
from naisei.intent.rules import Setting
from naisei.japanese.answers import Stance, understand
from naisei.memory import Memory
from naisei.memory.stream import Entry, Recall, Recent, remember

T = TypeVar("T")
#: The stream of what is remembered of the person, and how much of it is told at once.
STREAM, _RECALLED = "person", 3
#: Earlier requests that a later one may point back to.
_EARLIER = 5


@dataclass(frozen=True, slots=True)
class Parts:
    """What a persona brings. actions, agent: `None` where it cannot act. memory: of reflection.
    setting: of its documents, `None` where it has none. weights: that read a remark without a
    model. roles: those that have a model: `understanding`, `speaker`, `reflector`, …"""

    persona: Persona
    rules: AgentRules
    actions: ActionSet | None = None
    agent: Agent | None = None
    memory: Memory | None = None
    setting: Setting | None = None
    weights: Weights | None = None
    roles: frozenset[str] = frozenset()

    def kinds(self, mind: Mind) -> tuple[Kind, ...]:
        """What a remark may be taken for just now."""
        acts, looks_up = self.agent is not None, self.setting is not None
        deeds = ("correction",) if mind.deed else ()
        return (*deeds, *(("act",) * acts), *(("question",) * looks_up), "chat")


def talk(parts: Parts, mind: Mind) -> Flow[NoReturn]:
    """A conversation without end; whoever has had enough leaves."""
    while True:
        said = yield from AskUser("")
        mind.hear(PERSON, said)
        yield from respond(parts, mind)


def respond(parts: Parts, mind: Mind) -> Flow[None]:
    """All that one remark leads to, up to the line that ends it."""
    said = mind.said
    remembered = yield from recalled(parts, said)
    model = "understanding" in parts.roles
    meant = yield from understood(mind, parts.kinds(mind), model=model, weights=parts.weights)
    ways = {"act": act, "correction": correct, "question": answer, "chat": chat}
    yield from ways[meant.kind](parts, mind, meant, remembered)
    yield from kept(parts, mind, said)


def act(parts: Parts, mind: Mind, meant: Meant, remembered: Sequence[Entry]) -> Flow[None]:
    """Ask as often as is allowed, then do it, or say that there is nothing to be done."""
    yield from _attempt(parts, mind, meant, remembered, Deed(utterance=meant.words, logs=()))


def correct(parts: Parts, mind: Mind, meant: Meant, remembered: Sequence[Entry]) -> Flow[None]:
    """What was done was wrong: the memo is rewritten, and what was meant is tried again."""
    assert mind.deed is not None and parts.actions is not None and parts.agent is not None
    *before, last = mind.deed.logs
    acts = "、".join(parts.actions.text(a) for a in last.acts)
    told = Turn(question=phrase("was it", parts.persona.language, acts), answer=mind.said)
    failed = last.model_copy(update={"success": False, "turns": (*last.turns, told)})
    deed = mind.deed.model_copy(update={"logs": (*before, failed)})
    if parts.rules.reflecting and parts.memory is not None and "reflector" in parts.roles:
        scene = deed.instance(parts.persona.language).scene
        note = yield from reflect(scene, parts.actions, failed, parts.memory)
        yield from Remember(note)
        mind.memo = note
    yield from _attempt(parts, mind, meant, remembered, deed)


def _attempt(
    parts: Parts, mind: Mind, meant: Meant, remembered: Sequence[Entry], deed: Deed
) -> Flow[None]:
    assert parts.actions is not None and parts.agent is not None
    rules = Rules(quota=parts.rules.quota, clarify=parts.rules.asking, repeats="mask")
    log: TrialLog = yield from voiced(
        trial(
            deed.instance(parts.persona.language),
            parts.actions,
            parts.agent,
            mind.memo,
            deed.logs,
            rules,
            declines=True,
        ),
        parts,
        mind,
    )
    language = parts.persona.language
    if log.declined == "no request":
        yield from chat(parts, mind, meant, remembered)
        return
    if log.declined is not None:
        yield from tell(parts, mind, phrase("cannot", language), meant, {"deed": None})
        return
    if not log.success:
        yield from tell(parts, mind, phrase("left alone", language), meant, {"deed": None})
        return
    done = Deed(utterance=deed.utterance, logs=(*deed.logs, log))
    text = did([parts.actions.text(a) for a in log.acts], language)
    yield from tell(parts, mind, text, meant, {"deed": done.model_dump(mode="json")})


def answer(parts: Parts, mind: Mind, meant: Meant, remembered: Sequence[Entry]) -> Flow[None]:
    """From the documents, with their sources; asked back first where it is vague."""
    assert parts.setting is not None
    asking = converse(meant.words, parts.setting, earlier=mind.asked[-_EARLIER:])
    reply = yield from voiced(asking, parts, mind)
    if reply.extended == "greeting" or (reply.band == "none" and not reply.urgent):
        facts = yield from _of_itself(parts, mind, meant, remembered)
        if facts:
            return
    found = {"reply": reply.model_dump(mode="json", exclude={"message"})}
    yield from tell(parts, mind, reply.message, meant, {"asked": reply.query}, found)


def _of_itself(parts: Parts, mind: Mind, meant: Meant, remembered: Sequence[Entry]) -> Flow[bool]:
    """Whether the persona itself knows, where its documents do not; then it has said so."""
    if "speaker" in parts.roles:
        return False
    found = yield from reply_without_a_model(parts.persona, mind, remembered, only_facts=True)
    if found is None:
        return False
    yield from tell(parts, mind, found.text, meant, {"told": found.told})
    return True


def chat(parts: Parts, mind: Mind, meant: Meant, remembered: Sequence[Entry]) -> Flow[None]:
    """The persona's line, as somebody who stands so to the person and remembers them."""
    if "speaker" not in parts.roles:
        found = yield from reply_without_a_model(parts.persona, mind, remembered)
        assert found is not None, "there is always something to ask back"
        yield from tell(parts, mind, found.text, meant, {"told": found.told})
        return
    state = _staged(parts, mind, remembered)

    def write(rejected: Sequence[Draft]) -> Flow[str]:
        me = parts.persona.profile
        messages = writer_messages(me, state, rejected, parts.persona.language)
        return (yield from Chat("speaker", messages))

    yield from _spoken(parts, mind, write, meant, {}, {})


def _staged(parts: Parts, mind: Mind, remembered: Sequence[Entry]) -> Any:
    """The talk as the speaker is told it: with facts, memories, the memo, and how they stand."""
    persona, language = parts.persona, parts.persona.language
    scene = lang.render(
        "naisei.agent",
        "scene.v1",
        language,
        partner=persona.partner or phrase("nobody known", language),
        facts=_listed(persona.facts),
        memories=_listed([entry.line for entry in remembered]),
        memo=mind.memo or "-",
    )
    state = mind.talk.model_copy(update={"scene": scene})
    if parts.rules.relating and mind.stance is not None and (vector := mind.stance.vector):
        from naisei.relationship.vector import worded

        note = Note(to=persona.profile.id, text=" ".join(worded(vector, language)))
        state = state.model_copy(update={"notes": (*state.notes, note)})
    return state


def _listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items) or "-"


def tell(
    parts: Parts,
    mind: Mind,
    text: str,
    meant: Meant,
    done: Mapping[str, JsonValue],
    more: Mapping[str, JsonValue] | None = None,
) -> Flow[None]:
    """A line whose words are there."""

    def write(rejected: Sequence[Draft]) -> Flow[str]:
        return text
        yield  # a flow without effects

    yield from _spoken(parts, mind, write, meant, done, more or {})


def _spoken(
    parts: Parts,
    mind: Mind,
    write: Any,
    meant: Meant,
    done: Mapping[str, JsonValue],
    more: Mapping[str, JsonValue],
) -> Flow[None]:
    """The line through the gate, and out; what came of it is committed with it."""
    me = parts.persona.profile
    text, checked = yield from gated(parts, mind, write)
    held: dict[str, JsonValue] = {
        **checked,
        **more,
        "done": {key: value for key, value in done.items() if value is not None or key == "deed"},
        "understood": meant.model_dump(mode="json"),
        "stance": _stance(mind),
        "memo": mind.memo,
    }
    yield from Say(text, me.id, held)
    mind.hear(me.id, text, held)
    mind.note(held["done"])  # type: ignore[arg-type]


def _stance(mind: Mind) -> JsonValue:
    sides = {"own": mind.stance, "theirs": mind.toward}
    return {
        name: reading.vector.model_dump(mode="json") if reading and reading.vector else None
        for name, reading in sides.items()
    }


def gated(parts: Parts, mind: Mind, write: Any) -> Flow[tuple[str, dict[str, JsonValue]]]:
    """A line that may go out, and what the director said of it; "" where nothing may."""
    me = parts.persona.profile
    if not parts.rules.checking:
        return (yield from write(())), {}
    rules = TalkRules(
        retries=parts.rules.retries if "speaker" in parts.roles else 0,
        judge="judge" in parts.roles,
        language=parts.persona.language,
    )
    turn = yield from line(me, write, mind.talk, rules, number=len(mind.talk.history))
    drafts: list[JsonValue] = [draft.model_dump(mode="json") for draft in turn.drafts]
    return turn.text or "", {**line_meta(turn, me, rules.language), "drafts": drafts}


def voiced(flow: Flow[T], parts: Parts, mind: Mind) -> Flow[T]:
    """Another system's flow, spoken by the persona: its questions pass the gate, and what must be
    confirmed is asked about before it is done."""
    try:
        effect: Effect[Any] = next(flow)
        while True:
            try:
                if isinstance(effect, AskUser):
                    result: Any = yield from _asked(parts, mind, effect.question)
                elif isinstance(effect, Act) and not (yield from _confirmed(parts, mind, effect)):
                    result = Observation(reward=0.0, done=True, info={"left": 1.0})
                else:
                    result = yield effect
            except Exception as error:
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as stop:
        returned: T = stop.value
        return returned


def _asked(parts: Parts, mind: Mind, question: str) -> Flow[str]:
    def write(rejected: Sequence[Draft]) -> Flow[str]:
        return question
        yield

    text, _ = yield from gated(parts, mind, write)
    said = yield from AskUser(text)
    mind.hear(parts.persona.profile.id, text)
    mind.hear(PERSON, said)
    return said


def _confirmed(parts: Parts, mind: Mind, effect: Act) -> Flow[bool]:
    assert parts.actions is not None
    also = effect.action.get("also", [])
    texts = [parts.actions.text(int(a)) for a in (effect.action["execute"], *also)]
    if not {*texts} & {*parts.persona.permissions.confirm}:
        return True
    language = parts.persona.language
    said = yield from _asked(parts, mind, phrase("may I", language, "、".join(texts)))
    return understand(said).stance is Stance.YES


def recalled(parts: Parts, said: str) -> Flow[Sequence[Entry]]:
    """What is remembered of the person that bears on the remark, best first."""
    if not parts.rules.remembering or not (yield from Recent(STREAM, 1)):
        return ()
    now = yield from Now()
    found = yield from Recall((said,), STREAM, now.replace(tzinfo=None), k=_RECALLED)
    return [one.entry for one in found]


def kept(parts: Parts, mind: Mind, said: str) -> Flow[None]:
    """The remark is remembered, for days to come where the person allows it."""
    if parts.rules.remembering:
        now = (yield from Now()).replace(tzinfo=None)
        id = f"{now:%Y%m%dT%H%M%S%f}-{len(mind.talk.history)}"
        yield from remember(STREAM, Entry(id=id, time=now, text=said, speaker=PERSON))
