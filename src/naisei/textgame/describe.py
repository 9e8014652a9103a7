"""A game in plain words."""

from __future__ import annotations

from naisei.lang import say
from naisei.textgame.schemas import GameResult

__all__ = ["ending", "transcript"]


def transcript(result: GameResult) -> str:
    """Every command with its answer, and what the player thought."""
    rows = []
    score = 0
    for number, step in enumerate(result.steps, 1):
        gained = f"  (+{step.score - score})" if step.score > score else ""
        rows.append(f"{number:3}. [{step.room}] > {step.action}{gained}")
        rows += [f"     ({step.thoughts})"] if step.thoughts else []
        rows += [f"     {line}" for line in step.feedback.splitlines() if line.strip()]
        score = step.score
    return "\n".join([*rows, ending(result)])


def ending(result: GameResult) -> str:
    """How it ended, in a line."""
    steps = len(result.steps)
    how = (
        say("達成", "won")
        if result.won
        else say("失敗", "lost")
        if result.lost
        else say(f"断念 ({result.gave_up})", f"gave up ({result.gave_up})")
        if result.gave_up
        else say("時間切れ", "out of steps")
    )
    return say(
        f"{how}: {result.score}/{result.max_score} 点、{steps} 手",
        f"{how}: {result.score} of {result.max_score} points in {steps} steps",
    )
