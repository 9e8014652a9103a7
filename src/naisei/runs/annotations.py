"""What people write beside a run: tags and a note, in `notes.json` of its directory.

Not part of the run: its digests, its configuration and its results do not depend on it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from naisei.core import InputError
from naisei.files import plain_file, write_atomically
from naisei.lang import say

FILE = "notes.json"
_LARGEST = 64_000
#: Characters of a tag and of a note; tags of a run.
_TAG, _NOTE, _MOST = 40, 4_000, 20


@dataclass(frozen=True, slots=True)
class Annotations:
    """tags: short words, in order, each once. note: any text."""

    tags: tuple[str, ...] = ()
    note: str = ""

    @staticmethod
    def parsed(tags: str, note: str) -> Annotations:
        """tags: separated by commas or spaces.

        Raises:
            InputError: too many or too long.
        """
        words = tags.replace("、", " ").replace(",", " ").replace("#", " ").split()
        found = Annotations(tuple(dict.fromkeys(words)), note.strip())
        if len(found.tags) > _MOST or any(len(t) > _TAG for t in words) or len(note) > _NOTE:
            raise InputError(
                say("タグかメモが長すぎます", "too many tags, or too long a note"),
                remedy=say(
                    f"タグは {_MOST} 個・各 {_TAG} 字、メモは {_NOTE} 字までです",
                    f"up to {_MOST} tags of {_TAG} characters, and a note of {_NOTE}",
                ),
            )
        return found

    @staticmethod
    def read(run: Path) -> Annotations:
        """Of a run directory; empty ones where there are none, or none that can be read."""
        path = run / FILE
        try:
            plain_file(path)
            with path.open(encoding="utf-8") as file:
                found = json.loads(file.read(_LARGEST))
            return Annotations(tuple(map(str, found["tags"])), str(found["note"]))
        except (OSError, LookupError, TypeError, ValueError, InputError):
            return Annotations()

    def write(self, run: Path) -> None:
        """Raises `InputError` if the directory cannot be written."""
        if self == Annotations():
            (run / FILE).unlink(missing_ok=True)
            return
        text = json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"
        write_atomically(run / FILE, text)
