"""Relationship reflection: speak, remember, reflect, and speak as one who has reflected.

Source: the relationship reflection document, §§1, 2. All state is in the book and the streams.
"""

from __future__ import annotations

from naisei.core import Chat, Flow, InstrumentFailure, Remember, Say
from naisei.memory.stream import remember
from naisei.relationship import memories
from naisei.relationship.book import RECORD, Book, moment_of, other, toward
from naisei.relationship.persona import Pair
from naisei.relationship.reflect import reflect, stream_of
from naisei.relationship.rules import Rules
from naisei.relationship.schemas import AgentId, Conversation, Session
from naisei.relationship.spoken import spoken
from naisei.relationship.words import speaker_messages

__all__ = ["converse"]

_AGENTS: tuple[AgentId, AgentId] = ("a", "b")


def converse(pair: Pair, rules: Rules, book: Book) -> Flow[Conversation]:
    """All sessions of one pair; `a` speaks first, and from then on they take turns."""
    for agent in _AGENTS:
        yield from memories.introduce(pair, agent, rules)
    for number in range(1, rules.sessions + 1):
        start = rules.clock.session(number, rules.turns)
        yield from Remember(
            {"session": Session(number=number, start=start).model_dump(mode="json")}, RECORD
        )
        if rules.reflection == "session":
            yield from feel(pair, rules, book, at_start=True)
        for _ in range(rules.turns):
            yield from speak(pair, rules, book)
            if rules.reflection == "turn":
                yield from feel(pair, rules, book)
        yield from memories.part(pair, rules, book)
    return book.result


def speak(pair: Pair, rules: Rules, book: Book) -> Flow[None]:
    """The next utterance, by a speaker who may be told how they stand; both remember it."""
    who, turn = upcoming(rules, book), len(book.session.lines)
    stance = book.stances.get(toward(who)) if rules.inject else None
    vector = stance.reading.vector if stance else None
    told = speaker_messages(pair, who, book.conversation.sessions, vector)  # step 6
    reply = yield from Chat("speaker", told)
    text = spoken(reply, pair.names[who], pair.names[other(who)])
    if not text:
        raise InstrumentFailure(f"{pair.names[who]} said nothing")
    line = memories.line(rules, book, who, text, injected=vector is not None)
    yield from Say(text, who, line.model_dump(mode="json", exclude={"speaker", "text"}))
    for agent in _AGENTS:
        yield from remember(stream_of(agent), memories.utterance(pair, line))
    yield from memories.rate_now(pair, rules, book, turn)


def feel(pair: Pair, rules: Rules, book: Book, *, at_start: bool = False) -> Flow[None]:
    """The next speaker reflects; at first and on demand both do. Readings are remembered."""
    session, speaker = book.session, upcoming(rules, book)
    both = not session.moments or rules.directions == "both"
    who = (speaker, other(speaker)) if both else (speaker,)
    turn = max(len(session.lines) - 1, 0)
    now = rules.clock.turn(session.number, turn, rules.turns)
    made = yield from reflect(pair, who, now, rules)
    for agent, reflection in zip(who, made, strict=True):
        entry = memories.feeling(pair, agent, reflection, book, turn)
        if entry is not None:
            yield from remember(stream_of(agent), entry)
    moment = moment_of(book, rules, speaker, turn, made, at_start=at_start)
    yield from Remember({"moment": moment.model_dump(mode="json")}, RECORD)


def upcoming(rules: Rules, book: Book) -> AgentId:
    """Who speaks next. They take turns, across sessions, too."""
    spoken_before = (book.session.number - 1) * rules.turns + len(book.session.lines)
    return _AGENTS[spoken_before % 2]
