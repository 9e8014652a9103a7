"""The player kind `llm` and its reflection between tries."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from naisei import lang
from naisei.core import Chat, Flow, system, user
from naisei.memory import Memory, memory_policy
from naisei.textgame.llm.player import (
    DialoguePlayer,
    LLMPlayer,
    Navigating,
    family_for,
    feedback_kind,
)
from naisei.textgame.llm.prompt import (
    PACKAGE,
    Entry,
    Feedback,
    Kind,
    LLMOptions,
    task_text,
    unrepeated,
)
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import GameResult
from naisei.textgame.texts import opening_words, plain

# Reflection: a note on a failed try for the next one.
#
# Source: R-Clarify, §4.2, adapted to games. The reflector sees the player's observations and
# thoughts and the ending, but not the game's inner state.

#: Most characters of a try's transcript; the middle is cut.
_LONGEST = 16_000


def reflect(result: GameResult, memory: Memory, *, task: str, feedback: Kind) -> Flow[str]:
    """A new note on a try; the memory's policy decides whether it replaces the old one."""
    prompt = lang.render(
        PACKAGE,
        "reflect-input.v1",
        "en",
        task=task,
        record=play_text(result, feedback),
        ending=_ending(result),
        memo=memory.previous() or "(none yet)",
    )
    instructions = lang.render(PACKAGE, memory.prompt, "en")
    note = yield from Chat("reflector", [system(instructions), user(prompt)])
    return note.strip()


def play_text(result: GameResult, feedback: Kind) -> str:
    """Transcript of a play: commands, thoughts and answers."""
    words, score, entries = Feedback(feedback), 0, []
    for number, step in enumerate(result.steps):
        answer, gained = plain(step.feedback), step.score - score
        word = words.word(step.action, answer, gained)
        score = step.score
        entries.append(Entry(number, step.room, "", step.action, answer, word, gained))
    out, room = [], ""
    for step, entry, answer in zip(result.steps, entries, unrepeated(entries), strict=True):
        out += [f"  (thought: {plain(step.thoughts)})"] if step.thoughts else []
        out.append(
            f"[{step.room}] {entry.with_answer(answer)}"
            if step.room != room
            else entry.with_answer(answer)
        )
        room = step.room
    return _middle_out("\n".join(out) or "(no command was given)")


def _ending(result: GameResult) -> str:
    # Players must not learn the maximum score.
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


class _Kind:
    """A `PlayerKind` that is also `Reflective`."""

    settings: type[BaseModel] = LLMOptions
    roles: tuple[str, ...] = ("player", "reflector")

    def new(self, context: PlayerContext) -> Player:
        options = _options(context.settings)
        player_class = DialoguePlayer if options.prompt == "dialogue" else LLMPlayer
        player: Player = player_class(options, memo=context.memo)
        return Navigating(player) if options.navigator else player

    def memory(self, settings: BaseModel) -> Callable[[], Memory]:
        name = _options(settings).memory
        return memory_policy(name, prompts=PACKAGE, option="--agent-option memory")

    def reflect(self, settings: BaseModel, result: GameResult, memory: Memory) -> Flow[str]:
        options = _options(settings)
        opening = opening_words(result.opening)
        family = family_for(options, opening)
        return reflect(
            result,
            memory,
            task=task_text(options, family, opening),
            feedback=feedback_kind(options, family),
        )


def _options(settings: BaseModel) -> LLMOptions:
    return LLMOptions.model_validate(settings.model_dump())


def build() -> PlayerKind:
    """The player kind `llm`."""
    return _Kind()
