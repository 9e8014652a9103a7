"""Tokens as in the paper's Table 3: for reflection and in total, per instance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from naisei.clarify.schemas import EpisodeResult
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Table

__all__ = ["NO_MODEL", "token_metrics", "token_table"]

#: Roles that belong to the instrument and not to the system under test.
INSTRUMENT = frozenset({"simulator", "judge"})
#: Why a run without language models has no token figures.
NO_MODEL = "no model was called"


def _tokens(row: EpisodeRow, *, reflection: bool) -> int:
    """Input and output tokens of one episode: the reflector's, or those of the whole system."""
    return sum(
        sum(u.used)
        for u in row.usage
        if (u.role == "reflector" if reflection else u.role not in INSTRUMENT)
    )


def token_metrics(
    rows: Sequence[EpisodeRow], results: Sequence[EpisodeResult], scenes: Sequence[Hashable]
) -> tuple[Metric, ...]:
    """Mean tokens per instance, over successful instances (Table 3) and over all.

    Total is the agent's and the reflector's; a user simulator's tokens are the
    instrument's and stand in the table by role. Replies that a fault of the endpoint made
    unusable are not the method's either: only the ledger counts them.
    """
    called = any(row.usage for row in rows)
    out = []
    for over, keep in (
        ("success", [r.first_success is not None for r in results]),
        ("all", [True] * len(results)),
    ):
        for what in ("reflection", "total"):
            values = [
                float(_tokens(row, reflection=what == "reflection"))
                for row, k in zip(rows, keep, strict=True)
                if k and called
            ]
            clusters = [s for s, k in zip(scenes, keep, strict=True) if k and called]
            why = "no instance succeeded" if called else NO_MODEL if rows else "no scored instance"
            out.append(mean_metric(f"tokens_{what}_{over}", values, clusters=clusters, reason=why))
    return tuple(out)


def token_table(rows: Sequence[EpisodeRow], results: Sequence[EpisodeResult]) -> Table:
    """Mean input and output tokens per instance by role, over successful and over all."""
    roles = sorted({u.role for row in rows for u in row.usage})
    won = [r.first_success is not None for r in results]
    lines: list[tuple[str | float | int, ...]] = []
    for role in roles:
        line: list[str | float | int] = [role]
        for keep in (won, [True] * len(won)):
            chosen = [row for row, k in zip(rows, keep, strict=True) if k]
            for side in (0, 1):
                total = sum(u.used[side] for r in chosen for u in r.usage if u.role == role)
                line.append(total / len(chosen) if chosen else float("nan"))
        lines.append(tuple(line))
    return Table(
        "tokens per instance by role",
        ("role", "input (success)", "output (success)", "input (all)", "output (all)"),
        tuple(lines),
        note=say(
            "指標の合計はエージェントと内省。ユーザー役の分は計測のための費用",
            "Total in the metrics is agent and reflector; the simulator is the instrument's.",
        ),
    )
