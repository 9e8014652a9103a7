"""A disk that is full, of its own size in a mount namespace; a limit on files; a disk that is
read only; and each statement of a log refused, or the last thing that its process did.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks.attack import faults, kills
from benchmarks.attack.base import Attempt
from benchmarks.chaos.fire import Case, Fell, Fire, Ground, environment
from benchmarks.chaos.runs import killed

#: KiB that a whole run of `Fire` takes, more or less.
_WHOLE = 700


@cache
def _namespaces() -> bool:
    """Whether a process may mount what only it sees."""
    if shutil.which("unshare") is None:
        return False
    mount = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


def full(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """The run lies on a disk of a drawn size, then on a larger one."""
    size = rng.randrange(24, _WHOLE)
    with Fire(ground, folder) as fire:
        if not _namespaces():
            fire.ended(fire.start("--file-size", str(size * 1024)))
            kind = "file size limit"
        else:
            _on_a_small_disk(fire, folder, size)
            kind = "disk full"
        fire.blow()
        fire.finish()
        yield Attempt(kind, fire.outcome())


def _on_a_small_disk(fire: Fire, folder: Path, size: int) -> None:
    disk, code = folder / "disk", folder / "code"
    disk.mkdir()
    script = (
        'mount -t tmpfs -o size="$1"k none "$2" && shift 2 && place=$1 && out=$2 && code=$3 &&'
        ' shift 3 && { "$@"; echo $? > "$code"; };'
        ' if [ -e "$place" ]; then cp -a "$place" "$out"; fi'
    )
    command = fire.command(run=disk / "run")
    process = subprocess.Popen(
        ["unshare", "-rm", "sh", "-c", script, "sh", str(size), str(disk), str(disk / "run"),
         str(fire.run), str(code), *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    if fire.ended(process) != 0:
        return
    _exit(fire, int(code.read_text()), process)


def _exit(fire: Fire, code: int, process: subprocess.Popen[str]) -> None:
    """What the command within the namespace came to."""
    assert process.stderr is not None
    if code == 0:
        return
    if code != 2:
        raise Fell("BROKEN", f"exit {code} on a full disk")
    fire.told.append("on a full disk")


def read_only(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """A run that was killed is looked at, and gone on with, where nothing can be written."""
    with Fire(ground, folder) as fire:
        killed(rng, fire, 1)
        if fire.run.exists():
            fire.settle()
            before, logged = fire.paid, fire.logged()
            script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
            process = subprocess.Popen(
                ["unshare", "-rm", "sh", "-c", script, "sh", str(fire.run), *fire.command()],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(),
            )  # fmt: skip
            if fire.ended(process) == 0 and not (fire.run / "results.jsonl").exists():
                raise Fell("SILENTLY WRONG", "it says that it is done, and wrote nothing")
            if fire.paid != before or fire.logged() != logged:
                raise Fell("PAID TWICE", "calls were made that could not be written down")
        fire.finish()
        yield Attempt("read only", fire.outcome())


def statement(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Ten faults at statements of a log, in this process; see `benchmarks.attack.faults`."""
    number = ground.once("statements", faults.statements)
    for _ in range(10):
        name = rng.choice(list(faults.FAULTS))
        undoes = name != "busy" and rng.random() < 0.5
        fault = faults.Fault(name, rng.randrange(number), rng.choice((1, 4)), undoes=undoes)
        why = faults.tried(fault)
        kind = f"{name} at a statement"
        yield Attempt(kind, "BROKEN" if why else "told", bool(why), f"{fault}: {why}")


def kill(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """A writer killed at its statements; see `benchmarks.attack.kills`."""
    for attempt in kills.attack(rng, 3.0):
        outcome = "LOST" if attempt.fell else "held"
        yield Attempt(attempt.kind, outcome, attempt.fell, attempt.note)


def _missing() -> str:
    return "" if _namespaces() else "no mount namespaces here"


KINDS: dict[str, Case] = {
    "full": full,
    "read-only": read_only,
    "statement": statement,
    "kill": kill,
}
NEEDS = {"read-only": _missing}
