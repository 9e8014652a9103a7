"""Export of runs and studies: JSON lines, CSV, and a table with one row per trial.

This module does not need the system that made the run. The summary says which part of a result is
a trial: `Task.each`, the path of a list in the result, such as `trials` or `sessions.lines`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from naisei.core import InputError
from naisei.files import written_beside
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.report import STUDY, stored_summary, templates
from naisei.runs.show import event_json
from naisei.runs.task import EpisodeRow, Table
from naisei.terminal import json_text, visible
from naisei.text_files import csv_cell

if TYPE_CHECKING:
    from naisei.core import Usage

Cell = str | float | int | bool | None
Library = Literal["pandas", "polars"]
#: Marks an empty list, whose type depends on its column.
_EMPTY = object()
#: Number of rows of a frame shown in a notebook.
_SHOWN = 20


def export_jsonl(directory: RunDirectory, *, events: bool = False) -> Iterator[str]:
    """Yield one line per ended episode; with `events`, including its effects and results."""
    for episode, row in directory.log.rows().items():
        record: dict[str, JsonValue] = {
            "episode": episode,
            "instance": row.where.instance,
            "trial": row.where.trial,
            "failure": row.failure or None,
            "tokens": sum(u.tokens for u in row.usage),
            "calls": sum(u.calls for u in row.usage),
            "attempts": sum(u.attempts for u in row.usage),
            "result": row.result,
        }
        if events:
            record["events"] = [event_json(event) for event in directory.log.read(episode)]
        yield json_text(record) + "\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """A table with one row per trial. rows: column → value; missing values are absent.

    A notebook shows its first rows; `len`, iteration and `to_…` cover all rows.
    """

    rows: tuple[dict[str, Cell], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all rows, in order of appearance."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.rows)

    def to_csv(self) -> str:
        """Return CSV with a header (RFC 4180); missing values are empty cells. Control characters
        are made visible, since CSV cannot represent them."""
        out = io.StringIO()
        writer = csv.writer(out)
        columns = self.columns
        writer.writerow(map(csv_cell, columns))
        writer.writerows(
            [csv_cell(visible(v) if isinstance(v := row.get(n), str) else v) for n in columns]
            for row in self.rows
        )
        return out.getvalue()

    def to_jsonl(self) -> str:
        """Return one JSON object per line, each with every column."""
        columns = self.columns
        lines = ({name: row.get(name) for name in columns} for row in self.rows)
        return "".join(json_text(line) + "\n" for line in lines)

    def to_dataframe(self, library: Library = "pandas") -> Any:
        """Return a `pandas.DataFrame`, or a `polars.DataFrame` (extra `frames`)."""
        data = {name: self._typed(name) for name in self.columns}
        if library == "polars":
            return import_module("polars").DataFrame(data, strict=False, infer_schema_length=None)
        return import_module("pandas").DataFrame(data)

    def to_parquet(self, path: Path) -> None:
        """Write a Parquet file (extra `frames`) atomically.

        Raises:
            InputError: the file cannot be written.
        """
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        table = arrow.table({name: self._typed(name) for name in self.columns})
        with written_beside(path) as made:
            parquet.write_table(table, made)

    def _typed(self, name: str) -> list[Cell]:
        """Return a column of one type; mixed values become strings."""
        values = [row.get(name) for row in self.rows]
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {int, float} or len(kinds) < 2:
            return values
        return [None if value is None else str(value) for value in values]

    def _repr_html_(self) -> str:
        columns = self.columns
        cells = tuple(
            tuple(_cell_text(row.get(name)) for name in columns) for row in self.rows[:_SHOWN]
        )
        left = len(self.rows) - _SHOWN
        note = say(f"ほか {left} 行", f"{left} more rows") if left > 0 else ""
        return tables_html([Table("", columns, cells, note)])


def _cell_text(value: Cell) -> str | float | int:
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    return value


def tables_html(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Return tables as HTML for a notebook, with notes below."""
    return templates().get_template("notebook.html").render(tables=tables, notes=notes)


def study_runs(path: Path) -> dict[str, Path]:
    """Return label → run directory of a study; for a single run, its folder's name → itself.

    Raises:
        InputError: the path is neither a study nor a run.
    """
    if (path / "config.json").exists():
        return {path.name: path}
    with suppress(OSError, ValueError):
        stored = json.loads((path / STUDY).read_text(encoding="utf-8"))
        kept = {label: path / folder for label, folder in stored["runs"].items()}
        return {label: run for label, run in kept.items() if (run / "config.json").exists()}
    from naisei.runs.listing import find_runs  # imports numpy, which would slow down the help

    inside = [run.path for run in find_runs(path) if not run.broken and run.path.parent == path]
    if not inside:
        raise InputError(
            say("実行でも比較でもありません", "holds neither a run nor a study"),
            place=str(path),
            remedy=say(
                "`naisei runs list` で実行の一覧が出ます",
                "`naisei runs list` shows the runs there are",
            ),
        )
    return {run.name: run for run in sorted(inside)}


def frame(path: Path, *, each: str | None = None) -> Frame:
    """Return one row per trial of a run or a study.

    Columns: `configuration`; `system`, `agent`, `model.ROLE` and `config.…` where they exist or
    differ; `instance`, `cluster` (the unit of the intervals: a scene, a game), `repetition`,
    `failure`; the scalar fields of the result and of the trial, with lists of objects counted and
    lists of scalars joined; `episode_calls`, `episode_tokens` and `episode_usd`, the same in
    all rows of an episode. An unscored episode is one row.

    Args:
        path: a run directory, or the folder of a study.
        each: path of the list in a result that holds its trials; by default that of the system.
            Empty for one row per result.

    Raises:
        InputError: the path is neither a run nor a study.
    """
    paths = study_runs(path)
    rows: list[dict[str, Cell]] = []
    configs: dict[str, dict[str, Cell]] = {}
    for label, place in paths.items():
        with RunDirectory.look(place) as directory:
            configs[label] = _plain(directory.frozen.config)
    keys = dict.fromkeys(key for config in configs.values() for key in config)
    varied = [k for k in keys if len({json.dumps(c.get(k)) for c in configs.values()}) > 1]
    for label, place in paths.items():
        with RunDirectory.look(place) as directory:
            config = configs[label]
            head: dict[str, Cell] = {"configuration": label, "system": directory.frozen.system}
            if "agent" in config:
                head["agent"] = config["agent"]
            models = {k: v for k, v in config.items() if k.startswith("models.")}
            head |= {k.replace("models.", "model.", 1): v for k, v in models.items()}
            told = {"agent", *models}
            head |= {f"config.{key}": config.get(key) for key in varied if key not in told}
            rows += _run_rows(directory, head, each)
    return Frame(_counted(rows))


def _counted(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, Cell], ...]:
    """Replace empty lists by 0 in a counted column, else by ""."""
    empty = {key for row in rows for key, value in row.items() if value is _EMPTY}
    counts = {k for k in empty if any(isinstance(row.get(k), int) for row in rows)}
    instead = {key: 0 if key in counts else "" for key in empty}
    return tuple({k: instead[k] if v is _EMPTY else v for k, v in row.items()} for row in rows)


def _run_rows(
    directory: RunDirectory, head: dict[str, Cell], each: str | None
) -> Iterator[dict[str, Cell]]:
    clusters: dict[str, str] = {}
    names: dict[str, str] = {}
    with suppress(InputError):  # a killed run has no summary
        kept = stored_summary(directory)
        clusters = kept.summary.clusters()
        form = kept.summary.extra.get("long", {})
        each = form.get("each", "") if each is None else each
        names = form.get("names", {})
    for row in directory.log.rows().values():
        where = row.where
        first: dict[str, Cell] = {**head, "instance": where.instance, "repetition": where.trial}
        cluster = clusters.get(where.instance, clusters.get(where.episode))
        if cluster is not None:
            first[names.get("cluster", "cluster")] = cluster
        first["failure"] = row.failure or None
        last = _costs(row.usage)
        for trial in _trials(row, each or ""):
            named = {
                names.get(key, key): 0 if value is _EMPTY and key in names else value
                for key, value in trial.items()
            }
            clear = {f"result.{k}" if k in first else k: v for k, v in named.items()}
            clear = {k: v for k, v in clear.items() if first.get(k.removeprefix("result.")) != v}
            yield {**first, **clear, **last}


def _trials(row: EpisodeRow, each: str) -> Iterator[dict[str, Cell]]:
    """Yield the parts of a result at path `each`, with the scalar fields of their parents."""
    if not isinstance(row.result, dict):
        yield {} if row.result is None else {"result": _cell(row.result)}
        return
    yield from _inside(row.result, [name for name in each.split(".") if name])


def _inside(value: Mapping[str, JsonValue], path: Sequence[str]) -> Iterator[dict[str, Cell]]:
    inner = value.get(path[0]) if path else None
    if not isinstance(inner, list) or not inner or not isinstance(inner[0], dict):
        yield _plain(value)
        return
    own = _plain({k: v for k, v in value.items() if not isinstance(v, dict | list)})
    for one in inner:
        assert isinstance(one, dict)
        for row in _inside(one, path[1:]):
            yield {**own, **row}


def _plain(value: Mapping[str, JsonValue], prefix: str = "") -> dict[str, Cell]:
    """Flatten an object; nested keys become `key.inner`."""
    out: dict[str, Cell] = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            out |= _plain(inner, f"{prefix}{key}.")
        else:
            out[f"{prefix}{key}"] = _cell(inner)
    return out


def _cell(value: JsonValue) -> Any:
    if isinstance(value, list):
        if not value:
            return _EMPTY
        if any(isinstance(one, dict | list) for one in value):
            return len(value)
        return " ".join("" if one is None else str(one) for one in value)
    return None if isinstance(value, dict) else value


def _costs(usage: Sequence[Usage]) -> dict[str, Cell]:
    priced = [u.usd for u in usage if u.calls]
    known = [usd for usd in priced if usd is not None]
    return {
        "episode_calls": sum(u.calls for u in usage),
        "episode_tokens": sum(u.tokens for u in usage),
        "episode_usd": sum(known) if len(known) == len(priced) else None,
    }
