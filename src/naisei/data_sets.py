"""The bundled data sets: listing, validation, export for Hugging Face, and import.

They are listed in `naisei/data/catalogue/catalogue.toml`, with JSON Schemas of the rows beside it.
An export is a folder that `datasets.load_dataset` opens by its path, offline. In it, objects with
arbitrary keys are lists of `key` and `value`, since a column has one type.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from naisei.core import InputError
from naisei.files import write_atomically, written_beside
from naisei.lang import say
from naisei.text_files import json_of, read_text

_DATA = Path(str(files("naisei") / "data"))
_SCHEMAS = _DATA / "catalogue"
Schema = Mapping[str, Any]
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Configuration:
    """One table of a data set. files: split → file; under an empty split each row names its split
    in the field `split_by`."""

    name: str
    schema: str
    files: Mapping[str, str]
    split_by: str = ""

    def form(self) -> dict[str, Any]:
        """JSON Schema of a row."""
        form: dict[str, Any] = json.loads((_SCHEMAS / f"{self.schema}.json").read_text("utf-8"))
        return form

    def splits(self) -> dict[str, Rows]:
        """Split → rows, as they are in the files."""
        out: dict[str, Rows] = {}
        for split, path in self.files.items():
            for _, row in _rows_of(_DATA / path):
                out.setdefault(split or str(row[self.split_by]), []).append(row)
        return out


@dataclass(frozen=True, slots=True)
class DataSet:
    """A bundled data set. title: in Japanese and English. licence, tasks: Hugging Face identifiers.
    card: its README.md."""

    name: str
    title: tuple[str, str]
    licence: str
    languages: tuple[str, ...]
    tasks: tuple[str, ...]
    card: Path
    configs: tuple[Configuration, ...]


@cache
def catalogue() -> dict[str, DataSet]:
    """All bundled data sets by name."""
    listed = tomllib.loads((_SCHEMAS / "catalogue.toml").read_text("utf-8"))
    return {
        name: DataSet(
            name=name,
            title=tuple(entry["title"]),
            licence=entry["licence"],
            languages=tuple(entry["languages"]),
            tasks=tuple(entry["tasks"]),
            card=_DATA / entry["card"],
            configs=tuple(Configuration(key, **each) for key, each in entry["configs"].items()),
        )
        for name, entry in listed.items()
    }


def data_set(name: str) -> DataSet:
    """Return a data set. Raises `InputError` for an unknown name."""
    if (found := catalogue().get(name)) is not None:
        return found
    known = ", ".join(catalogue())
    raise InputError(
        say(f"データ '{name}' はありません", f"unknown data set '{name}'"),
        place=name,
        remedy=say(f"使えるもの: {known}", f"known: {known}"),
    )


def _rows_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and object of each non-empty line.

    Raises:
        InputError: unreadable, or a line is not a JSON object.
    """
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json_of(line)
        except ValueError as error:
            raise InputError(
                say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
                place=f"{path}:{number}",
            ) from error
        if not isinstance(row, dict):
            raise InputError(
                say("JSON オブジェクトではありません", "is not a JSON object"),
                place=f"{path}:{number}",
                remedy=say("1 行に 1 つの {…} を書いてください", "write one {…} a line"),
            )
        yield number, row


def validate(path: Path, form: Schema) -> list[str]:
    """Return the errors in a file, `FILE:LINE: FIELD: what`; empty for none.

    Raises:
        InputError: unreadable.
    """
    return [
        f"{path}:{number}: {fault}" for number, row in _rows_of(path) for fault in faults(row, form)
    ]


_TYPES: Mapping[str, tuple[type, ...]] = {
    **{"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)},
    **{"array": (list,), "object": (dict,), "null": (type(None),)},
}


def faults(value: Any, form: Schema, at: str = "") -> Iterator[str]:
    """Yield the errors in a value, `FIELD: what`, by the supported part of JSON Schema (type, enum,
    required, properties, additionalProperties, items)."""
    named = form.get("type", [])
    types = [named] if isinstance(named, str) else named
    is_bool = isinstance(value, bool)
    fits = [t for t in types if isinstance(value, _TYPES[t]) and (not is_bool or t == "boolean")]
    if types and not fits:
        told = json.dumps(value, ensure_ascii=False)[:80]
        yield f"{at or '·'}: {told} is no {' or '.join(types)}"
        return
    if "enum" in form and value not in form["enum"]:
        yield f"{at or '·'}: {value!r} is none of {form['enum']}"
    if isinstance(value, list):
        for n, each in enumerate(value):
            yield from faults(each, form.get("items", {}), f"{at}.{n}".lstrip("."))
    if not isinstance(value, dict):
        return
    known, others = form.get("properties", {}), form.get("additionalProperties", True)
    yield from (
        f"{at or '·'}: '{k}' is missing" for k in form.get("required", ()) if k not in value
    )
    for key, each in value.items():
        inner = known.get(key, others)
        if inner is False:
            yield f"{at or '·'}: unknown field '{key}'"
        elif isinstance(inner, Mapping):
            yield from faults(each, inner, f"{at}.{key}".lstrip("."))


def _kinds(form: Schema) -> tuple[str, bool]:
    """The one type of a value, empty if any is allowed; and whether it may be null."""
    types = form.get("type", [])
    types = [types] if isinstance(types, str) else types
    rest = [each for each in types if each != "null"]
    return (rest[0] if len(rest) == 1 else ""), "null" in types


def _column_type(form: Schema) -> Any:
    """The pyarrow type for a JSON Schema. Values of any type are stored as JSON text."""
    arrow = import_module("pyarrow")
    kind, _ = _kinds(form)
    if kind == "array":
        return arrow.list_(_column_type(form.get("items", {})))
    if kind == "object" and "properties" in form:
        inner = form["properties"].items()
        return arrow.struct([(key, _column_type(each)) for key, each in inner])
    if kind == "object" and isinstance(form.get("additionalProperties"), dict):
        value = _column_type(form["additionalProperties"])
        return arrow.list_(arrow.struct([("key", arrow.string()), ("value", value)]))
    simple = {"integer": "int64", "number": "float64", "boolean": "bool_"}
    return getattr(arrow, simple.get(kind, "string"))()


def _to_columns(value: Any, form: Schema) -> Any:
    """A value converted for a column of `_column_type`."""
    kind, _ = _kinds(form)
    if value is None:
        return None
    if kind == "array":
        return [_to_columns(each, form.get("items", {})) for each in value]
    if kind == "object" and "properties" in form:
        return {k: _to_columns(value.get(k), each) for k, each in form["properties"].items()}
    if kind == "object" and isinstance(form.get("additionalProperties"), dict):
        inner = form["additionalProperties"]
        return [{"key": k, "value": _to_columns(v, inner)} for k, v in value.items()]
    return value if kind else json.dumps(value, ensure_ascii=False)


def _from_columns(value: Any, form: Schema) -> Any:
    """The inverse of `_to_columns`; optional nulls are dropped."""
    kind, _ = _kinds(form)
    if value is None:
        return None
    if kind == "array":
        return [_from_columns(each, form.get("items", {})) for each in value]
    if kind == "object" and "properties" in form:
        there = {k: v for k, v in value.items() if v is not None or k in form.get("required", ())}
        return {k: _from_columns(v, form["properties"][k]) for k, v in there.items()}
    if kind == "object" and isinstance(form.get("additionalProperties"), dict):
        inner = form["additionalProperties"]
        return {each["key"]: _from_columns(each["value"], inner) for each in value}
    return value if kind else json.loads(value)


def export(data: DataSet, folder: Path, form: Literal["parquet", "jsonl"] = "parquet") -> None:
    """Write a data set as a folder for Hugging Face: one file per split, the card, the schemas.

    Raises:
        InputError: the folder is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            say("空のフォルダーではありません", "is not an empty folder"),
            place=str(folder),
            remedy=say("新しいフォルダーを指定してください", "name a new folder"),
        )
    try:
        counts = {
            config.name: {
                split: _write(rows, config.form(), folder / config.name / f"{split}.{form}")
                for split, rows in config.splits().items()
            }
            for config in data.configs
        }
        for config in data.configs:
            text = json.dumps(config.form(), ensure_ascii=False, indent=1) + "\n"
            write_atomically(folder / "schema" / f"{config.name}.json", text)
        write_atomically(folder / "README.md", card(data, counts, form))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # it did not exist or was empty
        raise


def _write(rows: Rows, form: Schema, path: Path) -> int:
    if path.suffix == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(path, "".join(lines))
        return len(rows)
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = arrow.schema([(k, _column_type(each)) for k, each in form["properties"].items()])
    table = arrow.Table.from_pylist([_to_columns(row, form) for row in rows], schema=columns)
    with written_beside(path) as made:
        parquet.write_table(table, made)
    return len(rows)


def card(data: DataSet, counts: Mapping[str, Mapping[str, int]], form: str) -> str:
    """The card with the header that Hugging Face reads (YAML, a superset of JSON)."""
    total = sum(n for splits in counts.values() for n in splits.values())
    sizes = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
    configs = [
        {
            "config_name": name,
            **({"default": True} if at == 0 else {}),
            "data_files": [{"split": s, "path": f"{name}/{s}.{form}"} for s in splits],
        }
        for at, (name, splits) in enumerate(counts.items())
    ]
    head = {
        "license": data.licence,
        "language": list(data.languages),
        "pretty_name": data.name,
        "task_categories": list(data.tasks),
        "size_categories": [next((s for most, s in sizes if total < most), "100K<n<1M")],
        "tags": ["naisei", "dialogue"],
        "configs": configs,
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    note = say(
        "`naisei data export` が書き出したもの。自由なキーをもつオブジェクトは、Parquet では "
        "`key` と `value` のリスト。行の形は `schema/` (JSON Schema)。",
        "Written by `naisei data export`. Objects with free keys are lists of `key` and `value` in "
        "Parquet; `schema/` holds the form of the rows (JSON Schema).",
    )
    return "\n".join(["---", *lines, "---", "", note, "", data.card.read_text("utf-8")])


def load_exported(folder: Path) -> dict[str, dict[str, Rows]]:
    """Read configuration → split → rows from a folder written by `export`: equal to the original,
    except that optional nulls are omitted.

    Raises:
        InputError: no such folder.
    """
    forms = sorted((folder / "schema").glob("*.json"))
    if not forms:
        raise InputError(
            say("naisei data export のフォルダーではありません", "no folder of naisei data export"),
            place=str(folder),
            remedy="naisei data export NAME --output DIR",
        )
    out: dict[str, dict[str, Rows]] = {}
    for path in forms:
        form = json.loads(read_text(path))
        splits = sorted((folder / path.stem).iterdir())
        out[path.stem] = {file.stem: _read(file, form) for file in splits}
    return out


def _read(path: Path, form: Schema) -> Rows:
    if path.suffix == ".jsonl":
        return [row for _, row in _rows_of(path)]
    table = import_module("pyarrow.parquet").read_table(path)
    return [_from_columns(row, form) for row in table.to_pylist()]


def faults_of(what: str, like: str = "") -> Sequence[str]:
    """Schema errors, one per line: of a bundled data set by its name, of an exported folder, or of
    a JSON-lines file with the schema `like` (NAME or NAME/CONFIG).

    Raises:
        InputError: no such data set or configuration, or a file without `like`.
    """
    path = Path(what)
    if like:
        name, _, wanted = like.partition("/")
        configs = {config.name: config for config in data_set(name).configs}
        if wanted and wanted not in configs:
            known = ", ".join(configs)
            raise InputError(
                say(f"設定 '{wanted}' はありません", f"unknown configuration '{wanted}'"),
                place="--as",
                remedy=say(f"使えるもの: {known}", f"known: {known}"),
            )
        wanted = wanted or next(iter(configs))
        return validate(path, configs[wanted].form())
    if path.is_dir():
        forms = {f.stem: json.loads(read_text(f)) for f in (path / "schema").glob("*.json")}
        return [
            f"{path / name / split} {number}: {fault}"
            for name, splits in load_exported(path).items()
            for split, rows in splits.items()
            for number, row in enumerate(rows, start=1)
            for fault in faults(row, forms[name])
        ]
    if path.is_file():
        raise InputError(
            say("ファイルの形が分かりません", "the form of the file is not known"),
            place=what,
            remedy=say("--as NAME を付けてください", "add --as NAME"),
        )
    configs_of = data_set(what).configs
    return [f for c in configs_of for p in c.files.values() for f in validate(_DATA / p, c.form())]
