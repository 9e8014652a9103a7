"""Everyday words at work and those that rules have for them: ボーナス and 賞与, 辞める and 退職.

People ask in the ones and documents are written in the others. The list is this project's own,
of the language of Japanese offices, not of any one company.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from naisei.japanese.search_tokens import search_tokens

__all__ = ["related", "synonyms"]

#: The search words of a word: several for a compound.
Form = tuple[str, ...]


def synonyms(words: Iterable[str]) -> dict[Form, tuple[Form, ...]]:
    """Words of the list that these search words contain, each with the others of its groups.

    >>> synonyms(["ボーナス"])
    {('ボーナス',): (('賞与',),)}
    """
    asked = dict.fromkeys(words)
    return {
        form: others
        for word in asked
        for form, others in _groups().get(word, {}).items()
        if all(part in asked for part in form)
    }


def related(words: Iterable[str]) -> dict[str, float]:
    """Search words that may stand for these search words, themselves aside, each with how well it
    does: 1, or less for a part of a compound (1 / the number of its parts).

    >>> related(["ボーナス"])
    {'賞与': 1.0}
    """
    asked = dict.fromkeys(words)
    found: dict[str, float] = {}
    for others in synonyms(asked).values():
        for other in others:
            for part in other:
                if part not in asked:
                    found[part] = max(1 / len(other), found.get(part, 0.0))
    return found


@cache
def _groups() -> dict[str, dict[Form, tuple[Form, ...]]]:
    """First search word of a form → forms → the others of their groups. A compound asks for its
    synonyms as a whole: a part of it means something else."""
    text = (files("naisei.japanese") / "work_synonyms.txt").read_text(encoding="utf-8")
    found: dict[str, dict[Form, tuple[Form, ...]]] = {}
    for line in text.splitlines():
        group = [] if line.startswith("#") else line.split()
        forms = dict.fromkeys(tuple(dict.fromkeys(search_tokens(word))) for word in group)
        for form in filter(None, forms):
            others = found.setdefault(form[0], {})
            more = [other for other in forms if other and other != form]
            others[form] = tuple(dict.fromkeys([*others.get(form, ()), *more]))
    return found
