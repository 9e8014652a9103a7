"""Turn an episode into an instance (a row) of a data set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from naisei.core import InputError, Where
from naisei.data_sets import data_set, faults
from naisei.files import write_atomically
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.show import find_episode
from naisei.system.registry import task_of
from naisei.text_files import read_text


def rows_of(run: RunDirectory, episode: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the data set (`NAME/CONFIG`) and the rows made from an episode.

    Raises:
        InputError: the episode does not exist or is unscored, or its system has no data set for
        episodes.
    """
    name = find_episode(run, episode)
    task = task_of(run.frozen, run.path)
    instance, _, trial = name.rpartition("#")
    result = run.log.result(name)
    made = None if result is None else task.instances(Where(instance, int(trial)), result)
    if not made:
        why = (
            say("まだ採点されていません", "is not scored")
            if result is None
            else say(
                f"{run.frozen.system} のエピソードから作れるデータはありません",
                f"episodes of {run.frozen.system} make no instance of a data set",
            )
        )
        raise InputError(why, place=f"{run.path} {name}")
    return made


def add_rows(form: str, rows: list[dict[str, Any]], changed: Mapping[str, str], to: Path) -> int:
    """Append rows to a JSON Lines file. Returns the new row count. changed: field → value (text or
    JSON) to set in each row, such as the correct answer.

    Raises:
        InputError: a row does not match the schema, a row with the same id already exists, or the
            file cannot be written. Nothing is added then.
    """
    name, _, config = form.partition("/")
    schema = next(c for c in data_set(name).configs if c.name == config).form()
    given = {key: _value(text, schema["properties"].get(key, {})) for key, text in changed.items()}
    rows = [{**row, **given} for row in rows]
    found = [fault for row in rows for fault in faults(row, schema)]
    before = read_text(to).splitlines() if to.exists() else []
    there = {json.loads(line).get("id") for line in before if line.strip()}
    found += [
        say(f"id {row['id']} はすでにあります", f"the id {row['id']} is there already")
        for row in rows
        if row["id"] in there
    ]
    if found:
        raise InputError(
            say(
                f"{form} の形に合いません: {'; '.join(found)}",
                f"does not fit the form of {form}: {'; '.join(found)}",
            ),
            place=str(to),
            remedy=say("--set 項目=値 で直してください", "correct it by --set FIELD=VALUE"),
        )
    lines = [*before, *(json.dumps(row, ensure_ascii=False) for row in rows)]
    write_atomically(to, "".join(line + "\n" for line in lines))
    return len(lines)


def _value(text: str, form: Mapping[str, Any]) -> Any:
    if form.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text  # schema validation reports the error
