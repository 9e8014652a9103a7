"""A conversation as lines to print: sessions, utterances, and the readings after them."""

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
from naisei.relationship.vector import DIMENSIONS, degree, dimension_name, signed
from naisei.runs.lines import Line, Mark
from naisei.runs.task import Digest


def digest(result: Any) -> Digest:
    """A summary for lists: names, and counts of sessions, lines and readings."""
    talk = Conversation.model_validate(result)
    lines = sum(len(session.lines) for session in talk.sessions)
    read = sum(len(session.moments) for session in talk.sessions)
    did = say(
        f"{len(talk.sessions)} 回、{lines} 発話、読み取り {read} 回",
        f"{len(talk.sessions)} sessions, {lines} lines, {read} readings",
    )
    return Digest(did=did, title=say("と", " and ").join(talk.names.values()))


def talk_lines(talk: Conversation) -> Iterator[Line]:
    """Yield all sessions; readings follow the line before them."""
    for session in talk.sessions:
        yield _head(session, talk.language)
        opening = [m for m in session.moments if m.at == "session_start"]
        yield from (line for moment in opening for line in _moment(moment, talk.names))
        after = {m.turn: m for m in session.moments if m.at == "after_turn"}
        for utterance in session.lines:
            readings = _moment(after[utterance.turn], talk.names) if utterance.turn in after else ()
            yield replace(_utterance_line(utterance, talk.names), under=readings)
        yield from _summary(session.summary, session.summary_failure)


def event_lines(event: Event, names: Mapping[Any, str], talk_language: Language) -> Sequence[Line]:
    """Return the lines of one event. names: agent → name."""
    request: Any = event.request
    if event.kind == "say":
        fields = {**request["meta"], "speaker": request["speaker"], "text": request["text"]}
        return (_utterance_line(schemas.Line.model_validate(fields), names),)
    if event.kind != "remember" or request["memory"] != RECORD:
        return ()
    item = request["item"]
    if "session" in item:
        return (_head(Session.model_validate(item["session"]), talk_language),)
    if "moment" in item:
        return _moment(Moment.model_validate(item["moment"]), names)
    return _summary(item.get("summary", ""), item.get("summary_failure", ""))


def _head(session: Session, talk_language: Language) -> Line:
    number = session.number
    title = say(f"第{number}回", f"Session {number}")
    return Line(f"{title}  {dated(session.start, talk_language)}", tone="head")


def _utterance_line(utterance: schemas.Line, names: Mapping[Any, str]) -> Line:
    mark = Mark(
        say("関係値", "saw the reading"),
        hint=say("関係値を入れて発話", "the prompt held the reading"),
    )
    marks = (mark,) if utterance.injected else ()
    return Line(
        utterance.text,
        names[utterance.speaker],
        f"{utterance.turn:>3}",
        marks=marks,
        mine=utterance.speaker == "b",
    )


def _summary(text: str, failure: str) -> tuple[Line, ...]:
    if text:
        return (Line(say("要約: ", "Summary: ") + text, tone="dim"),)
    return (Line(say("要約の失敗: ", "No summary: ") + failure, tone="bad"),) if failure else ()


def _moment(moment: Moment, names: Mapping[Any, str]) -> tuple[Line, ...]:
    return tuple(_reading(made, names) for made in moment.reflections)


def _reading(reflection: Reflection, names: Mapping[Any, str]) -> Line:
    """`田中 → 高橋: 力関係 -2、親密度 +1、タスク指向 -2`, or the failure."""
    ends = ("a", "b") if reflection.direction == "a_to_b" else ("b", "a")
    way = " → ".join(names[end] for end in ends)
    vector = reflection.reading.vector
    more = tuple(_reading_lines(reflection))
    if vector is None:
        failed = say("読み取れませんでした: ", "no reading: ") + reflection.reading.failure
        return Line(f"{way}: {failed}", tone="bad", more=more)
    values = zip(map(dimension_name, DIMENSIONS), vector.values, strict=True)
    numbers = say("、", ", ").join(f"{name} {signed(value)}" for name, value in values)
    repairs = "".join(
        f"  [{repair.dimension}: {repair.raw} → {repair.used}, {repair.why}]"
        for repair in reflection.reading.repairs
    )
    return Line(f"{way}: {numbers}{repairs}", tone="dim", more=more)


def _reading_lines(reflection: Reflection) -> Iterator[Line]:
    """Yield details of a reading: reasons, questions, evidence."""
    vector = reflection.reading.vector
    for reason in reflection.reading.reasons:
        name, value = reason.dimension, getattr(vector, reason.dimension)
        head = f"{dimension_name(name)} {signed(value)} {degree(name, value, language())}"
        cited = [e for e in reflection.evidence if e.id in reason.evidence]
        yield Line(reason.text, head, marks=tuple(Mark(str(e.number), hint=e.text) for e in cited))
    if reflection.questions:
        yield Line(say("問い", "Questions"), tone="head")
        yield from (Line(question) for question in reflection.questions.listed)
    yield Line(say("根拠", "Evidence"), tone="head")
    for ground in reflection.evidence:
        yield _evidence_line(ground, used=ground.id in reflection.cited)


def _evidence_line(ground: CitedEntry, *, used: bool) -> Line:
    score = Mark(f"{ground.score:.2f}", "dim")
    return Line(f"[{ground.number}] {ground.text}", tone="good" if used else "", marks=(score,))
