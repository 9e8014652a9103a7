"""Metrics of a run of talks: pass rates, cost, and failures of the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from naisei.core import Status
from naisei.director.config import TalkConfig
from naisei.director.describe import keeps
from naisei.director.schemas import ASPECTS, Draft, TalkResult, Turn
from naisei.director.verdict import CHECK_NAMES
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Table

_GOOD = (Status.PASS, Status.MODIFY)


@dataclass(frozen=True, slots=True)
class _Turn:
    talk: str
    turn: Turn


def summarise(
    config: TalkConfig,
    names: Mapping[str, str],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
) -> Summary:
    """All metrics over the turns of the scored talks.

    pass_rate: turns whose line was PASS or MODIFY. warn_rate: turns with WARN, including exhausted
    retries. silent_rate, person_rate: turns without a line, or with a person's line.
    first_pass_rate: first drafts that were not rejected. retries_per_turn: drafts after the first.
    content_kept: share of drafts after a rejected one that keep its content
    (`naisei.director.describe.keeps`). judge_failures: share of drafts sent to the judge without a
    usable judgement; only the hard rules decide on them, and the other judge columns exclude them.
    judge_mean, judge_spread: over judged drafts.

    Talks are the clusters; a single talk has no intervals.
    """
    turns = [
        _Turn(row.where.episode, turn)
        for row in rows
        if row.scored
        for turn in TalkResult.model_validate(row.result).turns
    ]
    talks = [TalkResult.model_validate(row.result) for row in rows if row.scored]
    metrics = (*_outcomes(turns), *_judging(turns, config), _steps(talks))
    tables = (_by_character(turns, names), _by_check(turns), *_aspects(turns, names))
    extra = {
        "units": [f"{t.talk}:{t.turn.number}" for t in turns],
        "clusters": [t.talk for t in turns],
    }
    return Summary(metrics, tables, tuple(notes), extra)


def _outcomes(turns: Sequence[_Turn]) -> list[Metric]:
    each = [t.turn for t in turns]
    spoken = [t.outcome in ("said", "best") for t in each]
    good = [s and t.status in _GOOD for s, t in zip(spoken, each, strict=True)]
    warned = [s and t.status is Status.WARN for s, t in zip(spoken, each, strict=True)]
    values: dict[str, list[float]] = {
        "pass_rate": [float(v) for v in good],
        "warn_rate": [float(v) for v in warned],
        "silent_rate": [float(t.outcome == "refused") for t in each],
        "person_rate": [float(t.outcome == "person") for t in each],
        "first_pass_rate": [float(t.drafts[0].status is not Status.RETRY) for t in each],
        "retries_per_turn": [float(len(t.drafts) - 1) for t in each],
    }
    found = [
        mean_metric(
            name,
            per_turn,
            clusters=[t.talk for t in turns],
            share=name != "retries_per_turn",
            paired=True,
        )
        for name, per_turn in values.items()
    ]
    rewrites = [(t.talk, *pair) for t in turns for pair in pairwise(t.turn.drafts)]
    kept = mean_metric(
        "content_kept",
        [float(keeps(rejected, rewrite)) for _, rejected, rewrite in rewrites],
        clusters=[talk for talk, *_ in rewrites],
        share=True,
        reason="no draft was rewritten",
    )
    return [*found, kept]


def _judging(turns: Sequence[_Turn], config: TalkConfig) -> list[Metric]:
    asked = [(t.talk, d) for t in turns for d in t.turn.drafts if d.judged or d.judge_failure]
    talks = [talk for talk, _ in asked]
    heard = [d.judgement for _, d in asked]
    off = "no judge" if not config.rules.judge else "no draft was put to the judge"
    failed = [float(not d.judged) for _, d in asked]
    several = [j.spread if j is not None and len(j.scores) > 1 else None for j in heard]
    why = off if not config.rules.judge else "one judgement a draft has no spread: --repeats"
    return [
        mean_metric("judge_failures", failed, clusters=talks, share=True, reason=off),
        mean_metric(
            "judge_mean", [None if j is None else j.mean for j in heard], clusters=talks, reason=off
        ),
        mean_metric("judge_spread", several, clusters=talks, reason=why),
    ]


def _steps(talks: Sequence[TalkResult]) -> Metric:
    """Lines in the state's history per spoken line: 1 if no rejected draft changed the state (§9 of
    the specification)."""
    said = [sum(turn.text is not None for turn in talk.turns) for talk in talks]
    each = [len(t.state.history) / n if n else None for t, n in zip(talks, said, strict=True)]
    return mean_metric("state_steps", each, clusters=None, reason="nothing was said")


def _by_character(turns: Sequence[_Turn], names: Mapping[str, str]) -> Table:
    rows: list[tuple[str | float | int, ...]] = []
    for who, name in names.items():
        mine = [t.turn for t in turns if t.turn.speaker == who]
        drafts = [d for t in mine for d in t.drafts]
        said = [t for t in mine if t.outcome in ("said", "best")]
        rows.append(
            (
                name,
                len(mine),
                *(sum(t.status is status for t in said) for status in (*_GOOD, Status.WARN)),
                sum(t.outcome == "best" for t in mine),
                sum(t.outcome == "refused" for t in mine),
                sum(t.outcome == "person" for t in mine),
                len(drafts) - len(mine),
                sum(d.judged for d in drafts),
                sum(bool(d.judge_failure) for d in drafts),
            )
        )
    head = ("character", "turns", "PASS", "MODIFY", "WARN", "of them best", "silent", "person")
    return Table(
        "Turns by character",
        (*head, "retries", "judged drafts", "judge failures"),
        tuple(rows),
        note=say(
            "使える採点が得られなかった案は、ハードルールだけで扱い、judge failures にだけ数える。",
            "A draft without a usable judgement is handled by the hard rules alone and counted "
            "under judge failures only.",
        ),
    )


def _by_check(turns: Sequence[_Turn]) -> Table:
    drafts = [d for t in turns for d in t.turn.drafts]
    rows: list[tuple[str | float | int, ...]] = []
    for name in (*CHECK_NAMES, "judge"):
        put = sum(d.judged for d in drafts) if name == "judge" else len(drafts)
        warned, rejected = (
            sum(c.name == name and c.status is status for d in drafts for c in d.checks)
            for status in (Status.WARN, Status.RETRY)
        )
        rows.append((name, put, put - warned - rejected, warned, rejected))
    return Table("Drafts by check", ("check", "drafts", "PASS", "WARN", "RETRY"), tuple(rows))


def _aspects(turns: Sequence[_Turn], names: Mapping[str, str]) -> list[Table]:
    rows: list[tuple[str | float | int, ...]] = []
    for who, name in names.items():
        mine: list[Draft] = [d for t in turns if t.turn.speaker == who for d in t.turn.drafts]
        scores = [s for d in mine if d.judgement is not None for s in d.judgement.scores]
        if scores:
            means = (sum(getattr(s, a) for s in scores) / len(scores) for a in ASPECTS)
            rows.append((name, len(scores), *means))
    columns = ("character", "judgements", *ASPECTS)
    return [Table("The judge's scores, means of 1 to 5", columns, tuple(rows))] if rows else []
