"""A run as read from its log: pages of episodes, and one episode as text or JSON.

This module does not need the system that made the run. A page of episodes costs the same even for
a run of tens of thousands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from naisei.core import Event, InputError
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import effect_view, prompt_text
from naisei.runs.log import RunLog
from naisei.runs.report import StoredSummary, markdown_report, stored_summary, svg_source
from naisei.runs.result import result_json
from naisei.runs.task import Summary

State = Literal["scored", "unscored", "going"]


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """A filter of episodes. name: the full name. text: part of the name. state: empty for all.
    instances: only episodes of these; `None` for all."""

    name: str = ""
    text: str = ""
    state: Literal["", "scored", "unscored", "going"] = ""
    instances: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of an episode. effects: number logged. seconds: time spent performing them. usd: `None`
    if the price of any call is unknown."""

    effects: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeLine(Cost):
    """One episode in a list, with its cost."""

    episode: str
    instance: str
    trial: int
    state: State
    failure: str = ""
    result: JsonValue = None


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """lines: episodes of this page. total: total number of matches. next: the offset of the next
    page, `None` after the last."""

    lines: tuple[EpisodeLine, ...]
    total: int
    next: int | None


#: Every known episode: ended ones in the order in which they ended, then the rest.
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
  sum(CASE WHEN usd IS NULL AND tokens > 0 AND cached = 0 THEN 1 ELSE 0 END),
  coalesce(sum(usd), 0.0), sum(seconds)
FROM (
  SELECT episode, 1 AS effects, calls, input_tokens + output_tokens AS tokens, usd, cached, seconds
  FROM events WHERE episode IN ({0})
  UNION ALL
  SELECT episode, 0, calls, input_tokens + output_tokens, usd, cached, 0
  FROM lost WHERE episode IN ({0})) AS each
GROUP BY episode"""


def episode_page(
    log: RunLog, wanted: EpisodeFilter = EpisodeFilter(), *, offset: int = 0, limit: int = 100
) -> EpisodePage:
    """Return up to `limit` episodes from `offset` on. The time is independent of the run's size,
    except for counting."""
    conditions, values = _conditions(wanted)
    source = _KNOWN if wanted.state in ("", "going") and _under_way(log, wanted.name) else _ENDED
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    ((total,),) = log.select(f"SELECT count(*) FROM ({source}) AS known{where}", values)
    found = log.select(
        f"SELECT episode, instance, trial, result, failure FROM ({source}) AS known{where}"
        " ORDER BY place, episode LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    costs = costs_of(log, [row[0] for row in found])
    lines = tuple(_line(log, row, costs[row[0]]) for row in found)
    after = offset + len(lines)
    return EpisodePage(lines, int(total), after if lines and after < total else None)


def _conditions(wanted: EpisodeFilter) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    if wanted.name:
        conditions.append("episode = ?")
        values.append(wanted.name)
    if wanted.text:
        conditions.append("lower(episode) LIKE lower(?) ESCAPE '!'")
        values.append("%" + re.sub("([!%_])", r"!\1", wanted.text) + "%")
    if wanted.state:
        conditions.append(_WHERE[wanted.state])
    if wanted.instances is not None:
        conditions.append(f"instance IN ({_marks(wanted.instances)})")
        values += sorted(wanted.instances)
    return conditions, values


def _marks(values: Collection[str]) -> str:
    return ",".join("?" * len(values)) or "NULL"


def _under_way(log: RunLog, name: str) -> bool:
    """Return whether an episode that has not ended may have events. name: the episode to check;
    empty for any."""
    if name:
        return not log.select("SELECT 1 FROM episodes WHERE episode = ?", (name,))
    scored, failed = log.outcomes()
    if log.get("episodes") == scored + failed:
        return False
    return bool(
        log.select(
            "SELECT 1 FROM events WHERE episode NOT IN (SELECT episode FROM episodes) LIMIT 1"
        )
    )


def costs_of(log: RunLog, episodes: Sequence[str]) -> dict[str, Cost]:
    """Return the costs of episodes; 0 for unknown ones."""
    found = log.select(_COSTS.format(_marks(episodes)), [*episodes] * 2)
    known = {
        episode: Cost(effects, calls or 0, tokens or 0, None if unpriced else usd, seconds or 0.0)
        for episode, effects, calls, tokens, unpriced, usd, seconds in found
    }
    return {episode: known.get(episode, Cost()) for episode in episodes}


def _line(log: RunLog, row: tuple[Any, ...], cost: Cost) -> EpisodeLine:
    episode, instance, trial, result, failure = row
    state: State = "going" if failure is None else "unscored" if result is None else "scored"
    return EpisodeLine(
        episode=episode,
        instance=instance,
        trial=trial,
        state=state,
        failure=failure or "",
        result=None if result is None else log.loaded(result, episode),
        **asdict(cost),
    )


def event_json(event: Event) -> dict[str, JsonValue]:
    """Return one event as JSON."""
    return {
        "episode": event.where.episode,
        "step": event.where.step,
        "kind": event.kind,
        "request": event.request,
        "result": event.result,
        "failure": None if event.failure is None else list(event.failure),
        "usage": None if event.usage is None else asdict(event.usage),
        "seconds": event.seconds,
    }


def summary_or_none(directory: RunDirectory) -> StoredSummary:
    """Return the summary, or an empty one that says it is missing."""
    try:
        return stored_summary(directory)
    except InputError as error:
        return StoredSummary(Summary(()), 0, stopped=f"{error.message}; {error.remedy}")


def counts(directory: RunDirectory) -> tuple[int, int, int]:
    """Return the numbers of scored, unscored and pending episodes."""
    scored, failed = directory.log.outcomes()
    total = directory.log.get("episodes")
    return scored, failed, (total if isinstance(total, int) else 0) - scored - failed


def run_json(directory: RunDirectory) -> dict[str, JsonValue]:
    """Return the result object of the run, and its frozen configuration."""
    run = summary_or_none(directory)
    ledger = directory.log.ledger()
    result = result_json(run.summary, counts(directory), ledger, directory.path, run.stopped)
    frozen: dict[str, Any] = directory.frozen.model_dump(mode="json")
    return {**result, "frozen": frozen}


def run_text(directory: RunDirectory) -> str:
    """Return the report as Markdown; without a summary, whatever is available."""
    run = summary_or_none(directory)
    config = json.dumps(directory.frozen.config, ensure_ascii=False, indent=2)
    if run.summary.metrics or run.scored:
        return f"{markdown_report(directory)}\n### Configuration\n\n{config}"
    scored, failed, pending = counts(directory)
    return (
        f"# {directory.path.name}\n\n{scored} scored, {failed} unscored, {pending} pending\n"
        f"{run.stopped}\n\n{config}"
    )


def find_episode(directory: RunDirectory, wanted: str) -> str:
    """Find the episode `instance#trial`, the only episode of an instance, or, for an empty name,
    the only episode of the run.

    Raises:
        InputError: no episode matches, or several do.
    """
    if wanted and episode_page(directory.log, EpisodeFilter(name=wanted), limit=1).lines:
        return wanted
    known = directory.log.known_episodes()
    if not wanted and len(known) == 1:
        return known[0]
    of_instance = [episode for episode in known if episode.rpartition("#")[0] == wanted]
    if len(of_instance) == 1:
        return of_instance[0]
    some = ", ".join(of_instance[:8] or known[:8])
    raise InputError(
        say(
            f"{wanted!r} にはエピソードが {len(of_instance)} 個あります"
            if of_instance
            else f"{wanted!r} というエピソードはありません",
            f"{wanted!r} has {len(of_instance)} episodes"
            if of_instance
            else f"no episode {wanted!r}",
        ),
        place=str(directory.path),
        remedy=say(
            f"例: {some}" if some else "まだ何も記録されていません",
            f"for example: {some}" if some else "nothing was recorded yet",
        ),
    )


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode. Its `str` and its notebook display show every effect as text.
    name: `instance#trial`. events: see `event_json`. figure: an SVG document, if the report
    has one."""

    name: str
    text: str
    result: JsonValue
    failure: str
    events: tuple[Event, ...]
    figure: str = ""

    @staticmethod
    def of(path: Path, wanted: str = "") -> Episode:
        """Load from a run directory. Raises `InputError` if no episode or several match."""
        with RunDirectory.look(path) as directory:
            name = find_episode(directory, wanted)
            found = episode_page(directory.log, EpisodeFilter(name=name), limit=1).lines
            return Episode(
                name=name,
                text=episode_text(directory, name),
                result=found[0].result if found else None,
                failure=found[0].failure if found else "",
                events=tuple(directory.log.read(name)),
                figure=summary_or_none(directory).figures.get(name, ""),
            )

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        figure = f'<img alt="" src="{svg_source(self.figure)}">' if self.figure else ""
        return f'{figure}<pre style="white-space: pre-wrap">{escape(self.text)}</pre>'


def episode_json(directory: RunDirectory, episode: str) -> dict[str, JsonValue]:
    """Return the outcome and every effect of an episode."""
    found = episode_page(directory.log, EpisodeFilter(name=episode), limit=1).lines
    return {
        "episode": episode,
        "result": found[0].result if found else None,
        "failure": (found[0].failure or None) if found else None,
        "events": [event_json(event) for event in directory.log.read(episode)],
    }


def episode_text(directory: RunDirectory, episode: str, step: str = "", *, words: str = "") -> str:
    """Return every effect of an episode, or that at a step, with its result; then the outcome:
    as `words` if given, else as JSON."""
    events = [e for e in directory.log.read(episode) if step in ("", e.where.step)]
    parts = [f"# {episode}", *map(_drawn, events)]
    (row,) = episode_page(directory.log, EpisodeFilter(name=episode), limit=1).lines or (None,)
    if row is None or row.state == "going":
        parts.append("(not at its end)")
    elif row.state == "scored":
        heading = say("## 言葉で", "## In words")
        told = json.dumps(row.result, ensure_ascii=False, indent=2)
        parts.append(f"{heading}\n{words}" if words else f"= {told}")
    else:
        parts.append(f"(unscored: {row.failure})")
    return "\n\n".join(parts)


def _drawn(event: Event) -> str:
    view = effect_view(event)
    head = " · ".join(filter(None, (f"{view.who} {view.head}".strip(), view.cost)))
    prompt = [f"[{role}] {text}" for role, text in prompt_text(event)]
    details = [f"[{title}] {text}" for title, text in view.details]
    answer = view.failure or view.answer
    lines = [*prompt, view.asked, *details, f"→ {answer}" if answer else ""]
    return "\n".join([f"## {event.where.step} {event.kind} · {head}", *filter(None, lines)])


def exchanges(directory: RunDirectory, episode: str, step: str = "") -> list[JsonValue]:
    """Return the model traffic of an episode, or of one step: each request as sent and the raw
    reply.

    Raises:
        InputError: no model call is recorded there.
    """
    found = directory.log.sent(episode)
    out: list[JsonValue] = [
        {"step": path, "role": role, "exchanges": sent}
        for path, role, sent in found
        if step in ("", path)
    ]
    if out:
        return out
    steps = ", ".join(path for path, *_ in found if path) or say("なし", "none")
    raise InputError(
        say(
            "モデルとのやりとりの記録がありません",
            "no exchange with a model is recorded here",
        ),
        place=f"{directory.path} {episode} {step}".strip(),
        remedy=say(f"記録のあるステップ: {steps}", f"recorded steps: {steps}"),
    )
