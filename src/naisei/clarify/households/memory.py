"""What is kept of a household between requests, by four policies.

`none` keeps nothing; `reflexion` the last three requests; `tur` one memo of bounded length in which
a newer line takes the place of an older one for the same person and action; `stream` all of them,
recalled as the situation asks for them (`naisei.memory.stream`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from naisei.clarify.schemas import Past
from naisei.core import InputError
from naisei.lang import say
from naisei.memory.entry import Entry
from naisei.memory.stream import Stream

Vector = npt.NDArray[np.float32]
#: Requests that `reflexion` keeps, lines of `tur`'s memo, requests that `stream` recalls.
WINDOW, LINES, RECALLED = 3, 12, 6
_START = datetime(2026, 1, 1)


class HomeMemory:
    """Keeps nothing; the others build on it. It is the fold of what was remembered."""

    name = "none"
    #: Whether a search needs the vector of the situation.
    searches = False

    def __init__(self) -> None:
        self.kept: list[Past] = []

    def add(self, item: JsonValue) -> None:
        """Fold in one request, a `Past` as JSON."""

    def recall(
        self, situation: str, vector: Vector | None, *, n: int, day: int
    ) -> tuple[Past, ...]:
        """What comes to mind in a situation, at request n of a day, oldest first."""
        return tuple(self.kept)


class _Window(HomeMemory):
    name = "reflexion"

    def add(self, item: JsonValue) -> None:
        self.kept = [*self.kept, Past.model_validate(item)][-WINDOW:]


class _Memo(HomeMemory):
    name = "tur"

    def add(self, item: JsonValue) -> None:
        new = Past.model_validate(item)
        others = [p for p in self.kept if (p.person, p.right) != (new.person, new.right)]
        self.kept = [*others, new][-LINES:]


class _Searched(HomeMemory):
    name = "stream"
    searches = True

    def __init__(self) -> None:
        super().__init__()
        self._stream = Stream()

    def add(self, item: JsonValue) -> None:
        new = Past.model_validate(item)
        at = len(self.kept)
        self.kept.append(new)
        entry = Entry(
            id=str(at),
            time=_START + timedelta(days=new.day, minutes=30 * new.n),
            speaker=new.person,
            text=new.situation,
            # A wish that was hard to find is worth remembering.
            importance=min(10, 3 + 2 * len(new.wrong) + new.questions),
        )
        self._stream.append(entry, np.array(new.vector) if new.vector else None)

    def recall(
        self, situation: str, vector: Vector | None, *, n: int, day: int
    ) -> tuple[Past, ...]:
        if not self.kept:
            return ()
        now = _START + timedelta(days=day, minutes=30 * n)
        asked = None if vector is None else vector[None, :]
        found = self._stream.find([situation], asked, now=now, k=RECALLED)
        return tuple(self.kept[i] for i in sorted(int(s.entry.id) for s in found))


_POLICIES: Mapping[str, Callable[[], HomeMemory]] = {
    p.name: p for p in (HomeMemory, _Memo, _Window, _Searched)
}
NAMES = tuple(_POLICIES)


def home_memory(name: str) -> HomeMemory:
    """An empty memory of a policy.

    Raises:
        InputError: unknown name.
    """
    if name not in _POLICIES:
        raise InputError(
            say(f"記憶の方式 '{name}' はありません", f"there is no memory '{name}'"),
            place="--memory",
            remedy=say(f"使えるもの: {'、'.join(NAMES)}", f"use one of {', '.join(NAMES)}"),
        )
    return _POLICIES[name]()
