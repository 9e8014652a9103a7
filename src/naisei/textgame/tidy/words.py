"""Names of things and receptacles as words: normal form, plurals, endings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

__all__ = ["endings", "listed", "longest_ending", "normal", "singular"]

_PUNCTUATION = re.compile(r"[^a-z0-9'&]+")
_ES = ("ches", "shes", "xes", "sses", "zes", "toes", "goes")


def normal(name: str) -> str:
    """Lower case, single spaces, no hyphens: `T-shirt` → `t shirt`."""
    return _PUNCTUATION.sub(" ", name.lower()).strip()


def singular(word: str) -> str:
    """The singular of a regular plural; other words as they are."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_ES):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def endings(name: str) -> Iterator[str]:
    """The name, then what is left without its first word, and so on."""
    words = name.split()
    for start in range(len(words)):
        yield " ".join(words[start:])


def longest_ending(name: str, known: Mapping[str, str]) -> tuple[str, str] | None:
    """(the words before, what the longest known ending stands for), plurals alike.

    name: in normal form, as the keys of `known`.
    """
    for ending in endings(name):
        if (found := known.get(ending) or known.get(_singular_last(ending))) is not None:
            return name[: len(name) - len(ending)].strip(), found
    return None


def _singular_last(name: str) -> str:
    before, _, last = name.rpartition(" ")
    return f"{before} {singular(last)}".strip()


def listed(text: str) -> list[str]:
    """The items of a list with commas, in normal form."""
    return [word for part in text.split(",") if (word := normal(part))]
