"""Episodes of a run as JSON lines or CSV, for other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict

from pydantic import JsonValue

from naisei.core import Event
from naisei.runs.directory import RunDirectory

__all__ = ["event_json", "export_csv", "export_jsonl"]


def event_json(event: Event) -> dict[str, JsonValue]:
    """One event as JSON."""
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


def _episodes(directory: RunDirectory) -> Iterator[dict[str, JsonValue]]:
    for episode, row in directory.log.rows().items():
        yield {
            "episode": episode,
            "instance": row.where.instance,
            "trial": row.where.trial,
            "failure": row.failure or None,
            "tokens": sum(u.tokens for u in row.usage),
            "calls": sum(u.calls for u in row.usage),
            "attempts": sum(u.attempts for u in row.usage),
            "result": row.result,
        }


def export_jsonl(directory: RunDirectory, *, events: bool = False) -> Iterator[str]:
    """One line an episode that ended; with `events`, each with its effects and results."""
    for record in _episodes(directory):
        if events:
            log = directory.log.read(str(record["episode"]))
            record["events"] = [event_json(event) for event in log]
        yield json.dumps(record, ensure_ascii=False) + "\n"


def export_csv(directory: RunDirectory) -> str:
    """One row an episode that ended. The plain fields of results are columns `result.…`;
    lists stay JSON in their cell."""
    rows = [_flat(record) for record in _episodes(directory)]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _flat(value: dict[str, JsonValue], prefix: str = "") -> dict[str, str | float | int]:
    out: dict[str, str | float | int] = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            out |= _flat(inner, f"{prefix}{key}.")
        elif isinstance(inner, list):
            out[f"{prefix}{key}"] = json.dumps(inner, ensure_ascii=False)
        else:
            out[f"{prefix}{key}"] = "" if inner is None else inner
    return out
