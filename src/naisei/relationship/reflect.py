"""Reflection: recent memories → three questions → evidence → prompt → vector; and memory entries.

Source: the relationship reflection document, §2, steps 1 to 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from naisei.core import Chat, Flow, Gather, InstrumentFailure, Now, Remember
from naisei.memory.stream import Entry, Kind, Part, Recall, Recent, Scored, evidence, rate, remember
from naisei.relationship.config import Rules
from naisei.relationship.messages import (
    dated,
    evidence_line,
    importance_messages,
    prompt_text,
    questions_messages,
    summary_messages,
    vector_messages,
)
from naisei.relationship.pairs import Pair
from naisei.relationship.recorder import RECORD, Recorder, stream_of, toward
from naisei.relationship.schemas import (
    AGENTS,
    AgentId,
    CitedEntry,
    Direction,
    Importances,
    Line,
    Questions,
    Reflection,
    Stance,
    Summary,
)
from naisei.relationship.vector import Reading, RelationVector, VectorReply

#: Maximum number of entries to retrieve; `evidence_chars` then limits the evidence.
_CANDIDATES = 40
#: Kinds of entries that count as evidence; earlier readings do not.
_EVIDENCE: tuple[Kind, ...] = ("utterance", "fact", "summary")


def reflect(
    pair: Pair,
    who: Sequence[AgentId],
    now: datetime,
    rules: Rules,
    *,
    former: Mapping[Direction, Stance] | None = None,
) -> Flow[list[Reflection]]:
    """Read the stance of each agent in `who` at `now`, concurrently, each with its own questions
    and evidence. former: the previous readings, included in the prompt."""
    return (
        yield from Gather(
            [_direction(pair, src, now, rules, (former or {}).get(toward(src))) for src in who]
        )
    )


#: Queries of the procedure `lite`, one per dimension.
_ANCHORS = {
    "ja": (
        "どちらが決め、頼み、指示し、従っているか。許可や謝罪。",
        "気持ち、心配、感謝、からかい、拒絶。一緒にしたこと、個人的な話。",
        "用件、約束、予定、作業の話か、雑談か。",
    ),
    "en": (
        "Who decides, asks, orders, goes along; leave and apology.",
        "Feelings, care, thanks, teasing, rejection; what they did together, private things.",
        "Business, promises, plans and work, or small talk.",
    ),
}


def _direction(
    pair: Pair, src: AgentId, now: datetime, rules: Rules, former: Stance | None
) -> Flow[Reflection]:
    recent = yield from Recent(stream_of(src), rules.recent, ("utterance",))  # step 1
    newest = recent[-1].id if recent else ""

    def shown(entry: Entry) -> str:
        return evidence_line(entry, pair.language, newest=entry.id == newest)

    questions: Questions | None = None
    try:
        queries = _ANCHORS[pair.language]
        if rules.procedure != "lite":
            questions = yield from Chat(
                "questioner", questions_messages(pair, src, recent), Questions
            )  # step 2
            queries = questions.listed
        recalled = yield from Recall(
            queries,
            stream_of(src),
            now,
            _CANDIDATES,
            _EVIDENCE,
            rules.retrieval,
            "now",
            rules.half_life_days or None,
        )  # step 3
        ranked = _with_newest(recalled, recent if rules.procedure == "lite" else recent[-1:])
    except InstrumentFailure as failure:
        wall = yield from Now()
        no_questions = questions is None and rules.procedure != "lite"
        failed = Reading.failed(f"no {'questions' if no_questions else 'evidence'}: {failure}")
        return Reflection(
            direction=toward(src), time=now, wall=wall, questions=questions, reading=failed
        )
    block = evidence(ranked, limit=rules.evidence_chars, line=shown)
    before = None
    if former is not None:
        before = (rules.clock.turn(former.session, former.turn, rules.turns), former)
    messages = vector_messages(pair, src, questions, block.text, now=now, former=before)  # step 4
    wall = yield from Now()
    try:
        reading = (yield from Chat("reflector", messages, VectorReply)).read(block.ids)  # step 5
    except InstrumentFailure as failure:
        reading = Reading.failed(str(failure))
    return Reflection(
        direction=toward(src),
        time=now,
        wall=wall,
        questions=questions,
        evidence=tuple(
            _cited_entry(one, number, text)
            for number, (one, text) in enumerate(zip(block.chosen, block.lines, strict=True), 1)
        ),
        prompt=prompt_text(messages),
        reading=reading,
    )


def _with_newest(ranked: Sequence[Scored], newest: Sequence[Entry]) -> list[Scored]:
    """Put the newest entries first, whether or not they were retrieved."""
    scored = {one.entry.id: one for one in ranked}
    first = [scored.get(entry.id) or _unfound(entry) for entry in reversed(newest)]
    included = {one.entry.id for one in first}
    return [*first, *(one for one in ranked if one.entry.id not in included)]


def _unfound(entry: Entry) -> Scored:
    none = Part(raw=None, normalised=0.0)
    return Scored(entry=entry, score=0.0, relevance=none, importance=none, recency=none)


def _cited_entry(scored: Scored, number: int, text: str) -> CitedEntry:
    return CitedEntry(
        id=scored.entry.id,
        number=number,
        speaker=scored.entry.speaker,
        text=text,
        score=scored.score,
        relevance=scored.relevance.normalised,
        importance=scored.importance.normalised,
        recency=scored.recency.normalised,
        source=scored.entry.source,
    )


#: Importance of a persona's fact and of a session's summary.
FACT, SUMMARY = 6, 7
_SHORT, _LONG = 12, 50
#: Number of English characters that count as one Japanese character.
_WIDER = 2.5


def importance_of(text: str) -> int:
    """Importance of an utterance by its form, 2 to 7: higher for long utterances, digits and
    questions. With `importance="model"`, a model rates it later."""
    length = sum(1 if ord(c) > 0x2E80 else 1 / _WIDER for c in text)
    points = 2 if length < _SHORT else 4 if length < _LONG else 5
    points += any(c.isdigit() for c in text)
    points += "？" in text or "?" in text
    return points


def remember_facts(pair: Pair, agent: AgentId, rules: Rules) -> Flow[None]:
    """Add a persona's facts to its memory, with a date before the first line."""
    persona = pair.a if agent == "a" else pair.b
    for number, fact in enumerate(persona.facts, 1):
        entry = Entry(
            id=f"fact:{agent}:{number}",
            time=rules.clock.start - timedelta.resolution,
            speaker=persona.name,
            kind="fact",
            text=f"{'（背景）' if pair.language == 'ja' else '(background) '}{fact}",
            importance=FACT,
            source={"agent": agent, "fact": number},
        )
        yield from remember(stream_of(agent), entry)


def next_line(
    rules: Rules, record: Recorder, who: AgentId, text: str, injected: RelationVector | None = None
) -> Line:
    """The next utterance of the session. Its id has LoCoMo's format, `D1:3`."""
    number, turn = record.session.number, len(record.session.lines)
    return Line(
        id=f"D{number}:{turn + 1}",
        session=number,
        turn=turn,
        speaker=who,
        text=text,
        time=rules.clock.turn(number, turn, rules.turns),
        injected=injected is not None,
        prompt_vector=injected,
    )


def utterance_entry(pair: Pair, line: Line) -> Entry:
    """The memory entry of an utterance, the same for both agents."""
    return Entry(
        id=line.id,
        time=line.time,
        speaker=pair.names[line.speaker],
        text=line.text,
        importance=importance_of(line.text),
        source={"session": line.session, "turn": line.turn},
    )


def rate_importances(pair: Pair, rules: Rules, record: Recorder, turn: int) -> Flow[None]:
    """Let a model rate the utterances since the last rating, every `importance_every` utterances
    and at the session's end. After a failure, the rule's values remain."""
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
    for agent in AGENTS:
        yield from rate(stream_of(agent), rated)


def end_session(pair: Pair, rules: Rules, record: Recorder) -> Flow[None]:
    """Summarise the session into both memories and the record, unless it is the last."""
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
        # In the trace, every evidence line starts with a name.
        speaker="会話の要約" if pair.language == "ja" else "summary",
        kind="summary",
        text=f"{dated(session.start, pair.language)}: {text}",
        importance=SUMMARY,
        source={"session": session.number},
        of=tuple(line.id for line in session.lines),
    )
    for agent in AGENTS:
        yield from remember(stream_of(agent), entry)
