"""Whom to ask about what: the contacts file.

[[contact]]
department = "人事部"
address = "jinji@example.com"
topics = ["休暇", "育児"]       # words; any of them
patterns = ["産(前|後)休"]      # regular expressions
[[contact]]
department = "総務部"
default = true                  # for everything else
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field

from naisei.intent.schemas import Contact
from naisei.intent.toml_files import read_model
from naisei.japanese.normal import normalise

__all__ = ["Contacts", "Entry", "load_contacts"]


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return pattern


class Entry(BaseModel):
    """One department, and what it is asked about."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    department: Annotated[str, Field(min_length=1)]
    address: str = Field(default="", validation_alias=AliasChoices("address", "contact"))
    note: str = ""
    topics: tuple[str, ...] = ()
    patterns: tuple[Annotated[str, AfterValidator(_compiles)], ...] = ()
    default: bool = False

    def weight(self, text: str) -> int:
        """How much of what is asked is this department's: letters of the topics named."""
        named = {t for t in self.topics if t and normalise(t).lower() in text}
        matched = sum(len(m[0]) for p in self.patterns if (m := re.search(p, text, re.I)))
        return sum(map(len, named)) + matched


class Contacts(BaseModel):
    """The departments of a contacts file, in its order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contact: tuple[Entry, ...] = ()

    def find(self, text: str) -> Contact | None:
        """The department whose topics make up most of the text; the default one, or none."""
        folded = normalise(text).lower()
        best = max(self.contact, key=lambda entry: entry.weight(folded), default=None)
        if best is None or not best.weight(folded):
            best = next((entry for entry in self.contact if entry.default), None)
        if best is None:
            return None
        return Contact(department=best.department, address=best.address, note=best.note)


def load_contacts(path: Path) -> Contacts:
    """Raises `InputError` if it is not such a file."""
    return read_model(path, Contacts, what="contacts file")
