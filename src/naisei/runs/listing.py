"""The runs under a folder, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from naisei.core import InputError
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen
from naisei.runs.lock import locked

__all__ = ["Listed", "runs", "text"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a list. state: `done`, `running`, `stopped`, or `broken` (then `note` says why)."""

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

    def to_json(self) -> dict[str, JsonValue]:
        return asdict(self)


def runs(root: Path) -> list[Listed]:
    """The runs directly under a folder; none if there is no such folder."""
    found = [_listed(config.parent) for config in root.glob("*/config.json")]
    return sorted(found, key=lambda run: run.created, reverse=True)


def _listed(path: Path) -> Listed:
    try:
        frozen = Frozen.read(path / "config.json")
        with RunDirectory.look(path) as directory:
            scored, failed, _ = directory.log.counts()
            ledger = directory.log.ledger()
            total = directory.log.get("episodes")
    except InputError as error:
        return Listed(str(path), "", "", "broken", note=error.message)
    total = total if isinstance(total, int) else 0
    state = "running" if locked(path) else "done" if total and scored == total else "stopped"
    return Listed(
        path=str(path),
        system=frozen.system,
        created=frozen.created,
        state=state,
        scored=scored,
        failed=failed,
        total=total,
        tokens=ledger.tokens,
        usd=ledger.usd,
    )


def text(found: Sequence[Listed]) -> str:
    """One line a run."""
    head = ("run", "started", "state", "scored", "unscored", "tokens", "$")
    rows = [
        (
            run.path,
            run.created.replace("T", " ")[:16],
            f"{run.state}: {run.note}" if run.note else run.state,
            f"{run.scored}/{run.total}",
            str(run.failed),
            f"{run.tokens:,}",
            "?" if run.usd is None else f"{run.usd:.4f}",
        )
        for run in found
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )
