"""A conversation line by line: sessions, what was said, and what was read after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from naisei.core import Event
from naisei.lang import Language, language, say
from naisei.relationship import schemas
from naisei.relationship.messages import dated
from naisei.relationship.recorder import RECORD
from naisei.relationship.schemas import CitedEntry, Conversation, Moment, Reflection, Session
from naisei.relationship.vector import DIMENSIONS, NAMES_JA, degree, signed
from naisei.runs.lines import Line, Mark
from naisei.runs.task import Digest


def digest(result: Any) -> Digest:
    """A conversation for lists: who talked, and how much was read."""
    talk = Conversation.model_validate(result)
    lines = sum(len(session.lines) for session in talk.sessions)
    read = sum(len(session.moments) for session in talk.sessions)
    did = say(
        f"{len(talk.sessions)} 回、{lines} 発話、読み取り {read} 回",
        f"{len(talk.sessions)} sessions, {lines} lines, {read} readings",
    )
    return Digest(did=did, title=say("と", " and ").join(talk.names.values()))


def talk_lines(talk: Conversation) -> Iterator[Line]:
    """All sessions; under a line, what was read after it."""
    for session in talk.sessions:
        yield _head(session, talk.language)
        opening = [m for m in session.moments if m.at == "session_start"]
        yield from (line for moment in opening for line in _moment(moment, talk.names))
        after = {m.turn: m for m in session.moments if m.at == "after_turn"}
        for said in session.lines:
            read = _moment(after[said.turn], talk.names) if said.turn in after else ()
            yield replace(_utterance_line(said, talk.names), under=read)
        yield from _summary(session.summary, session.summary_failure)


def event_lines(event: Event, names: Mapping[Any, str], spoken: Language) -> Sequence[Line]:
    """What an event adds. names: of both. spoken: the language of the conversation."""
    request: Any = event.request
    if event.kind == "say":
        told = {**request["meta"], "speaker": request["speaker"], "text": request["text"]}
        return (_utterance_line(schemas.Line.model_validate(told), names),)
    if event.kind != "remember" or request["memory"] != RECORD:
        return ()
    item = request["item"]
    if "session" in item:
        return (_head(Session.model_validate(item["session"]), spoken),)
    if "moment" in item:
        return _moment(Moment.model_validate(item["moment"]), names)
    return _summary(item.get("summary", ""), item.get("summary_failure", ""))


def _head(session: Session, spoken: Language) -> Line:
    number = session.number
    told = say(f"第{number}回", f"Session {number}")
    return Line(f"{told}  {dated(session.start, spoken)}", tone="head")


def _utterance_line(said: schemas.Line, names: Mapping[Any, str]) -> Line:
    told = Mark(say("関係値", "told"), hint=say("関係値を伝えられて話した", "told the reading"))
    marks = (told,) if said.injected else ()
    return Line(
        said.text,
        names[said.speaker],
        f"{said.turn:>3}",
        marks=marks,
        mine=said.speaker == "b",
    )


def _summary(text: str, failure: str) -> tuple[Line, ...]:
    if text:
        return (Line(say("要約: ", "Summary: ") + text, tone="dim"),)
    return (Line(say("要約の失敗: ", "No summary: ") + failure, tone="bad"),) if failure else ()


def _moment(moment: Moment, names: Mapping[Any, str]) -> tuple[Line, ...]:
    return tuple(_reading(made, names) for made in moment.reflections)


def _reading(made: Reflection, names: Mapping[Any, str]) -> Line:
    """`田中 → 高橋: 力関係 -2、親密度 +1、タスク指向 -2`, or why there is none."""
    ends = ("a", "b") if made.direction == "a_to_b" else ("b", "a")
    way = " → ".join(names[end] for end in ends)
    vector = made.reading.vector
    more = tuple(_reading_lines(made))
    if vector is None:
        failed = say("読み取れませんでした: ", "no reading: ") + made.reading.failure
        return Line(f"{way}: {failed}", tone="bad", more=more)
    values = zip(DIMENSIONS, vector.values, strict=True)
    shown = say("、", ", ").join(f"{_named(name)} {signed(value)}" for name, value in values)
    mended = "".join(
        f"  [{repair.dimension}: {repair.given} → {repair.used}, {repair.why}]"
        for repair in made.reading.repairs
    )
    return Line(f"{way}: {shown}{mended}", tone="dim", more=more)


def _reading_lines(made: Reflection) -> Iterator[Line]:
    """What a reading rests on: its reasons, the questions, and the evidence."""
    vector = made.reading.vector
    for why in made.reading.reasons:
        value = getattr(vector, why.dimension)
        head = f"{_named(why.dimension)} {signed(value)} {degree(why.dimension, value, language())}"
        cited = [e for e in made.evidence if e.id in why.evidence]
        yield Line(why.text, head, marks=tuple(Mark(str(e.number), hint=e.text) for e in cited))
    if made.questions:
        yield Line(say("問い", "Questions"), tone="head")
        yield from (Line(question) for question in made.questions.listed)
    yield Line(say("根拠", "Evidence"), tone="head")
    for ground in made.evidence:
        yield _evidence_line(ground, used=ground.id in made.cited)


def _evidence_line(ground: CitedEntry, *, used: bool) -> Line:
    score = Mark(f"{ground.score:.2f}", "dim")
    return Line(f"[{ground.number}] {ground.text}", tone="good" if used else "", marks=(score,))


def _named(dimension: str) -> str:
    return say(NAMES_JA[dimension], dimension)
