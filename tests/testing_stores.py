"""Stores for the conformance kit, importable by other processes: ours, and broken ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from naisei.core import EpisodeBusy, Event, Usage
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow


def in_a_file(place: Path, *, kind: type[RunLog] = RunLog, read_only: bool = False) -> RunLog:
    return kind(place / "log.sqlite", read_only=read_only)


def in_a_database(address: str, place: Path, *, read_only: bool = False) -> RunLog:
    from naisei.runs.postgres import postgres_log

    return postgres_log(address, place.name, place=place / "store.json", read_only=read_only)


class Late(RunLog):
    """Says that an event is stored while it still is in memory."""

    def append(self, event: Event) -> None:
        self.held: list[Event] = [*getattr(self, "held", []), event]
        if len(self.held) == 3:
            self._flushed()

    def read(self, episode: str) -> list[Event]:
        return [*super().read(episode), *(e for e in self._mine() if e.where.episode == episode)]

    def close(self) -> None:
        self._flushed()
        super().close()

    def _mine(self) -> list[Event]:
        return getattr(self, "held", [])

    def _flushed(self) -> None:
        while self._mine():
            super().append(self.held.pop(0))


class Sorted(RunLog):
    """Gives events in the order of their paths."""

    def read(self, episode: str) -> list[Event]:
        return sorted(super().read(episode), key=lambda event: event.where.path)


class Forgiving(RunLog):
    """Drops a second event of one step without a word."""

    def append(self, event: Event) -> None:
        try:
            super().append(event)
        except EpisodeBusy:
            return


class Open(RunLog):
    """Lets everybody write an episode."""

    @contextmanager
    def writing(self, episode: str) -> Iterator[None]:
        yield


class Generous(RunLog):
    """Forgets what failed calls cost."""

    def finish(self, row: EpisodeRow, lost: Iterable[Usage] = ()) -> None:
        super().finish(row)


class Rounding(RunLog):
    """Gives events back almost as they were."""

    def read(self, episode: str) -> list[Event]:
        return [replace(event, seconds=round(event.seconds, 2)) for event in super().read(episode)]


BROKEN: tuple[type[RunLog], ...] = (Late, Sorted, Forgiving, Open, Generous, Rounding)


def broken(kind: type[RunLog]) -> Any:
    return partial(in_a_file, kind=kind)
