"""What several tries at a game in sequence amount to, and what players count on the way."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.runs.stats import mean_metric, succeeded_within
from naisei.runs.task import Metric
from naisei.textgame.config import GameConfig
from naisei.textgame.schemas import GameResult

__all__ = ["count_metrics", "try_metrics"]


def try_metrics(results: Sequence[GameResult], config: GameConfig) -> tuple[Metric, ...]:
    """pass@k and best_score@k for k up to the number of tries; none where there is one try.

    pass@k: share of games won by the k-th try (tries in sequence: R-Clarify §5.1).
    best_score@k: the best normalised score among the first k tries.
    """
    if config.tries == 1:
        return ()
    games = [r.game for r in results]
    won = [next((n for n, t in enumerate(r.tries, 1) if t.won), None) for r in results]
    out = []
    for k in range(1, config.tries + 1):
        passed = succeeded_within(won, k, trials=config.tries)
        best = [max(t.normalized_score for t in r.tries[:k]) for r in results]
        out.append(mean_metric(f"pass@{k}", passed, clusters=games, seed=config.seed))
        out.append(mean_metric(f"best_score@{k}", best, clusters=games, seed=config.seed))
    return tuple(out)


def count_metrics(results: Sequence[GameResult], seed: int) -> tuple[Metric, ...]:
    """For each thing that players counted: how often it came up in a game, all tries together."""
    counted = [[s.counts for t in r.tries for s in t.steps] for r in results]
    names = sorted({name for game in counted for counts in game for name in counts})
    games = [r.game for r in results]
    return tuple(
        mean_metric(
            name,
            [float(sum(counts.get(name, 0) for counts in game)) for game in counted],
            clusters=games,
            seed=seed,
        )
        for name in names
    )
