"""Bits turned over: in the log, WAL and configuration of a run that was killed, which then
goes on; in logs that are read; and in an index of documents.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from benchmarks.attack import flips
from benchmarks.attack.base import Attempt
from benchmarks.chaos.fire import Case, Fire, Ground
from benchmarks.chaos.runs import killed
from naisei.core import InputError
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.store import FILE
from naisei.runs.repair import repaired
from servers.intent_server import DOCUMENTS


def resumed(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """A run is killed, a bit or a few are turned over, and the same command is given again. Where
    it tells, the run is repaired."""
    with Fire(ground, folder) as fire:
        killed(rng, fire, 1)
        files = [path for path in fire.run.glob("*") if path.is_file() and path.stat().st_size]
        if not files:
            return
        chosen = rng.choice(files)
        for _ in range(rng.choice((1, 1, 1, 8))):
            flips.flip(chosen, rng.randrange(chosen.stat().st_size * 8))
        code = fire.ended(fire.start())
        outcome = "held"
        if code != 0:
            outcome = "told"
            try:
                repaired(fire.run)
            except InputError:
                outcome = "told, not to be repaired"
            else:
                # What was changed there cannot be known; it is told again, and nothing is run.
                if chosen.name != "config.json" or fire.ended(fire.start()) == 0:
                    fire.finish(repaired=True)
        else:
            fire.judge()
        yield Attempt(f"flipped {chosen.name}, resumed", outcome)


def log(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Forty logs with a bit turned over are read; see `benchmarks.attack.flips`."""
    for attempt in islice(flips.attack(rng, 60.0), 40):
        outcome = "SILENTLY WRONG" if attempt.fell else "told"
        kind = f"flipped {attempt.kind.partition(' ')[2]}, read"
        if not attempt.fell and attempt.outcome == "same":
            outcome = "held"
        yield Attempt(kind, outcome, attempt.fell, f"{attempt.outcome}: {attempt.note}")


_QUERIES = (
    "休暇は何日前までに申請しますか",
    "結婚したときの休暇",
    "宿泊費の上限",
    "会議室",
    "看護",
)


def _found(directory: Path) -> str:
    """All that an index is asked for."""
    with closing(Index.open(directory, groups=None)) as index:
        told = [repr(index.search(q, k=20, mode=m)) for q in _QUERIES for m in ("hybrid", "bm25")]
        return "\n".join([*told, repr(index.outline())])


def _index(folder: Path) -> tuple[Path, str]:
    docs = folder / "docs"
    docs.mkdir()
    for name, text in DOCUMENTS.items():
        (docs / name).write_text(text, encoding="utf-8")
    build(folder / "index", docs, embedder="ngram")
    return folder / "index", _found(folder / "index")


def index(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Twenty indexes with a bit turned over are searched."""

    def make() -> tuple[Path, str]:
        place = ground.folder / "documents"
        place.mkdir()
        return _index(place)

    whole, expected = ground.once("index", make)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    # The rows are as much as all the arrays.
    weights = [len(files) if path.name == FILE else 1 for path in files]
    for n in range(20):
        at = folder / str(n)
        shutil.copytree(whole, at)
        (name,) = rng.choices(files, weights)
        size = (at / name).stat().st_size
        if not size:
            continue
        bit = rng.randrange(size * 8)
        flips.flip(at / name, bit)
        fell, note = False, f"{name} bit {bit}"
        try:
            outcome = "held" if _found(at) == expected else "SILENTLY WRONG"
        except InputError as error:
            outcome, note = "told", f"{note}: {error}"
        except Exception as error:
            outcome, note = "BROKEN", f"{note}: {type(error).__name__}: {error}"
        fell = outcome in ("SILENTLY WRONG", "BROKEN")
        yield Attempt(f"flipped {name.name} of an index", outcome, fell, note)
        shutil.rmtree(at)


KINDS: dict[str, Case] = {"flip": resumed, "flip-log": log, "flip-index": index}
