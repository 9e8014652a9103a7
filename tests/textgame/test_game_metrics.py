"""What a run of games amounts to."""

from __future__ import annotations

import math

from naisei.core import Where
from naisei.runs.task import EpisodeRow
from naisei.textgame.config import GameConfig
from naisei.textgame.schemas import GameResult, Step
from naisei.textgame.task import summarise

STEP = Step(room="Hall", action="look", feedback="A hall.", score=0)


def row(game: str, *, steps: int, score: int = 0, most: int = 4, **ended: object) -> EpisodeRow:
    result = GameResult.model_validate(
        {"game": game, "score": score, "max_score": most, "won": False, "lost": False}
        | {"steps": [STEP] * steps}
        | ended
    )
    return EpisodeRow(Where(game), result.model_dump(mode="json"))


def figures(rows: list[EpisodeRow], own: dict[str, int]) -> dict[str, float]:
    kinds = {r.where.instance: "cooking" for r in rows}
    summary = summarise(GameConfig(games="g"), kinds, rows, walkthroughs=own)
    return {m.name: m.value for m in summary.metrics}


def test_every_game_ends_in_one_of_four_ways() -> None:
    rows = [
        row("a", steps=6, score=4, won=True),
        row("b", steps=3, score=1, lost=True),
        row("c", steps=20, score=2),
        row("d", steps=1, gave_up="no way on"),
    ]
    found = figures(rows, {})
    assert [found[n] for n in ("won", "lost", "timed_out", "gave_up")] == [0.25] * 4
    assert found["normalized_score"] == (1 + 0.25 + 0.5 + 0) / 4
    assert found["mean_steps"] == 7.5
    assert "walkthrough_steps" not in found, "no game has a solution of its own"


def test_walkthroughs_stand_beside_the_steps_for_the_games_that_have_them() -> None:
    rows = [row("a", steps=6, won=True), row("b", steps=8, won=True), row("c", steps=1)]
    found = figures(rows, {"a": 5, "b": 9, "unplayed": 100})
    assert found["walkthrough_steps"] == 7.0
    assert found["mean_steps"] == 5.0


def test_an_unscored_game_is_in_no_mean() -> None:
    rows = [row("a", steps=6, score=4, won=True), EpisodeRow(Where("b"), None, "crashed")]
    found = figures(rows, {"a": 5, "b": 50})
    assert found["normalized_score"] == 1.0 and found["walkthrough_steps"] == 5.0


def test_points_that_cannot_be_had_make_the_score_undefined() -> None:
    summary = summarise(GameConfig(games="g"), {"a": "cooking"}, [row("a", steps=1, most=0)])
    score = summary.metrics[0]
    assert math.isnan(score.value) and score.reason
