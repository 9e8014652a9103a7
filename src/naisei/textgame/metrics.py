"""What a run of games amounts to: how much was done, in how many steps, and how it ended.

Source: the text-game thesis, §§5.3.2, 6.3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.runs.statistics import mean_metric, succeeded_within
from naisei.runs.task import EpisodeRow, Metric, Summary, Table
from naisei.textgame.config import GameConfig
from naisei.textgame.schemas import GameResult

__all__ = ["count_metrics", "summarise", "try_metrics"]


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


def summarise(
    config: GameConfig,
    kinds: Mapping[str, str],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
    *,
    walkthroughs: Mapping[str, int] | None = None,
) -> Summary:
    """All metrics over the scored games; intervals resample games.

    normalized_score: points over the most that can be had, averaged over games (undefined if a
    game has no points to be had). mean_steps: commands given. won, lost, timed_out, gave_up:
    shares of the games that ended by the meal or the last thing put away, by a mistake that cannot
    be mended, by the end of the steps, and because the player saw no way on. Of several tries
    in sequence these are of the last; pass@k and best_score@k are over them (`tries`). What a
    player counts (`repairs`) is averaged over games, of all tries.
    walkthrough_steps: commands of the games' own solutions, over the scored games that have one,
    to be read beside mean_steps; left out if none has.

    kinds: game → what it is counted under in the table. walkthroughs: game → commands of its
    own solution.
    """
    results = [GameResult.model_validate(row.result) for row in rows if row.scored]
    games = [r.game for r in results]
    own = walkthroughs or {}
    metrics = (*_metrics(results, config.seed), *_walkthrough_metric(results, own, config.seed))
    extra = {
        "units": games,
        "clusters": games,
        "kinds": [kinds[game] for game in games],
        "paired": ["normalized_score", "mean_steps"],
    }
    groups = sorted({kinds[game] for game in games})
    more = (*count_metrics(results, config.seed), *try_metrics(results, config))
    tables = (_by_kind(results, kinds, groups, config.seed, own),) if len(groups) > 1 else ()
    return Summary((*metrics, *more), tables, tuple(notes), extra)


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


def _walkthrough_metric(
    results: Sequence[GameResult], own: Mapping[str, int], seed: int
) -> tuple[Metric, ...]:
    games = [r.game for r in results if r.game in own]
    if not games:
        return ()
    lengths = [float(own[game]) for game in games]
    return (mean_metric("walkthrough_steps", lengths, clusters=games, seed=seed),)


def _by_kind(
    results: Sequence[GameResult],
    kinds: Mapping[str, str],
    groups: Sequence[str],
    seed: int,
    own: Mapping[str, int],
) -> Table:
    rows: list[tuple[str | float | int, ...]] = []
    for group in groups:
        of = [r for r in results if kinds[r.game] == group]
        score, steps, won, lost, out, _ = (m.value for m in _metrics(of, seed))
        lengths = _walkthrough_metric(of, own, seed)
        length = lengths[0].value if lengths else "–"
        rows.append((group, len(of), score, steps, length, won, lost, out))
    columns = (
        "games",
        "n",
        "normalized_score",
        "mean_steps",
        "walkthrough_steps",
        "won",
        "lost",
        "timed_out",
    )
    return Table("games", columns, tuple(rows))
