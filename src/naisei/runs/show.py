"""A run, or one episode of it, in plain words or as JSON, from the log alone."""

from __future__ import annotations

import json
from typing import Any

from pydantic import JsonValue

from naisei.core import Event, InputError
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.episodes import Wanted, episode_page
from naisei.runs.export import event_json
from naisei.runs.report import markdown_report
from naisei.runs.result import result_json
from naisei.runs.summaries import Kept, kept
from naisei.runs.task import Summary

__all__ = [
    "counts",
    "episode_json",
    "episode_text",
    "find_episode",
    "run_json",
    "run_text",
    "summary_or_none",
    "without_vectors",
]


def summary_or_none(directory: RunDirectory) -> Kept:
    """The summary, or an empty one that says it is missing."""
    try:
        return kept(directory)
    except InputError as error:
        return Kept(Summary(()), 0, stopped=f"{error.message}; {error.remedy}")


def counts(directory: RunDirectory) -> tuple[int, int, int]:
    """Scored, unscored and pending episodes."""
    scored, failed, _ = directory.log.counts()
    total = directory.log.get("episodes")
    return scored, failed, (total if isinstance(total, int) else 0) - scored - failed


def run_json(directory: RunDirectory) -> dict[str, JsonValue]:
    """The result object of the run, and what is frozen."""
    run = summary_or_none(directory)
    ledger = directory.log.ledger()
    result = result_json(run.summary, counts(directory), ledger, directory.path, run.stopped)
    frozen: dict[str, Any] = directory.frozen.model_dump(mode="json")
    return {**result, "frozen": frozen}


def run_text(directory: RunDirectory) -> str:
    """The report as Markdown; without a summary, what there is."""
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
    """The episode meant by `instance#trial`, or by an instance that has only one.

    Raises:
        InputError: there is none, or there are several.
    """
    if episode_page(directory.log, Wanted(name=wanted), limit=1).lines:
        return wanted
    known = directory.log.known_episodes()
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


def episode_json(directory: RunDirectory, episode: str) -> dict[str, JsonValue]:
    """Outcome and every effect of an episode."""
    found = episode_page(directory.log, Wanted(name=episode), limit=1).lines
    return {
        "episode": episode,
        "result": found[0].result if found else None,
        "failure": (found[0].failure or None) if found else None,
        "events": [event_json(event) for event in directory.log.read(episode)],
    }


def episode_text(directory: RunDirectory, episode: str) -> str:
    """Every effect of an episode with its result, then the outcome."""
    parts = [f"# {episode}", *(_event(event) for event in directory.log.read(episode))]
    (row,) = episode_page(directory.log, Wanted(name=episode), limit=1).lines or (None,)
    if row is None or row.state == "going":
        parts.append("(not at its end)")
    elif row.state == "scored":
        parts.append(f"= {json.dumps(row.result, ensure_ascii=False, indent=2)}")
    else:
        parts.append(f"(unscored: {row.failure})")
    return "\n\n".join(parts)


def _event(event: Event) -> str:
    request: Any = event.request
    if event.kind == "chat":
        head = f"chat {request['role']}"
        asked = "\n".join(f"[{m['role']}] {m['content']}" for m in request["messages"])
    else:
        head, asked = event.kind, _short(request)
    if event.usage is not None and event.usage.tokens:
        head += f" · {event.usage.model} · {event.usage.tokens} tokens · {event.seconds:.2f} s"
    answer = ": ".join(event.failure) if event.failure else _short(event.result)
    return f"## {event.where.step} {head}\n{asked}\n→ {answer}"


def _short(value: JsonValue) -> str:
    """Numbers by the thousand are no reading."""
    value = without_vectors(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2000 else f"{text[:2000]}… ({len(text)} characters)"


def without_vectors(value: JsonValue) -> JsonValue:
    """The value with what `Embed.encode` makes of vectors told in words."""
    if isinstance(value, list):
        return [without_vectors(v) for v in value]
    if not isinstance(value, dict):
        return value
    shape = value.get("shape")
    if set(value) == {"shape", "f4"} and isinstance(shape, list) and len(shape) == 2:
        return f"{shape[0]} × {shape[1]}-dim vector"
    return {key: without_vectors(v) for key, v in value.items()}
