"""A person's notes, stored between conversations: the memo, and right and wrong actions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say

_KEPT = 50


class Outcome(BaseModel):
    """One action that was executed for an utterance, and whether it was wanted."""

    model_config = ConfigDict(extra="forbid")

    utterance: str
    action: str
    right: bool


class Person(BaseModel):
    """A user of the chat. memo: the reflection memo. outcomes: the latest, oldest first. unserved:
    the latest wishes without an action, oldest first."""

    model_config = ConfigDict(extra="forbid")

    name: str
    memo: str = ""
    outcomes: list[Outcome] = []
    unserved: list[str] = []

    def notes(self, language: str) -> str:
        """The memo and the outcomes as text, for people and for the agent's prompt."""
        right, wrong = ("○", "×") if language == "ja" else ("right", "wrong")
        lines = [
            f"・「{o.utterance}」→ {o.action}（{right if o.right else wrong}）"
            if language == "ja"
            else f'- "{o.utterance}" → {o.action} ({right if o.right else wrong})'
            for o in self.outcomes
        ]
        return "\n".join([*([self.memo] if self.memo else []), *lines])

    def learned(self, outcome: Outcome) -> None:
        """Record an outcome; only the latest 50 are stored."""
        self.outcomes = [*self.outcomes, outcome][-_KEPT:]

    def missed(self, wish: str) -> None:
        """Record a wish without an action; only the latest 50 are stored."""
        self.unserved = [*(w for w in self.unserved if w != wish), wish][-_KEPT:]

    def remember(self, memo: JsonValue) -> None:
        """Replace the memo."""
        self.memo = str(memo)

    @staticmethod
    def update(name: str, directory: Path, change: Callable[[Person], None]) -> None:
        """Apply `change` to the current notes of `name`, reloading them first since other
        conversations may have changed them."""
        person = Person.load(name, directory)
        change(person)
        person.save(directory)

    @staticmethod
    def load(name: str, directory: Path) -> Person:
        """The notes of `name`; a new person if there are none.

        Raises:
            InputError: the name cannot be a file's name, or the file is damaged.
        """
        path = _path(name, directory)
        if not path.exists():
            return Person(name=name)
        try:
            return Person.model_validate_json(path.read_text(encoding="utf-8"))
        except (ValidationError, UnicodeDecodeError) as error:
            raise InputError(
                say(
                    f"'{name}' さんのメモを読めません: {error}",
                    f"the notes on '{name}' cannot be read: {error}",
                ),
                place=str(path),
                remedy=say(
                    "ファイルを直すか、別の場所に移して最初から始めてください",
                    "fix the file, or move it away to start afresh",
                ),
            ) from error

    def save(self, directory: Path) -> None:
        """Write atomically, so that an interruption never damages the notes."""
        write_atomically(_path(self.name, directory), self.model_dump_json(indent=2))


class PersonMemory:
    """The memory of a conversation: the person's notes, with the memo updated by the policy.

    name, prompt: those of the memory policy (`naisei.memory.memory_policy`); `none` never reflects.
    """

    def __init__(self, person: Person, language: str, name: str, prompt: str) -> None:
        self.person, self.language = person, language
        self.name, self.prompt = name, prompt
        self.reflects = name != "none"

    def recall(self) -> str:
        return self.person.notes(self.language)

    def previous(self) -> str:
        return self.person.memo

    def add(self, item: JsonValue) -> None:
        self.person.remember(item)


def people_directory() -> Path:
    """The folder of people's notes: NAISEI_DATA, or the user's data directory."""
    root = os.environ.get("NAISEI_DATA")
    return (Path(root) if root else user_data_path("naisei", appauthor=False)) / "people"


def _path(name: str, directory: Path) -> Path:
    if not re.fullmatch(r"[\w][\w .@-]{0,63}", name):
        raise InputError(
            say(f"'{name}' はユーザーの名前に使えません", f"'{name}' cannot be a user's name"),
            place="--user",
            remedy=say(
                "文字、数字、空白、. _ - @ を 64 字まで使えます",
                "use up to 64 letters, digits, spaces and . _ - @",
            ),
        )
    return directory / f"{name}.json"
