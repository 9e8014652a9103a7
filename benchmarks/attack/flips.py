"""Single bits flipped in the files of a run: exported the same, or told; never silently different.

Of a run that ended, and of one that was killed with much in its WAL.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attack.base import Attempt
from naisei.core import Event, InputError, Usage, Where
from naisei.runs.directory import RunDirectory
from naisei.runs.export import export_jsonl
from naisei.runs.frozen import Frozen
from naisei.runs.log import RunLog
from naisei.runs.repair import repaired
from naisei.runs.task import EpisodeRow

FILES = ("log.sqlite", "log.sqlite-wal", "log.sqlite.commits", "config.json")


def make_run(path: Path, episodes: int = 12, events: int = 8, *, killed: bool = False) -> None:
    """A run directory with a log of chats, acts and outcomes. killed: its WAL stays."""
    if killed:
        code = (
            "import os,sys; from pathlib import Path; from benchmarks.attack import flips;"
            f"flips.fill(Path(sys.argv[1]), {episodes}, {events}, close=False); os._exit(1)"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    else:
        fill(path, episodes, events, close=True)


def fill(path: Path, episodes: int, events: int, *, close: bool) -> None:
    """Write the run; without `close`, as a process does that will be killed."""
    path.mkdir(parents=True)
    frozen = Frozen(
        system="clarify",
        config={"agent": "random"},
        data_hash="d",
        naisei="0.1.0",
        python="3.11",
        libraries={},
        created="2026-01-01T00:00:00+00:00",
    )
    (path / "config.json").write_text(frozen.model_dump_json(indent=2), encoding="utf-8")
    log = RunLog(path / "log.sqlite", origin=frozen.digest)
    rules = "あなたは家庭の支援ロボットです。必ず短く答えてください。" * 12
    log.put("episodes", episodes)
    for i in range(episodes):
        if not close and i == episodes // 2:  # half of it in the file, half in its WAL
            log.close()
            log = RunLog(path / "log.sqlite", origin=frozen.digest)
        where = Where(f"物語{i}", 0)
        for n in range(events):
            asked = f"{i}-{n}: 居間で本を読んでいる。" * 12
            request = {"role": "agent", "messages": [{"role": "system", "content": rules}]}
            request["messages"].append({"role": "user", "content": asked})  # type: ignore[attr-defined]
            used = Usage("agent", "m", 1, 1, 100 + n, 5, 0.001, sent=({"request": asked},))
            kind = "act" if n % 4 == 3 else "chat"
            log.append(
                Event(where.at(n), kind, f"{n:016x}", request, f"はい{n}", None, used, 0.25)  # type: ignore[arg-type]
            )
        if i % 5 != 4:
            log.finish(EpisodeRow(where, {"steps": events, "words": ["お茶", f"{i}"]}))
    if close:
        log.close()


def exported(path: Path) -> str:
    """All of a run that is told of it, as `runs export --events` and more."""
    with RunDirectory.look(path) as run:
        alone = [str(run.log.read(name)) for name in run.log.known_episodes()]
        sent = [str(run.log.sent(name)) for name in run.log.known_episodes()]
        notes = [json.dumps(run.log.get("episodes")), str(run.log.counts())]
        spent = json.dumps(run.log.ledger().to_json())
        return "".join([*export_jsonl(run, events=True), *alone, *sent, *notes, spent])


def flip(path: Path, bit: int) -> None:
    """Turn one bit over, in place."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ (1 << bit % 8)]))


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        wholes = {}
        for name, killed in (("ended", False), ("killed", True)):
            whole = Path(folder) / name
            make_run(whole, killed=killed)
            wholes[name] = whole, exported(whole), [f for f in FILES if (whole / f).exists()]
        while time.monotonic() < until:
            name, (whole, expected, files) = rng.choice(list(wholes.items()))
            file = rng.choice(files)
            bit = rng.randrange((whole / file).stat().st_size * 8)
            at = Path(folder) / "flipped"
            shutil.copytree(whole, at)
            flip(at / file, bit)
            kind, note = f"{name} {file}", f"{file} bit {bit}"
            before = _content(at)
            try:
                outcome = "same" if exported(at) == expected else "SILENTLY DIFFERENT"
            except InputError as error:
                outcome, note = "told", f"{note}: {error}"
            except Exception as error:
                outcome, note = "crash", f"{note}: {type(error).__name__}: {error}"
            yield Attempt(kind, outcome, outcome not in ("same", "told"), note)
            if _content(at) != before:
                yield Attempt(kind, "looking left a trace", True, note)
            if outcome == "told" and rng.random() < 0.3:
                yield _repair(at, kind, expected, note)
            shutil.rmtree(at)


def _content(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


def _repair(path: Path, kind: str, expected: str, note: str) -> Attempt:
    """A repaired log is sound, and holds nothing that the whole one did not."""
    try:
        done = repaired(path)
        told = exported(path)
    except InputError as error:
        return Attempt(kind, "repair refused", False, f"{note}: {error}")
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return Attempt(kind, "repair crashed", True, f"{why}: {note}")
    strange = [line for line in told.splitlines() if '"events"' in line and line not in expected]
    if strange:
        return Attempt(kind, "repair silently different", True, note)
    outcome = "repaired, with losses" if done.again else "repaired whole"
    return Attempt(kind, outcome, False, note)
