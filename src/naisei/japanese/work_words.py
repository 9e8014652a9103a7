"""Everyday words at work and those that rules have for them: ボーナス and 賞与, 辞める and 退職.

People ask in the ones and documents are written in the others. The list is this project's own,
of the language of Japanese offices, not of any one company.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from naisei.japanese.search_tokens import search_tokens

__all__ = ["related"]


def related(words: Iterable[str]) -> dict[str, float]:
    """Search words that may stand for these search words, themselves aside, each with how well it
    does: 1, or less for a part of a compound (1 / the number of its parts).

    >>> related(["ボーナス"])
    {'賞与': 1.0}
    """
    asked = dict.fromkeys(words)
    found: dict[str, float] = {}
    for word in asked:
        for other, share in _groups().get(word, {}).items():
            if other not in asked:
                found[other] = max(share, found.get(other, 0.0))
    return found


@cache
def _groups() -> dict[str, dict[str, float]]:
    """Search word → those of its groups. A compound is found by its parts, and asks for none: a
    part of it means something else."""
    text = (files("naisei.japanese") / "work_synonyms.txt").read_text(encoding="utf-8")
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        group = [] if line.startswith("#") else line.split()
        forms = [tuple(dict.fromkeys(search_tokens(word))) for word in group]
        for form in forms:
            if len(form) != 1:
                continue
            mine = found.setdefault(form[0], {})
            for other in forms:
                for part in other:
                    if part != form[0]:
                        mine[part] = max(1 / len(other), mine.get(part, 0.0))
    return found
