"""Ratings by a model as a run: logged, resumable, within budgets; one episode per repetition."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, Gather, Remember, Say, Where, World, fingerprint
from naisei.memory.stream import remember
from naisei.relationship.config import RatingConfig
from naisei.relationship.lines import talk_lines
from naisei.relationship.metrics import blocks
from naisei.relationship.rating import (
    Rating,
    from_conversations,
    median_reading,
    next_speaker,
    stability,
)
from naisei.relationship.rating_output import turns_table, write_agent_file
from naisei.relationship.recorder import RECORD, Recorder, stream_of
from naisei.relationship.reflect import next_line, reflect, utterance_entry
from naisei.relationship.schemas import (
    AGENTS,
    WAYS,
    AgentId,
    Conversation,
    Moment,
    Reflection,
    Session,
    Stance,
)
from naisei.relationship.task import remembering
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.result import RunResult
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Task


def rating_flow(config: RatingConfig, record: Recorder) -> Flow[Conversation]:
    """After each line, reflect in both directions and take the median of the votes. A speaker
    without a line so far gets no vector. Readings are not stored in memory, so each depends only on
    the dialogue.
    """
    pair, rules, dialogue = config.pair, config.rules, config.dialogue
    who = dict(zip(config.speakers, AGENTS, strict=True))
    spoken: set[AgentId] = set()
    for at, rated in enumerate(config.lines):
        if at == 0 or config.lines[at - 1].session != rated.session:
            start = rules.clock.session(rated.session, rules.turns)
            session = Session(number=rated.session, start=start)
            yield from Remember({"session": session.model_dump(mode="json")}, RECORD)
        agent = who[rated.speaker]
        line = next_line(rules, record, agent, rated.text)
        spoken = {*spoken, agent}
        yield from Say(rated.text, agent, line.model_dump(mode="json", exclude={"speaker", "text"}))
        for listener in AGENTS:
            yield from remember(stream_of(listener), utterance_entry(pair, line))
        votes: list[list[Reflection]] = yield from Gather(
            [
                reflect(pair, [one for one in AGENTS if one in spoken], line.time, rules)
                for _ in range(config.votes)
            ]
        )
        moment = _moment(record, votes, who[next_speaker(dialogue, at)])
        yield from Remember({"moment": moment.model_dump(mode="json")}, RECORD)
    return record.conversation


def _moment(record: Recorder, votes: list[list[Reflection]], speaker: AgentId) -> Moment:
    session, turn = record.session.number, len(record.session.lines) - 1
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


class RatingTask(Task[RatingConfig]):
    """The repetitions of one rating."""

    system = "relationship"
    each = "sessions.moments"

    def __init__(self, config: RatingConfig) -> None:
        self.config = config
        self.pairs = {"dialogue": config.pair}
        self.data_hash = fingerprint([line.model_dump(mode="json") for line in config.lines])

    def episodes(self) -> list[Where]:
        return [Where("dialogue", n + 1) for n in range(self.config.repeats)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        record = Recorder(self.pairs[where.instance])
        world = remembering(base, record, self.config.rules, self.config.embedder)
        return rating_flow(self.config, record), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        """Means per direction, failed readings, and agreement between repetitions."""
        rating = rating_of(self.config, rows)
        metrics = _means(rating) if rating.repeats else []
        if self.config.repeats > 1:
            repeats = [
                [
                    {w: s.reading.vector for w, s in m.stances.items()}
                    for one in talk.sessions
                    for m in one.moments
                ]
                for talk in _talks(rows)
            ]
            metrics += stability(repeats, seed=self.config.seed)
        tables = (turns_table(rating),) if rating.repeats else ()
        places = [("dialogue", line.session) for line in self.config.lines]
        return Summary(tuple(metrics), tables, (*self.model_notes(), *blocks(places)[1]))

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return list(talk_lines(Conversation.model_validate(result)))

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        """Write the agent file that `plot` and `report` read."""
        rating = rating_of(self.config, result.outcome.rows)
        if rating.repeats:
            write_agent_file(rating, directory.path / "agent_a.json")


def rating_of(config: RatingConfig, rows: Sequence[EpisodeRow]) -> Rating:
    """Build the rating from the finished episodes."""
    model = config.models.get("reflector", "model")
    return from_conversations(config.dialogue, model, _talks(rows))


def _talks(rows: Sequence[EpisodeRow]) -> list[Conversation]:
    return [Conversation.model_validate(row.result) for row in rows if row.scored]


def _means(rating: Rating) -> list[Metric]:
    """reading_failures: share of turns × directions × repetitions without vector. Power.a_to_b, …:
    means over turns with a reading. Intervals: see `blocks`."""
    marks = [(turn.line.session, turn.marks[way]) for turn in rating.turns for way in turn.marks]
    failed = [(s, float(v is None)) for s, one in marks for v in one[DIMENSIONS[0]].repeats]

    def mean(name: str, pairs: list[tuple[int, float]], why: str) -> Metric:
        labels = blocks([("dialogue", session) for session, _ in pairs])[0]
        values = [value for _, value in pairs]
        share = name == "reading_failures"
        return mean_metric(name, values, clusters=labels, share=share, least=-math.inf, reason=why)

    out = [mean("reading_failures", failed, "nothing was rated")]
    for name in DIMENSIONS:
        for way in WAYS:
            pairs = [(t.line.session, t.marks[way][name].value) for t in rating.turns]
            read = [(s, v) for s, v in pairs if v == v]
            out.append(mean(f"{name}.{way}", read, "no usable reading"))
    return out
