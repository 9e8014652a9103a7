"""Bounds that are promised for the worst of inputs, in seconds of processor time on one core.

    python benchmarks/bounds.py

Prints a line a case: the best of three, the bound, and what was measured. Fails (exit code 1)
if a bound is missed. Inputs are those that the tests read for what comes out of them.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# In place of this folder, whose `director.py` is another.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from director.long_lines import long_lines
from naisei.core import Event, Usage, Where
from naisei.director import check
from naisei.retrieval.load import parsed
from naisei.retrieval.types import LIMITS, Unreadable
from naisei.runs.log import RunLog
from retrieval.slow_files import SLOW
from textgame.test_planner import play, two_hundred_rooms
from textgame.test_tidy import played, twenty_rooms
from textgame.toy_kitchen import ToyKitchen

DECISION_S = 1 / 50


@dataclass(frozen=True)
class Case:
    """bound: seconds that `work` may take, divided by what it returns (how much was done)."""

    name: str
    bound: float
    work: Callable[[], int]


def spent() -> float:
    """Seconds of processor time of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def best(case: Case) -> float:
    """Seconds of the fastest of three times."""
    found = []
    for _ in range(3):
        began = spent()
        done = case.work()
        found.append((spent() - began) / done)
    return min(found)


def start_up() -> int:
    subprocess.run([sys.executable, "-m", "naisei", "--help"], check=True, capture_output=True)
    return 1


def judged(line: str, character: str) -> int:
    check(line, character=character)
    return 1


def read(name: str, text: str) -> int:
    with contextlib.suppress(Unreadable):
        parsed(name, text.encode(), LIMITS)
    return 1


def cooked(kitchen: Callable[[], ToyKitchen]) -> int:
    return len(play(kitchen(), steps=2000).steps)


def house(*, named: bool) -> ToyKitchen:
    """210 rooms: the cook book in one corner, what it asks for in two others. named: each room has
    a name of its own; else all are corridors."""
    rooms = {(x, y): f"Room {x} {y}" if named else "Corridor" for x in range(14) for y in range(15)}
    return ToyKitchen(
        rooms=rooms | {(0, 0): "Kitchen"},
        doors={},
        things={"cookbook": (0, 0), "knife": (13, 14), "carrot": (13, 0)},
        inside={},
        containers={},
        appliances={"stove": (0, 0), "oven": (0, 0)},
        needs={"carrot": ("diced", "fried")},
        states={"carrot": ("", "")},
        hands=3,
        here=(7, 7),
        kitchen=(0, 0),
    )


def tidied() -> int:
    return len(played(twenty_rooms(), steps=60).steps)


def appended() -> int:
    usage = Usage("agent", "m", 1, 1, 500, 50, 0.001)
    with tempfile.TemporaryDirectory() as folder:
        log = RunLog(Path(folder) / "log.sqlite")
        for i in range(1000):
            said = [{"content": "長い指示" * 300}, {"content": f"{i}" + "状況" * 300}]
            where = Where(f"{i // 5}", 0, (i,))
            log.append(Event(where, "chat", "d", {"messages": said}, {"a": 1}, None, usage))
        log.close()
    return 1000


def cases() -> Iterator[Case]:
    yield Case("naisei --help", 0.5, start_up)
    for line in long_lines(1_000_000):
        for character in ("yana", "ayu"):
            name = f"a megabyte of {line[:6]!r}…{line[-3:]!r} judged for {character}"
            yield Case(name, 1.0, partial(judged, line, character))
    for name, text in SLOW.items():
        yield Case(
            f"{name} read", 5.0 if name.startswith("a.html") else 3.0, partial(read, name, text)
        )
    yield Case("an event logged", 0.5e-3, appended)
    yield Case(
        "a decision in a kitchen of 225 rooms", DECISION_S, partial(cooked, two_hundred_rooms)
    )
    for named in (True, False):
        name = f"a decision among 210 rooms{'' if named else ', all alike'}"
        yield Case(name, DECISION_S, partial(cooked, partial(house, named=named)))
    yield Case("a decision in twenty untidy rooms", DECISION_S, tidied)


def main() -> int:
    missed = 0
    for case in cases():
        found = best(case)
        missed += found > case.bound
        print(f"{found:.4f} s of {case.bound:g}{' MISSED' * (found > case.bound)}  {case.name}")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
