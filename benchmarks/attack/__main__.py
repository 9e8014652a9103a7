"""`python -m benchmarks.attack`: see the package."""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time

from benchmarks.attack.base import Tally

PARTS = (
    "flips", "faults", "crafted", "kills", "commands", "talks", "documents", "endpoints", "web",
    "structures", "further", "traps",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seconds", type=float, default=300, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    parts = given.parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {sorted(unknown)[0]}; there are {', '.join(PARTS)}")
    fell = 0
    for name in parts:
        attack = importlib.import_module(f"benchmarks.attack.{name}").attack
        tally, seconds = Tally(), given.seconds / len(parts)
        began = time.process_time()
        replay = f"python -m benchmarks.attack {name} --seed {given.seed} --seconds {seconds:.0f}"
        tally.add(attack(random.Random(f"{given.seed} {name}"), seconds), replay)
        print(f"── {name}: {len(tally)} attempts, {time.process_time() - began:.0f} s CPU")
        tally.show()
        fell += tally.fell.total()
    print(f'{{"seed": {given.seed}, "parts": {len(parts)}, "fell": {fell}}}')
    return int(bool(fell))


if __name__ == "__main__":
    sys.exit(main())
