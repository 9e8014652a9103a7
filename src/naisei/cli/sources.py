"""Papers and documents whose tables `naisei reproduce` reproduces.

A source is described in `naisei/data/sources/SOURCE.toml`: the commands that produce the runs, and
for each table its columns and its rows with the source's own figures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import Field

from naisei.core import InputError
from naisei.lang import say
from naisei.system.config import Options
from naisei.system.registry import Text

_SOURCES = files("naisei") / "data" / "sources"
NAMES = sorted(Path(each.name).stem for each in _SOURCES.iterdir() if each.name.endswith(".toml"))


class Runs(Options):
    """A command whose runs tables are of. models: whether it is run for each `--model`. needs:
    name of an input, `{name}` in the command → how to come by it. An input may be several, with
    commas: the command is run for each (trained agents), and figures are pooled over them."""

    command: str
    models: Literal["required", "optional", "none"] = "none"
    needs: Mapping[str, str] = Field(default={})


class Column(Options):
    """head: as the source has it. cell: `[ROW [- ROW]] [KIND:]METRIC`: of the row itself, of the
    one named, or the difference of two; of the units of one kind alone; or `TABLE/ROW/COLUMN` of
    the report, as a share of the column `per`. digits: after the point."""

    head: str
    cell: str
    scale: float = 1.0
    digits: int = 3
    per: str = ""


class Row(Options):
    """paper: the source's figures, by column. ours: the label of the configuration that is ours,
    in the table's runs or in those of `study`; `run` where the command makes one run, `run@2` for
    the second of several agents. prefix: of the names of its metrics."""

    name: str
    paper: tuple[float, ...] = ()
    ours: str = ""
    study: str = ""
    prefix: str = ""


class Reproduced(Options):
    """A table of a source. figure: head of the column that is drawn. why: of the rows that are the
    source's alone, why they cannot be run here, in Japanese and English."""

    name: str
    title: Text
    study: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    figure: str = ""
    why: Text = ("", "")


class Source(Options):
    title: str
    bibtex: str
    studies: dict[str, Runs]
    tables: tuple[Reproduced, ...]


def read_source(name: str) -> Source:
    """Raises `InputError` for an unknown source."""
    if name not in NAMES:
        raise InputError(
            say(f"'{name}' という論文・資料はありません", f"unknown source '{name}'"),
            place="SOURCE",
            remedy=say(f"使えるもの: {', '.join(NAMES)}", f"known: {', '.join(NAMES)}"),
        )
    text = (_SOURCES / f"{name}.toml").read_text("utf-8")
    return Source.model_validate(tomllib.loads(text))
