"""Relationship reflection: speak, remember, reflect, and use the reading in the next line.

Source: the relationship reflection document, §§1, 2. All state is in the record and the streams.
"""

from __future__ import annotations

from datetime import timedelta

from naisei.core import Chat, Flow, InstrumentFailure, Remember, Say
from naisei.memory.stream import remember
from naisei.relationship.config import Rules
from naisei.relationship.messages import speaker_messages, spoken_text
from naisei.relationship.pairs import Pair
from naisei.relationship.recorder import (
    RECORD,
    Recorder,
    base_of,
    moment_of,
    other,
    stream_of,
    toward,
)
from naisei.relationship.reflect import (
    end_session,
    next_line,
    rate_importances,
    reflect,
    remember_facts,
    utterance_entry,
)
from naisei.relationship.schemas import AGENTS, AgentId, Conversation, Session, Stance
from naisei.relationship.vector import DIMENSIONS, Reading, faded


def converse(pair: Pair, rules: Rules, record: Recorder) -> Flow[Conversation]:
    """Run all sessions of one pair. `a` speaks first; then they take turns."""
    for agent in AGENTS:
        yield from remember_facts(pair, agent, rules)
    for number in range(1, rules.sessions + 1):
        start = rules.clock.session(number, rules.turns)
        yield from Remember(
            {"session": Session(number=number, start=start).model_dump(mode="json")}, RECORD
        )
        if rules.reflection == "session":
            yield from feel(pair, rules, record, at_start=True)
        for _ in range(rules.turns):
            yield from speak(pair, rules, record)
            if rules.reflection == "turn":
                yield from feel(pair, rules, record)
        yield from end_session(pair, rules, record)
    return record.result


def speak(pair: Pair, rules: Rules, record: Recorder) -> Flow[None]:
    """Produce the next utterance, with the reading in the prompt if `rules.inject`; both agents
    remember it."""
    who, turn = upcoming(rules, record), len(record.session.lines)
    stance = record.stances.get(toward(who)) if rules.inject else None
    reading = attitude(pair, rules, record, stance, who) if stance else None
    messages = speaker_messages(pair, who, record.conversation.sessions, reading)  # step 6
    reply = yield from Chat("speaker", messages)
    text = spoken_text(reply, pair.names[who], pair.names[other(who)])
    if not text:
        raise InstrumentFailure(f"{pair.names[who]} said nothing")
    line = next_line(rules, record, who, text, injected=reading.vector if reading else None)
    yield from Say(text, who, line.model_dump(mode="json", exclude={"speaker", "text"}))
    for agent in AGENTS:
        yield from remember(stream_of(agent), utterance_entry(pair, line))
    yield from rate_importances(pair, rules, record, turn)


def attitude(
    pair: Pair, rules: Rules, record: Recorder, stance: Stance, who: AgentId
) -> Reading | None:
    """The reading for the next speaker's prompt: the latest one, faded toward the pair's base. A
    number changed by fading loses its reason."""
    if (read := stance.reading.vector) is None:
        return None
    session = record.session
    now = rules.clock.turn(session.number, len(session.lines), rules.turns)
    since = now - rules.clock.turn(stance.session, stance.turn, rules.turns)
    base = base_of(pair, record, toward(who))
    left = faded(read, base, since / timedelta(days=1), rules.fading.days)
    unchanged = [n for n in DIMENSIONS if getattr(left, n) == getattr(read, n)]
    reasons = tuple(one for one in stance.reading.reasons if one.dimension in unchanged)
    return Reading(vector=left, reasons=reasons)


def feel(pair: Pair, rules: Rules, record: Recorder, *, at_start: bool = False) -> Flow[None]:
    """Let the next speaker reflect (both at first, or with `directions="both"`); record the
    result."""
    session, speaker = record.session, upcoming(rules, record)
    both = not session.moments or rules.directions == "both"
    who = (speaker, other(speaker)) if both else (speaker,)
    turn = max(len(session.lines) - 1, 0)
    now = rules.clock.turn(session.number, turn, rules.turns)
    made = yield from reflect(pair, who, now, rules, former=record.stances)
    moment = moment_of(record, rules, speaker, turn, made, at_start=at_start)
    yield from Remember({"moment": moment.model_dump(mode="json")}, RECORD)


def upcoming(rules: Rules, record: Recorder) -> AgentId:
    """The next speaker; turns alternate across sessions."""
    spoken_before = (record.session.number - 1) * rules.turns + len(record.session.lines)
    return AGENTS[spoken_before % 2]
