"""Texts of a game for people and prompts: without what is there for a console only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from naisei.lang import say
from naisei.textgame.schemas import LEAVE, GameResult

__all__ = ["ending", "opening_words", "plain", "readable", "transcript"]


#: textworld's banner is drawn with these, and its prompt ends with a status line.
_BANNER = re.compile(r"^[\s$\\/|_>]*$")
#: What the engine puts into the middle of a console's line.
_CENTRED = re.compile(r"^ {8,}(?=\S)", re.M)
_PROMPT = re.compile(r"\n\s*>\s*(?:-=.*)?\Z", re.S)
#: What the interpreter asks once a game has ended.
_AFTER_THE_END = re.compile(r"\n\s*Would you like to RESTART\b.*", re.S)


def readable(text: str) -> str:
    """Without banner, prompt and needless empty lines."""
    lines = [line.rstrip() for line in _AFTER_THE_END.sub("", _PROMPT.sub("", text)).splitlines()]
    while lines and _BANNER.match(lines[0]):
        del lines[0]
    return re.sub(r"\n{3,}", "\n\n", _CENTRED.sub("", "\n".join(lines))).strip()


_ROOM = re.compile(r"-= [^=\n]+ =-")
_RULE = re.compile(r"[-=*_ ]*")
#: After these a line, or a paragraph, needs no sign that it ends.
_ENDED = (".", "!", "?", ":", ";", ",", "-")


def plain(text: str) -> str:
    """On one line, without the title's drawing and the status line.

    Lines of a list are parted by commas, paragraphs by full stops, so that a recipe stays one.
    """
    return _joined((_joined(_lines(p), ", ") for p in readable(text).split("\n\n")), ". ")


def opening_words(feedback: str) -> str:
    """What the game says before the first room: what is to be done, as a rule."""
    return plain(_ROOM.split(readable(feedback), maxsplit=1)[0])


def _lines(paragraph: str) -> list[str]:
    lines = (" ".join(line.split()) for line in paragraph.splitlines())
    return [line for line in lines if not _RULE.fullmatch(line)]


def _joined(parts: Iterable[str], sign: str) -> str:
    text = ""
    for part in filter(None, parts):
        text += (" " if text.endswith(_ENDED) else sign if text else "") + part
    return text


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
        else say("途中で終了", "left")
        if result.gave_up == LEAVE
        else say(f"断念 ({result.gave_up})", f"gave up ({result.gave_up})")
        if result.gave_up
        else say("時間切れ", "out of steps")
    )
    return say(
        f"{how}: {result.score}/{result.max_score} 点、{steps} 手",
        f"{how}: {result.score} of {result.max_score} points in {steps} steps",
    )
