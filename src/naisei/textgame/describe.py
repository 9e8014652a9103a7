"""A game in plain words."""

from __future__ import annotations

from naisei.lang import say
from naisei.textgame.opening import readable
from naisei.textgame.schemas import GameResult

__all__ = ["ending", "transcript"]


def transcript(result: GameResult) -> str:
    """Every command with its answer, and what the player thought; try after try."""
    if not result.earlier:
        return _one(result)
    return "\n\n".join(
        say(f"{n} 回目", f"Try {n}") + "\n" + _one(each) for n, each in enumerate(result.tries, 1)
    )


def _one(result: GameResult) -> str:
    rows = [say("メモ: ", "Memo: ") + result.memo] if result.memo else []
    score = 0
    for number, step in enumerate(result.steps, 1):
        gained = f"  (+{step.score - score})" if step.score > score else ""
        rows.append(f"{number:3}. [{step.room}] > {step.action}{gained}")
        rows += [f"     ({step.thoughts})"] if step.thoughts else []
        rows += [f"     {line}" for line in readable(step.feedback).splitlines() if line.strip()]
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
