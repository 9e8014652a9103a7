"""`python -m benchmarks.attack`: see the package."""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import time
from collections import Counter

PARTS = (
    "flips", "faults", "crafted", "kills", "commands", "talks", "documents", "endpoints", "web",
    "traps",
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
        counts: Counter[tuple[str, str]] = Counter()
        began = time.process_time()
        for attempt in attack(random.Random(f"{given.seed} {name}"), given.seconds / len(parts)):
            counts[attempt.kind, attempt.outcome] += 1
            if attempt.fell:
                fell += 1
                print(
                    f"FELL {name}: {attempt.kind}: {attempt.outcome}: {attempt.note[:300]}",
                    flush=True,
                )
        print(
            f"── {name}: {sum(counts.values())} attempts, {time.process_time() - began:.0f} s CPU"
        )
        for (kind, outcome), n in sorted(counts.items()):
            print(f"   {kind:32} {outcome:24} {n:6}", flush=True)
    print(json.dumps({"seed": given.seed, "parts": parts, "fell": fell}))
    return int(bool(fell))


if __name__ == "__main__":
    sys.exit(main())
