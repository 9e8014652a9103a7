"""Reflection: recent memories → three questions → evidence → prompt → vector; and what the two
remember of a conversation, with its importance.

Source: the relationship reflection document, §2, steps 1 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from naisei.core import Chat, Flow, Gather, InstrumentFailure, Now, Remember
from naisei.memory.stream import Entry, Recall, Recent, Scored, evidence, rate, remember
from naisei.relationship.config import Rules
from naisei.relationship.messages import (
    dated,
    importance_messages,
    prompt_text,
    questions_messages,
    summary_messages,
    vector_messages,
)
from naisei.relationship.pairs import Pair
from naisei.relationship.recorder import RECORD, Recorder, other, stream_of, toward
from naisei.relationship.schemas import (
    AgentId,
    Ground,
    Importances,
    Line,
    Questions,
    Reflection,
    Summary,
)
from naisei.relationship.vector import Reading, VectorReply, worded

__all__ = [
    "FACT",
    "SUMMARY",
    "end_session",
    "importance_of",
    "importance_of_change",
    "next_line",
    "rate_importances",
    "reading_entry",
    "reflect",
    "remember_facts",
    "utterance_entry",
]


_AGENTS: tuple[AgentId, AgentId] = ("a", "b")
#: The best so many entries are looked at; the evidence is cut by its length.
_CANDIDATES = 40


def reflect(
    pair: Pair, who: Sequence[AgentId], now: datetime, rules: Rules
) -> Flow[list[Reflection]]:
    """How each of `who` stands toward the other at `now`, side by side, by the same questions."""
    recent = yield from Recent(
        stream_of(who[0]), rules.recent, ("utterance", "reflection")
    )  # step 1
    asked: Questions | None = None
    try:
        asked = yield from Chat("questioner", questions_messages(pair, recent), Questions)  # step 2
        # Step 3 for all of them before step 4 for any: then the requests leave at one moment.
        found = yield from Gather(
            [Recall(asked.listed, stream_of(src), now, _CANDIDATES) for src in who]
        )
    except InstrumentFailure as failure:
        wall = yield from Now()
        why = f"no questions: {failure}" if asked is None else f"no evidence: {failure}"
        failed = Reading.failed(why)
        return [
            Reflection(direction=toward(src), time=now, wall=wall, questions=asked, reading=failed)
            for src in who
        ]
    return (
        yield from Gather(
            [
                _direction(pair, src, asked, scored, now, rules)
                for src, scored in zip(who, found, strict=True)
            ]
        )
    )


def _direction(
    pair: Pair,
    src: AgentId,
    asked: Questions,
    found: Sequence[Scored],
    now: datetime,
    rules: Rules,
) -> Flow[Reflection]:
    block = evidence(found, limit=rules.evidence_chars)
    told = vector_messages(pair, src, asked, block.text)  # step 4
    wall = yield from Now()
    try:
        reading = (yield from Chat("reflector", told, VectorReply)).reading  # step 5
    except InstrumentFailure as failure:
        reading = Reading.failed(str(failure))
    return Reflection(
        direction=toward(src),
        time=now,
        wall=wall,
        questions=asked,
        evidence=tuple(
            _ground(one, number, text)
            for number, (one, text) in enumerate(zip(found, block.lines, strict=False), 1)
        ),
        prompt=prompt_text(told),
        reading=reading,
    )


def _ground(found: Scored, number: int, text: str) -> Ground:
    return Ground(
        id=found.entry.id,
        number=number,
        speaker=found.entry.speaker,
        text=text,
        score=found.score,
        relevance=found.relevance.normalised,
        importance=found.importance.normalised,
        recency=found.recency.normalised,
        source=found.entry.source,
    )


#: What is so of the persona, and what a session left behind.
FACT, SUMMARY = 6, 7
_SHORT, _LONG = 12, 50
#: A character of Japanese says about as much as so many of English.
_WIDER = 2.5


def importance_of(text: str) -> int:
    """Importance of an utterance, 1 to 10, by its form alone: 2 for a word or two, more for a long
    one, for figures and for questions. A model may rate it later (`importance="model"`)."""
    length = sum(1 if ord(c) > 0x2E80 else 1 / _WIDER for c in text)
    points = 2 if length < _SHORT else 4 if length < _LONG else 5
    points += any(c.isdigit() for c in text)
    points += "？" in text or "?" in text
    return points


def importance_of_change(moved: int) -> int:
    """Importance of a reading, 4 to 8.

    moved: by how much its three numbers differ from those before, 0 to 18.
    """
    return min(4 + moved, 8)


def remember_facts(pair: Pair, agent: AgentId, rules: Rules) -> Flow[None]:
    """What is so of a persona is in its memory from the start."""
    persona = pair.a if agent == "a" else pair.b
    for number, fact in enumerate(persona.facts, 1):
        entry = Entry(
            id=f"fact:{agent}:{number}",
            time=rules.clock.start,
            speaker=persona.name,
            kind="fact",
            text=f"{'（背景）' if pair.language == 'ja' else '(background) '}{fact}",
            importance=FACT,
            source={"agent": agent, "fact": number},
        )
        yield from remember(stream_of(agent), entry)


def next_line(rules: Rules, record: Recorder, who: AgentId, text: str, *, injected: bool) -> Line:
    """The next utterance of the session. id: as LoCoMo writes them, `D1:3`."""
    number, turn = record.session.number, len(record.session.lines)
    return Line(
        id=f"D{number}:{turn + 1}",
        session=number,
        turn=turn,
        speaker=who,
        text=text,
        time=rules.clock.turn(number, turn, rules.turns),
        injected=injected,
    )


def utterance_entry(pair: Pair, line: Line) -> Entry:
    """A line as both remember it."""
    return Entry(
        id=line.id,
        time=line.time,
        speaker=pair.names[line.speaker],
        text=line.text,
        importance=importance_of(line.text),
        source={"session": line.session, "turn": line.turn},
    )


def reading_entry(
    pair: Pair, agent: AgentId, made: Reflection, record: Recorder, turn: int
) -> Entry | None:
    """A reading as its owner remembers it; nothing if it failed, or is what it was before."""
    vector = made.reading.vector
    before, session = record.stances.get(made.direction), record.session
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
        importance=importance_of_change(moved),
        source={"session": session.number, "turn": turn, "direction": made.direction},
    )


def rate_importances(pair: Pair, rules: Rules, record: Recorder, turn: int) -> Flow[None]:
    """Ask a model for the importance of the utterances since the last time, once there are enough
    of them or the session ends. Those it does not rate keep the rule's."""
    if rules.importance != "model":
        return
    waiting = turn % rules.importance_every + 1
    if waiting < rules.importance_every and turn + 1 < rules.turns:
        return
    lines = record.session.lines[-waiting:]
    try:
        found = yield from Chat("rater", importance_messages(pair, lines), Importances)
        if len(found.importances) != len(lines):
            raise InstrumentFailure(f"{len(found.importances)} ratings for {len(lines)} lines")
    except InstrumentFailure:
        yield from Remember({"rating_failures": record.session.rating_failures + 1}, RECORD)
        return
    rated = {line.id: n for line, n in zip(lines, found.importances, strict=True)}
    for agent in _AGENTS:
        yield from rate(stream_of(agent), rated)


def end_session(pair: Pair, rules: Rules, record: Recorder) -> Flow[None]:
    """The session ends: both remember its summary, and the next begins with it. The last session
    needs none."""
    session = record.session
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
        importance=SUMMARY,
        source={"session": session.number, "summary": True},
    )
    for agent in _AGENTS:
        yield from remember(stream_of(agent), entry)
