"""The runs under a folder, newest first; those of a study stand together under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from naisei.core import InputError
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen
from naisei.runs.lock import locked

__all__ = ["Found", "Listed", "found", "looked_at", "runs", "text"]


@dataclass(frozen=True, slots=True)
class Found:
    """A run as its config alone tells it: quick to read. broken: why it cannot be read.

    study: the folder of the study that it belongs to.
    """

    path: Path
    system: str = ""
    created: str = ""
    study: Path | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a list. state: `done`, `running`, `stopped`, or `broken` (then `note` says why).

    study: the folder of the study that it belongs to, or empty.
    """

    path: str
    system: str
    created: str
    state: str
    scored: int = 0
    failed: int = 0
    total: int = 0
    tokens: int = 0
    usd: float | None = None
    note: str = ""
    study: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        return asdict(self)


def runs(root: Path) -> list[Listed]:
    """The runs under a folder and in the studies under it; none if there is no such folder.

    A study is a folder that is no run itself and holds one at least that can be read. Its
    runs keep together, at the place of the newest.
    """
    return [looked_at(run) for run in found(root)]


def found(root: Path) -> list[Found]:
    """As `runs`, without a look at the logs."""
    alone = [[_found(config.parent)] for config in root.glob("*/config.json")]
    of_study: dict[Path, list[Found]] = {}
    for config in root.glob("*/*/config.json"):
        study = config.parent.parent
        if not (study / "config.json").exists():
            of_study.setdefault(study, []).append(_found(config.parent, study))
    studies = [g for g in of_study.values() if any(not run.broken for run in g)]
    groups = [*alone, *map(_newest_first, studies)]
    groups.sort(key=lambda group: group[0].created, reverse=True)
    return [run for group in groups for run in group]


def _newest_first(group: list[Found]) -> list[Found]:
    return sorted(group, key=lambda run: run.created, reverse=True)


def _found(path: Path, study: Path | None = None) -> Found:
    try:
        frozen = Frozen.read(path / "config.json")
    except InputError as error:
        return Found(path, study=study, broken=error.message)
    return Found(path, frozen.system, frozen.created, study)


def looked_at(run: Found) -> Listed:
    """The run with what its log says of it."""
    path, study = str(run.path), str(run.study or "")
    if run.broken:
        return Listed(path, "", "", "broken", note=run.broken, study=study)
    try:
        with RunDirectory.look(run.path) as directory:
            scored, failed, _ = directory.log.counts()
            ledger = directory.log.ledger()
            total = directory.log.get("episodes")
    except InputError as error:
        return Listed(path, "", "", "broken", note=error.message, study=study)
    total = total if isinstance(total, int) else 0
    state = "running" if locked(run.path) else "done" if total and scored == total else "stopped"
    return Listed(
        path=path,
        system=run.system,
        created=run.created,
        state=state,
        scored=scored,
        failed=failed,
        total=total,
        tokens=ledger.tokens,
        usd=ledger.usd,
        study=study,
    )


def text(listed: Sequence[Listed]) -> str:
    """One line a run; those of a study are set in under a line of its own."""
    head = ("run", "started", "state", "scored", "unscored", "tokens", "$")
    rows = []
    study = ""
    for run in listed:
        if run.study and run.study != study:
            rows.append((f"{run.study}/", *("" for _ in head[1:])))
        study = run.study
        rows.append(_row(run))
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def _row(run: Listed) -> tuple[str, ...]:
    return (
        f"  {Path(run.path).name}" if run.study else run.path,
        run.created.replace("T", " ")[:16],
        f"{run.state}: {run.note}" if run.note else run.state,
        f"{run.scored}/{run.total}",
        str(run.failed),
        f"{run.tokens:,}",
        "?" if run.usd is None else f"{run.usd:.4f}",
    )
