"""Drivers killed, endpoints at fault, clocks that jump, several writers at once."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attack.base import Attempt
from benchmarks.chaos.fire import Case, Endpoint, Fell, Fire, Ground
from benchmarks.chaos.work import CONCURRENCY
from servers.faults import KINDS as FAULTS
from servers.faults import Faults


def killed(rng: random.Random, fire: Fire, times: int, *options: str) -> None:
    """Started and killed at drawn moments, `times` times, unless it ends before."""
    for moment in sorted(rng.sample(range(fire.total - 8), times)):
        process = fire.start(*options)
        if not fire.reached(process, moment):
            if fire.ended(process) == 0:
                return
            continue
        time.sleep(rng.random() * 0.02)  # any moment will do
        fire.kill(process)


def driver(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    with Fire(ground, folder) as fire:
        killed(rng, fire, rng.randint(1, 3))
        fire.finish()
        yield Attempt("driver killed", fire.outcome())


def endpoint(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Faults of an endpoint; it may be gone for a while; the driver may be killed, too."""
    some = rng.sample(FAULTS, rng.randint(1, len(FAULTS)))
    faults = Faults(rng.uniform(0.1, 0.5), tuple(some), seed=rng.randrange(2**32), most=3)
    with Fire(ground, folder, endpoint=Endpoint(faults)) as fire:
        if rng.random() < 0.5:
            killed(rng, fire, 1)
        if rng.random() < 0.3:
            _gone(rng, fire)
        fire.finish()
        yield Attempt("endpoint at fault", fire.outcome())


def _gone(rng: random.Random, fire: Fire) -> None:
    """The endpoint ends in the middle; episodes that fail of it are no results."""
    process = fire.start()
    if not fire.reached(process, fire.paid + rng.randrange(1, 30)):
        fire.ended(process)
        return
    old = fire.endpoint
    port = int(old.url.removesuffix("/v1").rpartition(":")[2])
    old.__exit__(None, None, None)
    process.communicate()
    fire.endpoint = Endpoint(port=port)
    fire.endpoint.paid.update(old.paid)
    fire.endpoint.__enter__()
    fire.blow()


def clock(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """The day jumps by years while it runs, and times of files between."""
    with Fire(ground, folder) as fire:
        for _ in range(rng.randint(1, 2)):
            killed(rng, fire, 1, "--clock", str(rng.randrange(2**32)))
            for path in fire.run.glob("*"):
                at = time.time() + rng.uniform(-1, 1) * 3e8
                os.utime(path, (at, at))
        fire.finish()
        yield Attempt("clock jumps", fire.outcome())


def writers(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Three processes want the same run; the one that has it may be killed."""
    with Fire(ground, folder) as fire:
        for _ in range(rng.randint(1, 2)):
            processes = []
            for _ in range(3):
                processes.append(fire.start())
                time.sleep(rng.random() * 0.3)
            going = True
            if rng.random() < 0.7:
                moment = min(fire.paid + rng.randrange(1, 40), fire.total - 8)
                going = fire.reached(processes[-1], moment) or fire.paid >= moment
                chosen = rng.choice(processes)
                chosen.kill()
                chosen.communicate()
                processes.remove(chosen)
            codes = [fire.ended(process) for process in processes]
            # One may begin when the other has ended, after a third was killed: then nobody is told,
            # and what was in flight is asked again.
            over = fire.paid - len(fire.endpoint.paid)
            if going and codes == [0, 0] and not fire.told and over > CONCURRENCY * 2:
                raise Fell("PAID TWICE", "two processes worked on one run")
            fire.blow()
        fire.told = [line for line in fire.told if "another process" not in line]
        fire.finish()
        yield Attempt("several writers", fire.outcome())


def moved(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """The directory is copied between kills; the copy goes on, and the old one is as it was."""
    with Fire(ground, folder) as fire:
        killed(rng, fire, 1)
        old = fire.run
        if old.exists():
            fire.run = folder / "copy"
            shutil.copytree(old, fire.run)
            before = {path.name: path.read_bytes() for path in old.iterdir()}
            fire.finish()
            if before != {path.name: path.read_bytes() for path in old.iterdir()}:
                raise Fell("SILENTLY WRONG", "the copy's run changed the directory it came from")
        else:
            fire.finish()
        yield Attempt("directory copied", fire.outcome())


KINDS: dict[str, Case] = {
    "driver": driver,
    "endpoint": endpoint,
    "clock": clock,
    "writers": writers,
    "moved": moved,
}
