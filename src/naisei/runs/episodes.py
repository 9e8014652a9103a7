"""A page of a run's episodes, straight from its log: a run may have tens of thousands."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import JsonValue

from naisei.runs.log import RunLog

__all__ = ["EpisodeLine", "EpisodePage", "Wanted", "episode_page"]

State = Literal["scored", "unscored", "going"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which episodes. name: the whole name. text: part of it. state: empty for all. instances:
    only of these, `None` for all."""

    name: str = ""
    text: str = ""
    state: Literal["", "scored", "unscored", "going"] = ""
    instances: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One episode in a list. effects: how many were logged. seconds: spent in performing them.
    usd: `None` if the price of any call is unknown."""

    episode: str
    instance: str
    trial: int
    state: State
    failure: str = ""
    result: JsonValue = None
    effects: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """lines: of this page. total: how many fit in all. next: the offset of the next page,
    `None` after the last."""

    lines: tuple[EpisodeLine, ...]
    total: int
    next: int | None


#: Every episode that anything is known of: those that ended in the order they did, then the rest.
_KNOWN = """
SELECT episode, instance, trial, result, failure, rowid AS place FROM episodes
UNION ALL
SELECT DISTINCT episode, instance, trial, NULL, NULL, 9223372036854775807 FROM events
WHERE episode NOT IN (SELECT episode FROM episodes)"""
_ENDED = "SELECT episode, instance, trial, result, failure, rowid AS place FROM episodes"
_WHERE = {
    "scored": "result IS NOT NULL",
    "unscored": "result IS NULL AND failure IS NOT NULL",
    "going": "failure IS NULL",
}
_COSTS = """
SELECT episode, sum(effects), sum(calls), sum(tokens),
  sum(CASE WHEN usd IS NULL AND tokens > 0 AND NOT cached THEN 1 ELSE 0 END),
  total(usd), total(seconds)
FROM (
  SELECT episode, 1 AS effects, calls, input_tokens + output_tokens AS tokens, usd, cached, seconds
  FROM events WHERE episode IN ({marks})
  UNION ALL
  SELECT episode, 0, calls, input_tokens + output_tokens, usd, cached, 0
  FROM lost WHERE episode IN ({marks}))
GROUP BY episode"""


def episode_page(
    log: RunLog, wanted: Wanted = Wanted(), *, offset: int = 0, limit: int = 100
) -> EpisodePage:
    """Up to `limit` episodes from `offset` on. The time it takes does not grow with the run but
    for counting."""
    conditions, values = _conditions(wanted)
    source = _KNOWN if wanted.state in ("", "going") and _under_way(log) else _ENDED
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    ((total,),) = log.select(f"SELECT count(*) FROM ({source}){where}", values)
    found = log.select(
        f"SELECT episode, instance, trial, result, failure FROM ({source}){where}"
        " ORDER BY place, episode LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    costs = _costs(log, [row[0] for row in found])
    lines = tuple(_line(row, costs.get(row[0])) for row in found)
    after = offset + len(lines)
    return EpisodePage(lines, int(total), after if lines and after < total else None)


def _conditions(wanted: Wanted) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    if wanted.name:
        conditions.append("episode = ?")
        values.append(wanted.name)
    if wanted.text:
        conditions.append("instr(lower(episode), lower(?)) > 0")
        values.append(wanted.text)
    if wanted.state:
        conditions.append(_WHERE[wanted.state])
    if wanted.instances is not None:
        conditions.append("instance IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(wanted.instances)))
    return conditions, values


def _under_way(log: RunLog) -> bool:
    scored, failed, _ = log.counts()
    if log.get("episodes") == scored + failed:
        return False
    return bool(
        log.select(
            "SELECT 1 FROM events WHERE episode NOT IN (SELECT episode FROM episodes) LIMIT 1"
        )
    )


def _costs(log: RunLog, episodes: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    if not episodes:
        return {}
    query = _COSTS.format(marks=",".join("?" * len(episodes)))
    return {row[0]: row[1:] for row in log.select(query, [*episodes, *episodes])}


def _line(row: tuple[Any, ...], cost: tuple[Any, ...] | None) -> EpisodeLine:
    episode, instance, trial, result, failure = row
    state: State = "going" if failure is None else "unscored" if result is None else "scored"
    effects, calls, tokens, unpriced, usd, seconds = cost or (0, 0, 0, 0, 0.0, 0.0)
    return EpisodeLine(
        episode=episode,
        instance=instance,
        trial=trial,
        state=state,
        failure=failure or "",
        result=None if result is None else json.loads(result),
        effects=effects,
        calls=calls or 0,
        tokens=tokens or 0,
        usd=None if unpriced else usd,
        seconds=seconds,
    )
