"""Reflection: recent memories → three questions → evidence → prompt → vector.

Source: the relationship reflection document, §2, steps 1 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from naisei.core import Chat, Flow, Gather, InstrumentFailure, Now
from naisei.memory.stream import Recall, Recent, Scored, evidence
from naisei.relationship.book import toward
from naisei.relationship.persona import Pair
from naisei.relationship.rules import Rules
from naisei.relationship.schemas import AgentId, Ground, Questions, Reflection
from naisei.relationship.vector import Reading, VectorReply
from naisei.relationship.words import prompt_text, questions_messages, vector_messages

__all__ = ["reflect", "stream_of"]

#: The best so many entries are looked at; the evidence is cut by its length.
_CANDIDATES = 40


def stream_of(agent: AgentId) -> str:
    """The name of an agent's stream."""
    return f"agent_{agent}"


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
