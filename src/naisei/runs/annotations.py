"""Annotations of a run: tags, a note, rubric ratings of episodes, and inter-rater agreement.

Each annotation is a line of `annotations.jsonl`. The last line per rater, rubric and unit counts,
so concurrent writers lose nothing. Annotations are not part of the run: its digests, configuration
and results do not depend on them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError
from naisei.data_sets import data_set
from naisei.files import make_folder, output_error, plain_file
from naisei.lang import language, say
from naisei.runs.export import Frame
from naisei.runs.task import Table
from naisei.text_files import json_of, read_text

FILE = "annotations.jsonl"
#: Maximum length of a tag or name, maximum length of a note, and maximum number of tags per run.
_NAME, _NOTE, _MOST = 40, 4_000, 20


class Annotation(BaseModel):
    """A reader's annotation of a unit: an episode, or an instance of a data set; empty for the run
    itself. answers: question of the rubric → the options chosen. at: UTC, ISO 8601."""

    model_config = ConfigDict(frozen=True)

    reader: str = ""
    rubric: str = ""
    unit: str = ""
    answers: Mapping[str, tuple[str, ...]] = {}
    note: str = ""
    at: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """Short words in sorted order, without duplicates."""
        return tuple(self.answers.get("tags", ()))

    @staticmethod
    def of_run(reader: str, tags: str, note: str) -> Annotation:
        """tags: separated by commas or spaces. Raises `InputError` if too many or too long."""
        words = tags.replace("、", " ").replace(",", " ").replace("#", " ").split()
        answers = {"tags": tuple(dict.fromkeys(words))}
        return Annotation(reader=reader, answers=answers, note=note.strip())

    def add(self, folder: Path) -> None:
        """Store the annotation with the current time.

        Raises:
            InputError: a name, tag or note is too long, or the folder cannot be written.
        """
        names = (self.reader, *self.tags)
        if len(self.tags) > _MOST or len(self.note) > _NOTE or any(len(n) > _NAME for n in names):
            raise InputError(
                say("名前・タグ・メモが長すぎます", "too many tags, or too long a name or note"),
                remedy=say(
                    f"名前とタグは各 {_NAME} 字、タグは {_MOST} 個、メモは {_NOTE} 字までです",
                    f"names and tags have up to {_NAME} characters, notes {_NOTE}; {_MOST} tags",
                ),
            )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({**self.model_dump(), "at": now}, ensure_ascii=False) + "\n"
        path = make_folder(folder) / FILE
        plain_file(path)
        try:
            with path.open("a+b", buffering=0) as file:
                # An incomplete line of a killed process stays its own line.
                file.seek(max(0, file.tell() - 1))
                broken = file.read(1) not in (b"", b"\n")
                file.write(("\n" * broken + line).encode("utf-8", "replace"))
        except OSError as error:
            raise output_error(error, path) from error


def read_annotations(folder: Path) -> list[Annotation]:
    """Return the last annotation of each rater, rubric and unit, ordered by the first one.
    Skips incomplete lines.

    Raises:
        InputError: the file cannot be read, or a line is not an annotation.
    """
    path, found = folder / FILE, dict[tuple[str, str, str], Annotation]()
    if not path.exists():
        return []
    plain_file(path)
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            given = json_of(line)
        except ValueError:
            continue
        try:
            each = Annotation.model_validate(given)
        except ValidationError as error:
            raise InputError(
                say("読み取りの記録ではありません", "is not an annotation"),
                place=f"{path}:{number}",
                remedy=say("この行を直すか、消してください", "fix this line, or remove it"),
            ) from error
        found[each.reader, each.rubric, each.unit] = each
    return list(found.values())


def written_on(folder: Path, unit: str = "", rubric: str = "") -> dict[str, Annotation]:
    """Return the last annotation of each reader for a unit (or the run) and a rubric."""
    found = read_annotations(folder)
    return {a.reader: a for a in found if (a.unit, a.rubric) == (unit, rubric)}


def together(written: Mapping[str, Annotation]) -> Annotation:
    """Merge the tags and notes of all readers of a run; empty if there are none."""
    tags = dict.fromkeys(tag for a in written.values() for tag in a.tags)
    note = " / ".join(a.note for a in written.values() if a.note)
    return Annotation(answers={"tags": tuple(tags)}, note=note)


#: Reader name that stands for the labels of the data set.
LABELS = "data"
_BUNDLED = Path(str(files("naisei") / "data" / "rubrics"))


class Question(BaseModel):
    """options: value, and what it says in Japanese and English; or `NAME/CONFIG`, a table of a
    bundled data set with `id`, `ja` and `en`. many: any number of them, else one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: tuple[str, str]
    options: tuple[tuple[str, str, str], ...] | str
    many: bool = False

    def choices(self) -> list[tuple[str, str]]:
        """Return the value and display text of each option."""
        if isinstance(self.options, str):
            name, _, config = self.options.partition("/")
            (table,) = (c for c in data_set(name).configs if c.name == config)
            rows = [row for rows in table.splits().values() for row in rows]
            return [(str(row["id"]), str(row[language()])) for row in rows]
        return [(value, say(ja, en)) for value, ja, en in self.options]


class Rubric(BaseModel):
    """data: names of the data sets whose rows are read; empty for episodes. shows: row fields shown
    to a reader."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: tuple[str, str]
    questions: tuple[Question, ...]
    data: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()


def rubrics(own: Path | None = None) -> dict[str, Rubric]:
    """Return the bundled rubrics and those in the runs' `rubrics` folder, by name.

    Raises:
        InputError: a file is not a valid rubric.
    """
    places = [*sorted(_BUNDLED.glob("*.toml"))]
    places += sorted((own / "rubrics").glob("*.toml")) if own is not None else []
    return {path.stem: _rubric(path) for path in places}


def _rubric(path: Path) -> Rubric:
    try:
        return Rubric.model_validate({"name": path.stem, **tomllib.loads(read_text(path))})
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise InputError(
            say(f"評価の観点として読めません: {error}", f"is no rubric: {error}"),
            place=str(path),
            remedy=say(
                "title と [[questions]] (name, title, options) を書いてください",
                "write title and [[questions]] (name, title, options)",
            ),
        ) from error


def shuffled(units: Sequence[str]) -> list[str]:
    """Return the units in a fixed pseudo-random order, so that the first units are the same
    random sample for all readers."""
    return sorted(units, key=lambda unit: sha256(unit.encode()).digest())


def instances(name: str) -> dict[str, dict[str, Any]]:
    """Return rows of a bundled data set in the reader's language, by id. Raises `InputError`."""
    configs = {config.name: config for config in data_set(name).configs}
    config = configs.get(language()) or next(iter(configs.values()))
    return {str(row["id"]): row for rows in config.splits().values() for row in rows}


def labels(rubric: Rubric, rows: Mapping[str, Mapping[str, Any]]) -> list[Annotation]:
    """Return the data set's own answers to a rubric: the fields named like its questions."""
    return [
        Annotation(reader=LABELS, rubric=rubric.name, unit=unit, answers=_labels(rubric, row))
        for unit, row in rows.items()
    ]


def _labels(rubric: Rubric, row: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    there = {q.name: row[q.name] for q in rubric.questions if q.name in row}
    return {k: tuple(map(str, v if isinstance(v, list) else [v])) for k, v in there.items()}


def agreement(rubric: Rubric, read: Sequence[Annotation]) -> Table:
    """Compare each pair of readers on each question: share of equal answers, and Krippendorff's α
    (1 for full agreement, 0 for chance). In a multiple-choice question each option is a separate
    unit, and the interval resamples the rated items."""
    from naisei.runs.significance import krippendorff_alpha  # imports numpy

    by_reader: dict[str, dict[str, Annotation]] = {}
    for each in read:
        if each.rubric == rubric.name:
            by_reader.setdefault(each.reader, {})[each.unit] = each
    lines: list[tuple[str | float | int, ...]] = []
    for question in rubric.questions:
        for (a, first), (b, second) in combinations(by_reader.items(), 2):
            shared = [u for u in first if u in second]
            pairs = [
                (unit, *values)
                for unit in shared
                for values in _values(question, first[unit], second[unit])
            ]
            units, clusters = [(x, y) for _, x, y in pairs], [unit for unit, *_ in pairs]
            if not units:
                continue
            found = krippendorff_alpha(units, clusters=clusters)
            equal, n = sum(x == y for x, y in units) / len(units), len(set(clusters))
            lines.append((question.name, a, b, equal, found.value, found.low, found.high, n))
    columns = ("question", "reader 1", "reader 2", "equal", "alpha", "alpha low", "alpha high", "n")
    note = say(
        "α はクリッペンドルフの α (名義尺度)、区間は 95 %、n は二人とも読んだ件数",
        "α is Krippendorff's (nominal), with its 95 % interval; n: how many both have read",
    )
    return Table("Agreement", columns, tuple(lines), note)


def agreements(folder: Path, read: Sequence[Annotation]) -> list[Table]:
    """Return `agreement` on each rubric in use; includes the labels if the folder belongs to a
    data set."""
    known = rubrics(folder.parent if folder.parent.name != "annotations" else folder.parents[1])
    used = [known[name] for name in dict.fromkeys(a.rubric for a in read) if name in known]
    own = [labels(r, instances(folder.name)) if folder.name in r.data else [] for r in used]
    tables = [agreement(r, [*read, *more]) for r, more in zip(used, own, strict=True)]
    return [table for table in tables if table.rows]


def _values(question: Question, a: Annotation, b: Annotation) -> list[tuple[str, str]]:
    x, y = (set(each.answers.get(question.name, ())) for each in (a, b))
    if not question.many:
        return [(*x, *y)] if x and y else []  # type: ignore[list-item]
    return [(str(v in x), str(v in y)) for v, _ in question.choices()]


def readings(read: Sequence[Annotation]) -> Frame:
    """Return one row per answer, for other programs. A note is repeated in the rows of its unit."""
    return Frame(
        tuple(
            {
                "rubric": each.rubric,
                "reader": each.reader,
                "unit": each.unit,
                "question": question,
                "answer": " ".join(values),
                "note": each.note,
                "at": each.at,
            }
            for each in read
            if each.unit
            for question, values in (each.answers or {"": ()}).items()
        )
    )
