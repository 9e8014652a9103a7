"""Metrics of conversations: readings, failures and cost per turn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from naisei.core import InputError
from naisei.lang import language, say
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.schemas import WAYS, Conversation, Line, Reflection
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Table

if TYPE_CHECKING:
    from naisei.system.studies import Study

_SHARES = ("reading_failures", "repaired_readings")


@dataclass(frozen=True, slots=True)
class _Talk:
    episode: str
    talk: Conversation

    @property
    def lines(self) -> list[Line]:
        return [line for session in self.talk.sessions for line in session.lines]

    @property
    def steady(self) -> list[float]:
        """Model calls per utterance after the first of a session."""
        out = []
        for session in self.talk.sessions:
            after = {m.turn: len(m.reflections) for m in session.moments if m.at == "after_turn"}
            calls = [1.0 + (1 + after[n.turn] if n.turn in after else 0) for n in session.lines]
            out += calls[1:]
        return out

    @property
    def reflections(self) -> list[Reflection]:
        return [
            made
            for session in self.talk.sessions
            for moment in session.moments
            for made in moment.reflections
        ]


def summarise(
    config: RelationshipConfig, rows: Sequence[EpisodeRow], notes: Sequence[str] = ()
) -> Summary:
    """All metrics over the scored conversations.

    reading_failures: share of reflections without a usable vector; other metrics exclude them.
    repaired_readings: share of usable readings with a repaired number. Power.a_to_b and so on:
    means of the usable readings. injected_rate: share of utterances with a reading in the prompt.
    line_length: characters per utterance. calls_per_turn, tokens_per_turn: all roles, per
    utterance. calls_per_steady_turn: calls per utterance and its reflection, without the first of
    each session, which reads both directions.

    Clusters: see `blocks`. Units of paired comparisons are utterances.
    """
    scored = [row for row in rows if row.scored]
    talks = [_Talk(r.where.episode, Conversation.model_validate(r.result)) for r in scored]
    lines = [(t.episode, line) for t in talks for line in t.lines]
    clusters, note = blocks([(episode, line.session) for episode, line in lines])
    injected = [float(line.injected) for _, line in lines]
    lengths = [float(len(line.text)) for _, line in lines]
    metrics = [
        *_readings(config, talks),
        mean_metric("injected_rate", injected, clusters=clusters, share=True),
        mean_metric("line_length", lengths, clusters=clusters, paired=True),
        *_costs(scored, len(lines)),
        mean_metric(
            "calls_per_steady_turn",
            [calls for t in talks for calls in t.steady],
            clusters=[t.episode for t in talks for _ in t.steady],
            reason="no utterance after the first of a session",
        ),
    ]
    units = [f"{episode}:{line.id}" for episode, line in lines]
    extra = {"units": units, "clusters": clusters}
    return Summary(tuple(metrics), (_reading_table(talks),), (*notes, *note), extra)


#: Minimum number of sessions for an interval within one dialogue.
_BLOCKS = 5


def blocks(places: Sequence[tuple[str, int]]) -> tuple[list[str], list[str]]:
    """The cluster of each (dialogue, session), and notes. Readings of one dialogue are dependent,
    so each dialogue is a cluster. For a single dialogue, each session is one if there are at least
    five; else there is one cluster and no interval.
    """
    talks = [dialogue for dialogue, _ in places]
    if len(set(talks)) > 1 or not places:
        return talks, []
    sessions = [f"{dialogue}:{session}" for dialogue, session in places]
    if len(set(sessions)) >= _BLOCKS:
        return sessions, [
            say(
                "会話が一つなので、区間はその回をまとまりとしたもの",
                "one dialogue: the clusters of the intervals are its sessions",
            )
        ]
    return talks, [
        say(
            "区間なし: 一つの会話の中の値は互いに独立ではない。会話が二つ以上あれば出る",
            "no intervals: readings of one dialogue are not independent; use two or more dialogues",
        )
    ]


def _readings(config: RelationshipConfig, talks: Sequence[_Talk]) -> list[Metric]:
    every = [
        ((t.episode, session.number), made)
        for t in talks
        for session in t.talk.sessions
        for moment in session.moments
        for made in moment.reflections
    ]
    clusters = blocks([place for place, _ in every])[0]
    labels = dict(zip((place for place, _ in every), clusters, strict=True))
    usable = [(e, made) for e, made in every if made.reading.vector is not None]
    off = config.rules.reflection == "off"
    why = "no reflection: --relationship-reflection" if off else "no reading was usable"

    def mean(name: str, given: list[tuple[tuple[str, int], float]]) -> Metric:
        return mean_metric(
            name,
            [value for _, value in given],
            clusters=[labels[place] for place, _ in given],
            share=name in _SHARES,
            least=-math.inf,
            reason=why,
        )

    failed = [(e, float(made.reading.vector is None)) for e, made in every]
    repaired = [(e, float(bool(made.reading.repairs))) for e, made in usable]
    out = [mean("reading_failures", failed), mean("repaired_readings", repaired)]
    for way in WAYS:
        mine = [(e, made.reading.vector) for e, made in usable if made.direction == way]
        out += [
            mean(f"{name}.{way}", [(e, float(v.values[at])) for e, v in mine if v is not None])
            for at, name in enumerate(DIMENSIONS)
        ]
    return out


def _costs(rows: Sequence[EpisodeRow], turns: int) -> list[Metric]:
    usages = [usage for row in rows for usage in row.usage]
    sums = {
        "calls_per_turn": sum(usage.calls for usage in usages),
        "tokens_per_turn": sum(usage.tokens for usage in usages),
    }
    if not turns:
        return [Metric(name, float("nan"), reason="no utterance") for name in sums]
    return [Metric(name, total / turns, n=turns) for name, total in sums.items()]


def _reading_table(talks: Sequence[_Talk]) -> Table:
    rows: list[tuple[str | float | int, ...]] = []
    for t in talks:
        for way in WAYS:
            mine = [made.reading for made in t.reflections if made.direction == way]
            vectors = [r.vector.values for r in mine if r.vector is not None]
            if not mine:
                continue
            ends = (way[0], way[-1])
            name = " → ".join(t.talk.names[end] for end in ends)  # type: ignore[index]
            means = (
                sum(v[at] for v in vectors) / len(vectors) if vectors else float("nan")
                for at in range(len(DIMENSIONS))
            )
            failed = len(mine) - len(vectors)
            repaired = sum(bool(r.repairs) for r in mine)
            rows.append((t.episode, name, len(mine), failed, repaired, *means))
    columns = (
        ("conversation", "direction", "readings", "failed", "repaired")
        if language() == "en"
        else ("会話", "向き", "読み取り", "失敗", "補正")
    )
    return Table(
        say("向きごとの関係値", "Readings by direction"),
        (*columns, *DIMENSIONS),
        tuple(rows),
        note=say(
            "使えた関係値の平均 (-3〜3)。失敗は測定エラーで、平均には入りません。",
            "Means of the usable readings, -3 to 3. Failed readings are instrument failures "
            "and are excluded.",
        ),
    )


def effect_tables(study: Study) -> list[Table]:
    """The effect of injection on speech, compared with reflection without injection."""
    from naisei.relationship.effect import effect_of

    if not {"inject", "no-inject"} <= set(study.results):
        return []
    paths = {label: result.run_dir for label, result in study.results.items()}
    try:
        found = effect_of(paths["inject"], paths["no-inject"], seed=study.seed)
    except InputError as error:
        head = say("言葉づかいへの効果", "The effect on speech")
        return [Table(head, (say("測れません", "not measured"),), ((str(error),),))]
    speech = found.tables()
    note = "\n".join(filter(None, [speech[-1].note, *found.notes]))
    return [*speech[:-1], replace(speech[-1], note=note)]
