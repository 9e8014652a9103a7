"""What is kept of the commands so far: the newer ones whole, the older ones summarised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from naisei.textgame.llm.prompt import RIGHT_PLACE, WRONG_PLACE, placed

__all__ = ["Entry", "History", "is_reading", "lines", "summarised"]


# The commands given so far, as a prompt shows them; older ones folded once they grow long.
#
# Source: the text-game thesis, §§3.2.1 and 3.5.2 (which leaves the folding to later work).


@dataclass(frozen=True, slots=True)
class Entry:
    """One command. number: from 0. room, came_to: before and after it. word: what feedback
    augmentation added. gained: points."""

    number: int
    room: str
    came_to: str
    action: str
    answer: str
    word: str
    gained: int

    def __str__(self) -> str:
        return f"Action {self.number}: {self.action} → {' '.join((self.answer, self.word)).strip()}"


def lines(entries: Sequence[Entry]) -> str:
    """One line an entry."""
    return "\n".join(map(str, entries))


class History:
    """All commands of a game: a summary of the older ones and the newer ones in full.

    What was read (a recipe) stays word for word before the summary, whoever writes that.

    budget: characters that the whole may have; 0 for no limit. The text changes only at its end
    until it is folded, so that what a server has kept of a prompt stays good.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.summary = ""
        self.folded: tuple[Entry, ...] = ()
        self.recent: tuple[Entry, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.summary, lines(self.recent))))

    def add(self, entry: Entry) -> None:
        self.recent += (entry,)

    def due(self) -> tuple[Entry, ...]:
        """What has to be folded now: all but the newest that fit into a quarter of the budget.

        The newest is never folded. What stays leaves room to grow, so that folding is seldom.
        """
        if not self._budget or len(self.text) <= self._budget:
            return ()
        room, keep = self._budget // 4 - len(str(self.recent[-1])), 1
        for entry in reversed(self.recent[:-1]):
            room -= len(str(entry)) + 1
            if room < 0:
                break
            keep += 1
        return self.recent[:-keep]

    def fold(self, due: tuple[Entry, ...], summary: str) -> None:
        """Put `summary` in the place of the older summary and of what was `due`."""
        self.folded += due
        self.recent = self.recent[len(due) :]
        read = {e.action: f"{e.action} → {e.answer}" for e in self.folded if is_reading(e)}
        self.summary = _cut("\n".join([*read.values(), summary.strip()]), self._budget // 2)


def is_reading(entry: Entry) -> bool:
    """Whether the command reads something that says what is to be done."""
    return entry.action.startswith(("read ", "examine cookbook", "examine recipe"))


def _cut(text: str, limit: int) -> str:
    """At most `limit` characters, whole words."""
    return text if len(text) <= limit else text[:limit].rsplit(maxsplit=1)[0] + " …"


def summarised(entries: Sequence[Entry]) -> str:
    """The most important lines first: the end is what is cut where there is no room.

    Wrong and right places of things, as far as the player was told of them; other commands that
    earned points, where else things were put, the ways between rooms, commands that did no good.
    """
    told: dict[str, list[str]] = {RIGHT_PLACE: [], WRONG_PLACE: []}
    put: dict[str, str] = {}
    rest = []
    for entry in entries:
        if (pair := placed(entry.action)) is None or (entry.gained and not entry.word):
            rest.append(entry)
        elif entry.word in told:
            told[entry.word].append(": ".join(pair))
        else:
            put[pair[0]] = pair[1]
    parts = {
        "Wrong places": told[WRONG_PLACE],
        "Right places": told[RIGHT_PLACE],
        "Points for": [e.action for e in rest if e.gained > 0],
        "Put": [f"{thing}: {place}" for thing, place in put.items()],
        "Ways": [f"{e.room}, {e.action}: {e.came_to}" for e in rest if e.came_to != e.room],
        "No good": [e.action for e in rest if e.gained <= 0 and e.word],
    }
    shown = [f"{name}: {'; '.join(dict.fromkeys(items))}" for name, items in parts.items() if items]
    return "\n".join([f"Summary of actions 0 to {entries[-1].number}", *shown])
