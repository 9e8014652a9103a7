"""The reflective loop: what the next try at a game should know of the one that failed.

Source: R-Clarify, §4.2, carried over to games. The reflector sees what the player saw, its
thoughts, and how the game ended; nothing of the game's inner state.
"""

from __future__ import annotations

from naisei import prompts
from naisei.core import Chat, Flow, InputError, system, user
from naisei.lang import say
from naisei.memory import Memory
from naisei.textgame.llm.choosing import PACKAGE
from naisei.textgame.llm.feedback import Feedback, Kind
from naisei.textgame.llm.texts import plain
from naisei.textgame.schemas import GameResult

__all__ = ["check_prompt", "reflect", "told"]

#: Characters of a record of a try; the middle of a longer one is left out.
_LONGEST = 16_000


def reflect(result: GameResult, memory: Memory, *, task: str, feedback: Kind) -> Flow[str]:
    """A new note; the memory's policy decides whether the old one is rewritten or stands."""
    given = prompts.render(
        PACKAGE,
        "reflect-input.v1",
        "en",
        task=task,
        record=told(result, feedback),
        ending=_ending(result),
        memo=memory.previous() or "(none yet)",
    )
    instructions = prompts.render(PACKAGE, memory.prompt, "en")
    note = yield from Chat("reflector", [system(instructions), user(given)])
    return note.strip()


def told(result: GameResult, feedback: Kind) -> str:
    """Every command with the player's thoughts and the game's answer."""
    words, score, out = Feedback(feedback), 0, []
    for number, step in enumerate(result.steps):
        answer = plain(step.feedback)
        word = words.word(step.action, answer, step.score - score)
        score = step.score
        thought = [f"  (thought: {plain(step.thoughts)})"] if step.thoughts else []
        said = f"[{step.room}] Action {number}: {step.action} → {answer} {word}".rstrip()
        out += [*thought, said]
    return _middle_out("\n".join(out) or "(no command was given)")


def check_prompt(memory: Memory) -> None:
    """Raises `InputError` if this system has no prompt for the memory's reflector."""
    if memory.reflects and memory.prompt not in (known := prompts.names(PACKAGE)):
        raise InputError(
            say(
                f"ゲームを省みるためのプロンプト '{memory.prompt}' はありません",
                f"there is no prompt '{memory.prompt}' for reflecting on games",
            ),
            place="--agent-option memory",
            remedy=say(
                f"tur、reflexion、none のどれかを指定してください (プロンプト: {', '.join(known)})",
                f"use tur, reflexion or none (prompts: {', '.join(known)})",
            ),
        )


def _ending(result: GameResult) -> str:
    # How many points there are is not for players to know.
    score = f"{result.score} points"
    if result.won:
        return f"The game was won with {score}."
    if result.lost:
        return f"The last command lost the game for good, with {score}."
    return f"The steps ran out after {len(result.steps)} commands, with {score}."


def _middle_out(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]}\n[… left out …]\n{text[-half:]}"
