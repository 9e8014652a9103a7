"""What a run of games amounts to: how much was done, in how many steps, and how it ended.

Source: the text-game thesis, §§5.3.2, 6.3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.runs.stats import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Table
from naisei.textgame.config import GameConfig
from naisei.textgame.schemas import GameResult

__all__ = ["summarise"]


def summarise(
    config: GameConfig,
    kinds: Mapping[str, str],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
) -> Summary:
    """All metrics over the scored games; intervals resample games.

    normalized_score: points over the most that can be had, averaged over games (a game without
    points is left out). mean_steps: commands given. won, lost, timed_out, gave_up: shares of the
    games that ended by the meal or the last thing put away, by a mistake that cannot be mended, by
    the end of the steps, and because the player saw no way on.

    kinds: game → what it is counted under in the table.
    """
    results = [GameResult.model_validate(row.result) for row in rows if row.scored]
    games = [r.game for r in results]
    metrics = _metrics(results, config.seed)
    extra = {
        "units": games,
        "clusters": games,
        "paired": ["normalized_score", "mean_steps"],
    }
    groups = sorted({kinds[game] for game in games})
    tables = (_by_kind(results, kinds, groups, config.seed),) if len(groups) > 1 else ()
    return Summary(metrics, tables, tuple(notes), extra)


def _metrics(results: Sequence[GameResult], seed: int) -> tuple[Metric, ...]:
    games = [r.game for r in results]
    values = {
        "normalized_score": [r.normalized_score for r in results],
        "mean_steps": [float(len(r.steps)) for r in results],
        "won": [float(r.won) for r in results],
        "lost": [float(r.lost) for r in results],
        "timed_out": [float(r.timed_out) for r in results],
        "gave_up": [float(bool(r.gave_up)) for r in results],
    }
    return tuple(
        mean_metric(name, each, clusters=games, seed=seed) for name, each in values.items()
    )


def _by_kind(
    results: Sequence[GameResult], kinds: Mapping[str, str], groups: Sequence[str], seed: int
) -> Table:
    rows = []
    for group in groups:
        of = [r for r in results if kinds[r.game] == group]
        score, steps, won, lost, out, _ = (m.value for m in _metrics(of, seed))
        rows.append((group, len(of), score, steps, won, lost, out))
    columns = ("games", "n", "normalized_score", "mean_steps", "won", "lost", "timed_out")
    return Table("games", columns, tuple(rows))
