"""Rating as a flow: hear a line, reflect in both directions, go on to the next.

The readings are not remembered: each rests on the dialogue, not on what was rated before.
"""

from __future__ import annotations

from naisei.core import Flow, Gather, Remember, Say
from naisei.memory.stream import remember
from naisei.relationship import memories
from naisei.relationship.book import RECORD, Book, other
from naisei.relationship.rate_config import RatedLine, RatingConfig
from naisei.relationship.reflect import reflect, stream_of
from naisei.relationship.schemas import AgentId, Conversation, Moment, Reflection, Session, Stance
from naisei.relationship.stability import median_reading

__all__ = ["rate"]

_AGENTS: tuple[AgentId, AgentId] = ("a", "b")


def rate(config: RatingConfig, book: Book) -> Flow[Conversation]:
    """The dialogue with a moment after each line: both directions, by the median of the votes."""
    pair, rules = config.pair, config.rules
    who = dict(zip(config.speakers, _AGENTS, strict=True))
    for at, given in enumerate(config.lines):
        if at == 0 or config.lines[at - 1].session != given.session:
            start = rules.clock.session(given.session, rules.turns)
            session = Session(number=given.session, start=start)
            yield from Remember({"session": session.model_dump(mode="json")}, RECORD)
        agent = who[given.speaker]
        line = memories.line(rules, book, agent, given.text, injected=False)
        yield from Say(given.text, agent, line.model_dump(mode="json", exclude={"speaker", "text"}))
        for listener in _AGENTS:
            yield from remember(stream_of(listener), memories.utterance(pair, line))
        votes: list[list[Reflection]] = yield from Gather(
            [reflect(pair, _AGENTS, line.time, rules) for _ in range(config.votes)]
        )
        moment = _moment(book, votes, _next(config.lines, at, who, agent))
        yield from Remember({"moment": moment.model_dump(mode="json")}, RECORD)
    return book.conversation


def _moment(book: Book, votes: list[list[Reflection]], speaker: AgentId) -> Moment:
    session, turn = book.session.number, len(book.session.lines) - 1
    every = [made for vote in votes for made in vote]
    stances = {}
    for way in dict.fromkeys(made.direction for made in every):
        middle = median_reading([made.reading for made in every if made.direction == way])
        stances[way] = Stance(reading=middle, session=session, turn=turn)
    return Moment(
        session=session,
        turn=turn,
        at="after_turn",
        next_speaker=speaker,
        injected=False,
        stances=stances,
        reflections=tuple(every),
    )


def _next(lines: tuple[RatedLine, ...], at: int, who: dict[str, AgentId], now: AgentId) -> AgentId:
    if at + 1 < len(lines) and lines[at + 1].session == lines[at].session:
        return who[lines[at + 1].speaker]
    return other(now)
