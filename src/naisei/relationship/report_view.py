"""The data of a report. Readings link to evidence, evidence to its line, lines to readings that
cite them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from naisei.relationship.pairs import Pair
from naisei.relationship.schemas import (
    WAYS,
    CitedEntry,
    Conversation,
    Direction,
    Line,
    Moment,
    Reflection,
    Session,
)
from naisei.relationship.vector import DIMENSIONS


@dataclass(frozen=True, slots=True)
class Cited:
    """A link from an entry to the reading that cites it.

    at: session and utterance. way, ends: the direction and its names. dimensions: those whose
    reasons cite it; empty if the reading has no reasons.
    """

    anchor: str
    at: str
    way: Direction
    ends: str
    dimensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """One numbered entry. id: its anchor. anchor: the anchor of its source; empty if the source is
    not on the page. dimensions: those whose reasons cite it."""

    ground: CitedEntry
    id: str
    anchor: str
    dimensions: tuple[str, ...] = ()


@dataclass(slots=True)
class ReadingView:
    """One direction after a turn. made: `None` if carried from an earlier turn; `anchor` links to
    that turn. again: the same reading in the other repetitions."""

    anchor: str
    src: str
    dst: str
    values: dict[str, int] | None
    failure: str
    repairs: list[str] = field(default_factory=list)
    made: Reflection | None = None
    evidence: list[EvidenceView] = field(default_factory=list)
    again: list[dict[str, int] | None] = field(default_factory=list)

    def reason(self, dimension: str) -> tuple[str, list[EvidenceView]] | None:
        """The reason of a dimension and its evidence."""
        for one in self.made.reading.reasons if self.made is not None else ():
            if one.dimension == dimension:
                return one.text, [e for e in self.evidence if e.ground.id in one.evidence]
        return None

    def spread(self, dimension: str) -> tuple[int, int] | None:
        """Minimum and maximum over the repetitions; `None` if there is only one."""
        read = [one[dimension] for one in (self.values, *self.again) if one is not None]
        return (min(read), max(read)) if len(read) > 1 else None


@dataclass(slots=True)
class LineView:
    """An utterance, the readings after it, and those that cite it."""

    line: Line
    anchor: str
    name: str
    cited: list[Cited]
    readings: list[ReadingView] = field(default_factory=list)


@dataclass(slots=True)
class SessionView:
    """A session: readings at its start, its lines, its summary."""

    session: Session
    anchor: str
    opening: list[ReadingView]
    lines: list[LineView]
    cited: list[Cited]


@dataclass(slots=True)
class TalkView:
    """A whole conversation. facts: (agent's name, text, anchor, cited)."""

    episode: str
    pair: Pair
    talk: Conversation
    sessions: list[SessionView]
    facts: list[tuple[str, str, str, list[Cited]]]


def view(
    number: int, episode: str, pair: Pair, talk: Conversation, others: Sequence[Conversation] = ()
) -> TalkView:
    """Build the view of one conversation. number: for anchors. others: its other repetitions."""
    links = _Links(number, talk)
    sessions = []
    for session in talk.sessions:
        opening = [m for m in session.moments if m.at == "session_start"]
        after: dict[int, list[Moment]] = {}
        for moment in session.moments:
            if moment.at == "after_turn":
                after.setdefault(moment.turn, []).append(moment)
        lines = [
            LineView(
                line,
                links.of(line.id),
                talk.names[line.speaker],
                links.cited(line.id),
                [r for m in after.get(line.turn, []) for r in links.readings(m, others)],
            )
            for line in session.lines
        ]
        sessions.append(
            SessionView(
                session,
                links.of(f"S{session.number}"),
                [r for m in opening for r in links.readings(m, others)],
                lines,
                links.cited(f"S{session.number}"),
            )
        )
    facts = [
        (persona.name, fact, links.of(id), links.cited(id))
        for agent, persona in (("a", pair.a), ("b", pair.b))
        for n, fact in enumerate(persona.facts, 1)
        for id in [f"fact:{agent}:{n}"]
    ]
    return TalkView(episode, pair, talk, sessions, facts)


class _Links:
    """Anchors and citations."""

    def __init__(self, number: int, talk: Conversation) -> None:
        self._number, self._talk = number, talk
        self._cited: dict[str, list[Cited]] = {}
        self._last: dict[Direction, str] = {}
        for session in talk.sessions:
            for moment in session.moments:
                for made in moment.reflections:
                    at = f"{session.number}-{moment.turn + 1}"
                    named = _named(made)
                    for ground in made.evidence:
                        # Evidence that the reasons of a reading do not cite was only in the prompt.
                        if made.reading.reasons and ground.id not in named:
                            continue
                        link = Cited(
                            f"{self._reading(moment, made.direction)}-e{ground.number}",
                            at,
                            made.direction,
                            " → ".join(self._ends(made.direction)),
                            named.get(ground.id, ()),
                        )
                        self._cited.setdefault(ground.id, []).append(link)

    def of(self, id: str) -> str:
        """The anchor of an entry by its stream id (line, fact or summary)."""
        return f"l{self._number}-" + re.sub(r"[^A-Za-z0-9]+", "-", id)

    def cited(self, id: str) -> list[Cited]:
        return self._cited.get(id, [])

    def readings(self, moment: Moment, others: Sequence[Conversation]) -> list[ReadingView]:
        """Both directions at a moment, new or carried from an earlier turn."""
        made = {one.direction: one for one in moment.reflections}
        out = []
        for way in WAYS:
            if (stance := moment.stances.get(way)) is None:
                continue
            anchor = self._reading(moment, way)
            if way in made:
                self._last[way] = anchor
            src, dst = self._ends(way)
            vector = stance.reading.vector
            out.append(
                ReadingView(
                    anchor if way in made else self._last.get(way, ""),
                    src,
                    dst,
                    None if vector is None else dict(zip(DIMENSIONS, vector.values, strict=True)),
                    stance.reading.failure,
                    [
                        f"{r.dimension}: {r.raw} → {r.used} ({r.why})"
                        for r in stance.reading.repairs
                    ],
                    made.get(way),
                    [
                        EvidenceView(
                            g,
                            f"{anchor}-e{g.number}",
                            self._source(g),
                            _named(made[way]).get(g.id, ()),
                        )
                        for g in made[way].evidence
                    ]
                    if way in made
                    else [],
                    [_values(other, moment, way) for other in others] if way in made else [],
                )
            )
        return out

    def _source(self, ground: CitedEntry) -> str:
        known = re.fullmatch(r"D\d+:\d+|S\d+|fact:[ab]:\d+", ground.id)
        return self.of(ground.id) if known else ""

    def _reading(self, moment: Moment, way: Direction) -> str:
        start = "s" if moment.at == "session_start" else ""
        return f"r{self._number}-{moment.session}-{moment.turn + 1}{start}-{way}"

    def _ends(self, way: Direction) -> tuple[str, str]:
        names = self._talk.names
        return (names["a"], names["b"]) if way == "a_to_b" else (names["b"], names["a"])


def _named(made: Reflection) -> dict[str, tuple[str, ...]]:
    """Entry id → the dimensions whose reasons cite it."""
    out: dict[str, tuple[str, ...]] = {}
    for reason in made.reading.reasons:
        for id in reason.evidence:
            out[id] = (*out.get(id, ()), reason.dimension)
    return out


def _values(other: Conversation, moment: Moment, way: Direction) -> dict[str, int] | None:
    """The same reading in another repetition."""
    for session in other.sessions:
        for one in session.moments:
            if (one.session, one.turn, one.at) == (moment.session, moment.turn, moment.at):
                stance = one.stances.get(way)
                vector = stance.reading.vector if stance else None
                return None if vector is None else dict(zip(DIMENSIONS, vector.values, strict=True))
    return None
