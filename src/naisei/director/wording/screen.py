"""Which of many patterns can match a line at all, by the characters and pairs it has.

Most lines hold none of the expressions that are looked for. From each pattern the pieces are
read that every match must hold one of; a line without them is not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from importlib import import_module
from operator import add, or_
from typing import Any

from naisei.lengths import cached_text

#: The standard library's own reading of a pattern: (operation, argument) pairs.
_parse: Any = import_module("re._parser").parse
#: So many sets are kept of a pattern, those that are rarest in a line.
_SETS = 3
#: A class of more characters than these tells nothing.
_MOST = 40
#: Single characters and pairs of neighbours.
Needed = frozenset[str]


class Screen:
    """Patterns by number, in the order given. A pattern may have several alternatives.

    >>> list(Screen(["別居|一人暮らし", "姉(?:様|さん)?"]).of("一人で暮らしています"))
    [0]
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._owner: list[int] = []
        needs: list[list[Needed]] = []
        for number, pattern in enumerate(patterns):
            for alternative in _alternatives(_parse(pattern)):
                self._owner.append(number)
                needs.append(sorted(_needed(alternative), key=_weight)[:_SETS])
        self._count = count = len(needs)
        self._always = 0
        self._bits: dict[str, int] = {}
        for at, sets in enumerate(needs):
            for place in range(_SETS):
                bit = 1 << (place * count + at)
                if place >= len(sets):
                    self._always |= bit
                    continue
                for one in sets[place]:
                    self._bits[one] = self._bits.get(one, 0) | bit
        self._all = (1 << count) - 1
        self._pairs = frozenset(one for one in self._bits if len(one) > 1)
        self._single = frozenset(self._bits) - self._pairs

    def _matching(self, text: str) -> int:
        known = (self._pairs & neighbours(text)) | self._single.intersection(text)
        met = reduce(or_, map(self._bits.__getitem__, known), self._always)
        both = met
        for place in range(1, _SETS):
            both &= met >> (place * self._count)
        return both & self._all

    def of(self, text: str) -> Iterator[int]:
        """Numbers of the patterns that may match, ascending."""
        found, last = self._matching(text), -1
        while found:
            low = found & -found
            found ^= low
            number = self._owner[low.bit_length() - 1]
            if number != last:
                yield number
            last = number


class Screens:
    """Several lists of patterns, screened at once."""

    def __init__(self, *lists: Sequence[str]) -> None:
        self._screen = Screen([pattern for patterns in lists for pattern in patterns])
        self._place = [(n, at) for n, patterns in enumerate(lists) for at in range(len(patterns))]
        self._lists = len(lists)

    def of(self, text: str) -> list[list[int]]:
        """Per list, the numbers of patterns that may match, ascending."""
        found: list[list[int]] = [[] for _ in range(self._lists)]
        for number in self._screen.of(text):
            which, at = self._place[number]
            found[which].append(at)
        return found


def branches(pattern: str) -> tuple[str, ...]:
    """The alternatives of an expression, each by itself.

    >>> branches("家|[|うち]|(?:駅|街)まで")
    ('家', '[|うち]', '(?:駅|街)まで')
    """
    found, depth, listed = [""], 0, False
    for one in re.findall(r"\\.|.", pattern):
        listed = one != "]" if listed else one == "["
        depth += 0 if listed else (one == "(") - (one == ")")
        if one == "|" and not depth and not listed:
            found.append("")
        else:
            found[-1] += one
    return tuple(found)


def _alternatives(parsed: Any) -> Iterator[Any]:
    if len(parsed) == 1:
        name, argument = str(parsed[0][0]), parsed[0][1]
        if name == "SUBPATTERN":
            yield from _alternatives(argument[-1])
            return
        if name == "BRANCH":
            for branch in argument[1]:
                yield from _alternatives(branch)
            return
    yield parsed


def _needed(parsed: Any) -> list[Needed]:
    """Sets of characters and pairs; every match holds one of each."""
    found: list[Needed] = []
    last = ""
    for operation, argument in parsed:
        name = str(operation)
        before, last = last, chr(argument) if name == "LITERAL" else ""
        if last:
            found.append(frozenset([before + last]))
        elif name == "IN":
            found += _class(argument)
        elif name == "SUBPATTERN":
            found += _needed(argument[-1])
        elif name == "ATOMIC_GROUP":
            found += _needed(argument)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0]:
            found += _needed(argument[2])
        elif name == "BRANCH":
            best = [min(_needed(branch), key=_weight, default=None) for branch in argument[1]]
            if all(best):
                found.append(frozenset().union(*(one for one in best if one)))
    return found


def _class(items: Any) -> list[Needed]:
    characters: set[str] = set()
    for operation, argument in items:
        if str(operation) == "LITERAL":
            characters.add(chr(argument))
        elif str(operation) == "RANGE" and argument[1] - argument[0] < _MOST:
            characters.update(map(chr, range(argument[0], argument[1] + 1)))
        else:
            return []
    return [frozenset(characters)]


def _weight(pieces: Needed) -> int:
    """Estimated frequency: kana and marks are common, kanji and pairs are not."""
    return sum(
        (1 if len(one) > 1 else 4) if max(one) >= "\u3400" else (8 if len(one) > 1 else 40)
        for one in pieces
    )


# Asked of a line once more by those that come after it.
@cached_text(256)
def neighbours(text: str) -> frozenset[str]:
    """The pairs of neighbouring characters of a text."""
    return frozenset(map(add, text, text[1:]))
