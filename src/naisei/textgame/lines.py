"""A game as lines to print: commands, answers, and the player's thoughts and beliefs."""

from __future__ import annotations

from collections.abc import Iterator

from naisei.lang import say
from naisei.runs.lines import Line, Mark
from naisei.textgame.schemas import START, GameResult, Mind
from naisei.textgame.texts import ending, readable


def game_lines(result: GameResult) -> list[Line]:
    """Every command with its answer, for all tries in order."""
    lines: list[Line] = []
    for number, played in enumerate(result.tries, 1):
        if result.earlier:
            lines.append(Line(say(f"{number} 回目", f"Try {number}"), tone="head"))
        lines += _one(played)
    return lines


def _one(result: GameResult) -> Iterator[Line]:
    if result.memo:
        yield Line(say("メモ: ", "Memo: ") + result.memo, tone="dim")
    score, mind = 0, Mind()
    for number, step in enumerate(result.steps, 1):
        notes = [*_believed(step.mind, mind)] if step.mind is not None else []
        notes += [f"({step.thoughts})"] if step.thoughts else []
        yield command_line(
            step.action,
            step.feedback,
            room=step.room,
            number=f"{number:3}.",
            gained=step.score - score,
            under=tuple(Line(row, tone="dim") for row in notes),
        )
        score, mind = step.score, step.mind or mind
    success = result.won or (result.score == result.max_score and not result.lost)
    yield Line(ending(result), tone="good" if success else "warn")


def command_line(
    command: str,
    feedback: str,
    *,
    room: str = "",
    number: str = "",
    gained: int = 0,
    under: tuple[Line, ...] = (),
) -> Line:
    """A command with the game's answer. gained: points."""
    at = f"[{room}] " if room else ""
    rows = [row for row in readable(feedback).split("\n") if row.strip()]
    who = "" if command == START else f"{at}> {command}"
    marks = (Mark(f"+{gained}", "good"),) if gained > 0 else ()
    return Line("\n".join(rows), who, number, marks=marks, under=under)


def _believed(mind: Mind, before: Mind) -> Iterator[str]:
    """Yield the player's new beliefs: surprise, plan, and expected places."""
    if mind.surprise:
        yield say("意外: ", "surprise: ") + mind.surprise
    if mind.plan != before.plan[-len(mind.plan) :]:
        yield say("予定: ", "plan: ") + " → ".join(mind.plan)
    if mind.expects != before.expects:
        for thing, places in mind.by_thing().items():
            where = ", ".join(f"{each.where} {each.chance:.0%}" for each in places)
            yield say("予想: ", "expected: ") + f"{thing}: {where}"
