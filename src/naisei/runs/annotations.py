"""Annotations of a run: tags, a note, and readings of episodes.

Each annotation is a line of `annotations.jsonl`; the last one of a reader, rubric and unit counts,
so concurrent writers lose nothing. Not part of the run: its digests, its configuration and its
results do not depend on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError
from naisei.files import make_folder, output_error, plain_file
from naisei.lang import say
from naisei.text_files import json_of, read_text

FILE = "annotations.jsonl"
#: Characters of a tag or name, and of a note; tags of a run.
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
        """Short words, in order, each once."""
        return tuple(self.answers.get("tags", ()))

    @staticmethod
    def of_run(reader: str, tags: str, note: str) -> Annotation:
        """tags: separated by commas or spaces. Raises `InputError`: too many or too long."""
        words = tags.replace("、", " ").replace(",", " ").replace("#", " ").split()
        answers = {"tags": tuple(dict.fromkeys(words))}
        return Annotation(reader=reader, answers=answers, note=note.strip())

    def add(self, folder: Path) -> None:
        """Store it with the time.

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
    """The last annotation of each reader, rubric and unit, in the order of the first. Incomplete
    lines are skipped.

    Raises:
        InputError: the file cannot be read, or a line holds something else.
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
    """Annotations of a unit (or the run) by a rubric: reader → their last one."""
    found = read_annotations(folder)
    return {a.reader: a for a in found if (a.unit, a.rubric) == (unit, rubric)}


def together(written: Mapping[str, Annotation]) -> Annotation:
    """Tags and notes of all readers of a run; empty where there are none."""
    tags = dict.fromkeys(tag for a in written.values() for tag in a.tags)
    note = " / ".join(a.note for a in written.values() if a.note)
    return Annotation(answers={"tags": tuple(tags)}, note=note)
