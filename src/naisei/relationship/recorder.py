"""The record of a conversation: a fold over utterances and reflections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any, cast

from pydantic import JsonValue

from naisei.core import Event, Handler, Remember, Say, Where, World
from naisei.memory.stream import Recall, Recent, Stream
from naisei.relationship.config import Rules
from naisei.relationship.pairs import Pair
from naisei.relationship.schemas import (
    AgentId,
    Conversation,
    Direction,
    Line,
    Moment,
    Reflection,
    Session,
    Stance,
)
from naisei.relationship.vector import RelationVector

#: The record's memory name.
RECORD = "record"


def stream_of(agent: AgentId) -> str:
    """The memory name of an agent's stream."""
    return f"agent_{agent}"


def streams_of(rules: Rules) -> dict[str, Stream]:
    """Create an empty stream per agent, by name."""
    agents: tuple[AgentId, AgentId] = ("a", "b")
    return {stream_of(agent): Stream(weights=rules.weights) for agent in agents}


def other(agent: AgentId) -> AgentId:
    """The partner of `agent`."""
    return "b" if agent == "a" else "a"


def base_of(pair: Pair, record: Recorder, way: Direction) -> RelationVector:
    """The base of a direction: from the pair, or else the mean of the readings so far for Power and
    Intimacy and 0 for TaskOriented."""
    if (own := (pair.base or {}).get(way)) is not None:
        return own
    made = [
        one.reading.vector
        for session in record.conversation.sessions
        for moment in session.moments
        for one in moment.reflections
        if one.direction == way and one.reading.vector is not None
    ]
    if not made:
        return RelationVector(Power=0, Intimacy=0, TaskOriented=0)
    return RelationVector(
        Power=round(mean(one.Power for one in made)),
        Intimacy=round(mean(one.Intimacy for one in made)),
        TaskOriented=0,
    )


def toward(agent: AgentId) -> Direction:
    """The direction from this agent to the other."""
    return "a_to_b" if agent == "a" else "b_to_a"


class Recorder(Handler):
    """Performs `Say` (an utterance) and `Remember` to `RECORD` (a session's start, a moment of
    reflection, or a summary), also on replay."""

    def __init__(self, pair: Pair) -> None:
        self.conversation = Conversation(pair=pair.id, language=pair.language, names=pair.names)

    def perform(self, effect: Say | Remember, where: Where) -> None:
        if isinstance(effect, Say):
            self.say(effect.request())
        else:
            self.note(effect.item)

    def restore(self, effect: Say | Remember, result: None, where: Where) -> None:
        self.perform(effect, where)

    def say(self, request: JsonValue) -> None:
        """Add an utterance from the request of a `Say`."""
        fields = cast(dict[str, Any], request)
        line = Line.model_validate(
            {**fields["meta"], "speaker": fields["speaker"], "text": fields["text"]}
        )
        self._last(lines=(*self.session.lines, line))

    def note(self, item: JsonValue) -> None:
        """Add a remembered item: `{"session": …}`, `{"moment": …}`, or fields of the session."""
        fields = cast(dict[str, Any], item)
        if "session" in fields:
            sessions = (*self.conversation.sessions, Session.model_validate(fields["session"]))
            self.conversation = self.conversation.model_copy(update={"sessions": sessions})
        elif "moment" in fields:
            moment = Moment.model_validate(fields["moment"])
            self._last(moments=(*self.session.moments, moment))
        else:
            self._last(**fields)

    @property
    def session(self) -> Session:
        """The current session."""
        return self.conversation.sessions[-1]

    @property
    def stances(self) -> dict[Direction, Stance]:
        """The latest reading of each direction, across sessions."""
        for session in reversed(self.conversation.sessions):
            if session.moments:
                return session.moments[-1].stances
        return {}

    @property
    def result(self) -> Conversation:
        """The conversation without wall-clock times, so that results are reproducible."""
        sessions = tuple(
            session.model_copy(update={"moments": tuple(map(_timeless, session.moments))})
            for session in self.conversation.sessions
        )
        return self.conversation.model_copy(update={"sessions": sessions})

    def _last(self, **changes: Any) -> None:
        session = self.session.model_copy(update=changes)
        sessions = (*self.conversation.sessions[:-1], session)
        self.conversation = self.conversation.model_copy(update={"sessions": sessions})


def _timeless(moment: Moment) -> Moment:
    made = tuple(one.model_copy(update={"wall": None}) for one in moment.reflections)
    return moment.model_copy(update={"reflections": made})


def recorded(base: World, record: Recorder, streams: Handler) -> World:
    """Extend `base` to write utterances to `record` and memories to `streams`.

    streams: a handler of `Remember`, `Recall` and `Recent`, such as a `StreamHandler`.
    """
    memories = _Memories(record, streams)
    return base.having({Say: record, Remember: memories, Recall: streams, Recent: streams})


class _Memories(Handler):
    """Routes `Remember` to the record or to the streams."""

    def __init__(self, record: Recorder, streams: Handler) -> None:
        self._record, self._streams = record, streams

    def perform(self, effect: Remember, where: Where) -> Any:
        return self._for(effect).perform(effect, where)

    def restore(self, effect: Remember, result: Any, where: Where) -> None:
        self._for(effect).restore(effect, result, where)

    def _for(self, effect: Remember) -> Handler:
        return self._record if effect.memory == RECORD else self._streams


def moment_of(
    record: Recorder,
    rules: Rules,
    speaker: AgentId,
    turn: int,
    reflections: Sequence[Reflection],
    *,
    at_start: bool,
) -> Moment:
    """The state of both directions after `reflections`. speaker: the next speaker."""
    stances = {
        way: stance.model_copy(update={"carried": True}) for way, stance in record.stances.items()
    }
    number = record.session.number
    for one in reflections:
        stances[one.direction] = Stance(reading=one.reading, session=number, turn=turn)
    return Moment(
        session=number,
        turn=turn,
        at="session_start" if at_start else "after_turn",
        next_speaker=speaker,
        injected=rules.inject and stances[toward(speaker)].reading.vector is not None,
        stances=stances,
        reflections=tuple(reflections),
    )


def replayed(pair: Pair, events: Iterable[Event]) -> Recorder:
    """Rebuild the record from an episode's events."""
    record = Recorder(pair)
    for event in events:
        request = cast(dict[str, Any], event.request)
        if event.failure is not None:
            continue
        if event.kind == "say":
            record.say(request)
        elif event.kind == "remember" and request["memory"] == RECORD:
            record.note(request["item"])
    return record
