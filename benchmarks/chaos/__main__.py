"""`python -m benchmarks.chaos`: see the package."""

from __future__ import annotations

import argparse
import importlib
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.attack.base import Attempt, Tally
from benchmarks.chaos.fire import Case, Fell, Ground

_MODULES = ("runs", "disks", "flips", "databases", "clusters", "servers")
_CLAIMS = ("LOST", "PAID TWICE", "SILENTLY WRONG", "BROKEN")


def _kinds() -> tuple[dict[str, Case], dict[str, str]]:
    """Those that can be tried here; of the others, what they need."""
    kinds: dict[str, Case] = {}
    missing: dict[str, str] = {}
    for name in _MODULES:
        module = importlib.import_module(f"benchmarks.chaos.{name}")
        for kind, case in module.KINDS.items():
            if why := getattr(module, "NEEDS", {}).get(kind, str)():
                missing[kind] = why
            else:
                kinds[kind] = case
    return kinds, missing


def _tried(case: Case, seed: str, ground: Ground, kind: str) -> Iterator[Attempt]:
    folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=ground.folder))
    try:
        yield from case(random.Random(seed), ground, folder)
    except Fell as fell:
        yield Attempt(kind, fell.outcome, True, fell.why)
    except Exception as error:
        yield Attempt(kind, "BROKEN", True, f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--hours", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", metavar="KIND/N", help="only this one")
    given = parser.parse_args()
    kinds, missing = _kinds()
    wanted = [given.case.partition("/")[0]] if given.case else given.kinds or list(kinds)
    for kind in wanted:
        if kind not in kinds:
            there = ", ".join([*kinds, *missing])
            parser.error(missing.get(kind) or f"no kind {kind}; there are {there}")
    tally, number = Tally(), int(given.case.partition("/")[2]) if given.case else 0
    until = time.monotonic() + given.hours * 3600
    with tempfile.TemporaryDirectory(prefix="naisei-chaos-") as folder, ExitStack() as stack:
        ground = Ground(Path(folder), stack)
        while time.monotonic() < until:
            for kind in wanted:
                if time.monotonic() > until:
                    break
                replay = f"python -m benchmarks.chaos --seed {given.seed} --case {kind}/{number}"
                seed = f"{given.seed} {kind} {number}"
                tally.add(_tried(kinds[kind], seed, ground, kind), replay)
            number += 1
            if given.case:
                break
    tally.show()
    for kind, why in missing.items():
        print(f"   {kind:32} left out: {why}")
    fell = ", ".join(f"{tally.fell[claim]} {claim.lower()}" for claim in _CLAIMS)
    print(f"{len(tally)} cases of {len(wanted)} kinds: {fell}")
    print(tally.line(seed=given.seed, hours=given.hours))
    return int(bool(tally.fell))


if __name__ == "__main__":
    sys.exit(main())
