"""What the two remember: facts, lines, readings, and what each session left behind."""

from __future__ import annotations

from naisei.core import Chat, Flow, InstrumentFailure, Remember
from naisei.memory.stream import Entry, rate, remember
from naisei.relationship import importance
from naisei.relationship.book import RECORD, Book, other
from naisei.relationship.clock import dated
from naisei.relationship.degrees import worded
from naisei.relationship.persona import Pair
from naisei.relationship.reflect import stream_of
from naisei.relationship.rules import Rules
from naisei.relationship.schemas import (
    AgentId,
    Importances,
    Line,
    Reflection,
    Summary,
)
from naisei.relationship.words import importance_messages, summary_messages

__all__ = ["feeling", "introduce", "line", "part", "rate_now", "utterance"]

_AGENTS: tuple[AgentId, AgentId] = ("a", "b")


def introduce(pair: Pair, agent: AgentId, rules: Rules) -> Flow[None]:
    """What is so of a persona is in its memory from the start."""
    persona = pair.a if agent == "a" else pair.b
    for number, fact in enumerate(persona.facts, 1):
        entry = Entry(
            id=f"fact:{agent}:{number}",
            time=rules.clock.start,
            speaker=persona.name,
            kind="fact",
            text=f"{'（背景）' if pair.language == 'ja' else '(background) '}{fact}",
            importance=importance.FACT,
            source={"agent": agent, "fact": number},
        )
        yield from remember(stream_of(agent), entry)


def line(rules: Rules, book: Book, who: AgentId, text: str, *, injected: bool) -> Line:
    """The next utterance of the session. id: as LoCoMo writes them, `D1:3`."""
    number, turn = book.session.number, len(book.session.lines)
    return Line(
        id=f"D{number}:{turn + 1}",
        session=number,
        turn=turn,
        speaker=who,
        text=text,
        time=rules.clock.turn(number, turn, rules.turns),
        injected=injected,
    )


def utterance(pair: Pair, line: Line) -> Entry:
    """A line as both remember it."""
    return Entry(
        id=line.id,
        time=line.time,
        speaker=pair.names[line.speaker],
        text=line.text,
        importance=importance.said(line.text),
        source={"session": line.session, "turn": line.turn},
    )


def feeling(pair: Pair, agent: AgentId, made: Reflection, book: Book, turn: int) -> Entry | None:
    """A reading as its owner remembers it; nothing if it failed, or is what it was before."""
    vector = made.reading.vector
    before, session = book.stances.get(made.direction), book.session
    then = before.reading.vector if before is not None else None
    if vector is None or vector == then:
        return None
    moved = sum(abs(x - y) for x, y in zip(vector.values, then.values, strict=True)) if then else 0
    partner = pair.names[other(agent)]
    head = f"{partner}への今の態度" if pair.language == "ja" else f"My attitude to {partner}"
    listed = ("、" if pair.language == "ja" else ", ").join(worded(vector, pair.language))
    start = "s" if not session.lines else ""
    return Entry(
        id=f"R{session.number}:{turn + 1}{start}:{agent}",
        time=made.time,
        speaker=pair.names[agent],
        kind="reflection",
        text=f"{head}: {listed}",
        importance=importance.reflected(moved),
        source={"session": session.number, "turn": turn, "direction": made.direction},
    )


def rate_now(pair: Pair, rules: Rules, book: Book, turn: int) -> Flow[None]:
    """Ask a model for the importance of the utterances since the last time, once there are enough
    of them or the session ends. Those it does not rate keep the rule's."""
    if rules.importance != "model":
        return
    waiting = turn % rules.importance_every + 1
    if waiting < rules.importance_every and turn + 1 < rules.turns:
        return
    lines = book.session.lines[-waiting:]
    try:
        found = yield from Chat("rater", importance_messages(pair, lines), Importances)
        if len(found.importances) != len(lines):
            raise InstrumentFailure(f"{len(found.importances)} ratings for {len(lines)} lines")
    except InstrumentFailure:
        yield from Remember({"rating_failures": book.session.rating_failures + 1}, RECORD)
        return
    rated = {line.id: n for line, n in zip(lines, found.importances, strict=True)}
    for agent in _AGENTS:
        yield from rate(stream_of(agent), rated)


def part(pair: Pair, rules: Rules, book: Book) -> Flow[None]:
    """The session ends: both remember its summary, and the next begins with it. The last session
    needs none."""
    session = book.session
    if not rules.summary or session.number == rules.sessions:
        return
    try:
        found = yield from Chat("summariser", summary_messages(pair, session), Summary)
    except InstrumentFailure as failure:
        yield from Remember({"summary_failure": str(failure)}, RECORD)
        return
    text = " ".join(found.summary.split())
    yield from Remember({"summary": text}, RECORD)
    entry = Entry(
        id=f"S{session.number}",
        time=session.lines[-1].time,
        # Every line of evidence has somebody before it, as readers of the trace expect.
        speaker="会話の要約" if pair.language == "ja" else "summary",
        kind="fact",
        text=f"{dated(session.start, pair.language)}: {text}",
        importance=importance.SUMMARY,
        source={"session": session.number, "summary": True},
    )
    for agent in _AGENTS:
        yield from remember(stream_of(agent), entry)
