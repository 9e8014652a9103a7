"""Papers and documents whose tables `naisei reproduce` makes.

What a source has stands in `naisei/data/sources/SOURCE.toml`: the commands whose runs the tables
are of, and of each table its columns, and its rows with the source's own figures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from math import nan
from pathlib import Path
from typing import Literal

from pydantic import Field

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.pooling import Seeds, pooled_metric
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric, Summary
from naisei.system.config import Options
from naisei.system.registry import Text

_SOURCES = files("naisei") / "data" / "sources"
NAMES = sorted(Path(each.name).stem for each in _SOURCES.iterdir() if each.name.endswith(".toml"))


class Runs(Options):
    """A command whose runs tables are of. models: whether it is run for each `--model`. needs:
    name of an input, `{name}` in the command → how to come by it."""

    command: str
    models: Literal["required", "optional", "none"] = "none"
    needs: Mapping[str, str] = Field(default={})


class Column(Options):
    """head: as the source has it. cell: `[ROW [- ROW]] [KIND:]METRIC`: of the row itself, of the
    one named, or the difference of two; of the units of one kind alone. digits: after the point."""

    head: str
    cell: str
    scale: float = 1.0
    digits: int = 3


class Row(Options):
    """paper: the source's figures, by column. ours: the label of the configuration that is ours,
    in the table's runs or in those of `study`; `run` where the command makes one run. prefix: of
    the names of its metrics."""

    name: str
    paper: tuple[float, ...] = ()
    ours: str = ""
    study: str = ""
    prefix: str = ""


class Reproduced(Options):
    """A table of a source. figure: head of the column that is drawn."""

    name: str
    title: Text
    study: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    figure: str = ""


class Source(Options):
    title: str
    bibtex: str
    studies: dict[str, Runs]
    tables: tuple[Reproduced, ...]


def read_source(name: str) -> Source:
    """Raises `InputError` for a name that is none."""
    if name not in NAMES:
        raise InputError(
            say(f"'{name}' という論文・資料はありません", f"unknown source '{name}'"),
            place="SOURCE",
            remedy=say(f"使えるもの: {', '.join(NAMES)}", f"known: {', '.join(NAMES)}"),
        )
    text = (_SOURCES / f"{name}.toml").read_text("utf-8")
    return Source.model_validate(tomllib.loads(text))


def cell_metric(rows: Mapping[str, Seeds], row: Row, cell: str) -> Metric:
    """What stands in a cell of our row; NaN where it was not run. rows: by label."""
    *who, name = cell.split()
    kind, _, metric = name.rpartition(":")
    metric = row.prefix + metric
    first, *others = who[::2] or [row.ours]
    if not all(label in rows for label in (first, *others)):
        return Metric(metric, nan)
    of = {label: {s: _of_kind(x, kind, metric) for s, x in rows[label].items()} for label in rows}
    found = pooled_metric(metric, of[first], of[others[0]] if others else None)
    if found.n or not others:
        return found
    # Means over other units in each, such as those solved: no pairs, and so no interval.
    ours, theirs = (pooled_metric(metric, of[label]) for label in (first, others[0]))
    return Metric(metric, ours.value - theirs.value, n=min(ours.n, theirs.n))


def _of_kind(summary: Summary, kind: str, name: str) -> Summary:
    """A metric over the units of one kind alone (a level of games)."""
    found = next((m for m in summary.metrics if m.name == name), None)
    kinds = summary.extra.get("kinds")
    if not kind or found is None or not kinds or not found.per_unit:
        return summary if not kind else replace(summary, metrics=())
    at = [n for n, each in enumerate(kinds) if each == kind]
    units, clusters = ([summary.extra[key][n] for n in at] for key in ("units", "clusters"))
    values = [found.per_unit[n] for n in at]
    own = mean_metric(name, values, clusters=clusters, share=found.share, paired=True)
    return Summary((own,), extra={"units": units, "clusters": clusters})
