"""What the log of a run is to everybody else: the protocol of a store.

`RunLog` keeps a log in a file, `PostgresLog` in a database; `naisei.testing.StoreKit` holds any
other one to the same promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from pydantic import JsonValue

from naisei.core import Event, Usage
from naisei.runs.integrity import Findings
from naisei.runs.ledger import Ledger
from naisei.runs.task import EpisodeRow


class Store(Protocol):
    """Events, outcomes, costs and notes of one run.

    Every method that writes returns when what it wrote outlives a killed process, and writes all
    of it or nothing. Several objects and processes may have one log open: what one wrote, the
    others read.

    Raises:
        InputError: from any method: the log is damaged, or cannot be read or written.
        LogBusy: somebody else writes; nothing was stored, and another try may succeed.
    """

    def append(self, event: Event) -> None:
        """Raises `EpisodeBusy` if the log has an event of this episode and path."""
        ...

    def read(self, episode: str) -> list[Event]:
        """The events of an episode, equal to those appended, in the order they were appended."""
        ...

    def writing(self, episode: str) -> AbstractContextManager[None]:
        """Within, nobody else writes the episode. Raises `EpisodeBusy`, at once, if somebody
        does; ends with the process."""
        ...

    def finish(self, row: EpisodeRow, lost: Iterable[Usage] = ()) -> None:
        """Store an episode's outcome, in place of an earlier one. lost: what failed effects cost
        that left no event; it stays counted."""
        ...

    def rows(self) -> dict[str, EpisodeRow]:
        """Outcomes by episode, each with what it cost."""
        ...

    def result(self, episode: str) -> JsonValue:
        """The result of an episode; `None` while it is not scored."""
        ...

    def counts(self) -> tuple[int, int, int]:
        """Scored episodes, failed episodes, events."""
        ...

    def known_episodes(self) -> list[str]:
        """Every episode of which anything was recorded, sorted."""
        ...

    def ledger(self) -> Ledger:
        """What the run has cost so far, lost calls included."""
        ...

    def get(self, key: str) -> JsonValue:
        """A note kept with the run; `None` if there is none of this name."""
        ...

    def put(self, key: str, value: JsonValue) -> None:
        """Keep a note, in place of an earlier one."""
        ...

    def erase(
        self,
        *,
        instances: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        requests: str = "",
    ) -> None:
        """Take away what was recorded of these instances, and notes by key or prefix."""
        ...

    def verified(self) -> Findings:
        """All of it held against its digests. Writes nothing."""
        ...

    def close(self) -> None:
        """Afterwards the object cannot be used; the log stays."""
        ...
