"""The player `llm`."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from naisei.core import Flow
from naisei.memory import Memory, memory_policy
from naisei.textgame.llm.dialogue import DialoguePlayer
from naisei.textgame.llm.navigating import Navigating
from naisei.textgame.llm.options import LLMOptions
from naisei.textgame.llm.player import LLMPlayer, family_for, feedback_kind
from naisei.textgame.llm.prompt import task_text
from naisei.textgame.llm.reflecting import check_prompt, reflect
from naisei.textgame.llm.texts import opening_words
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import GameResult

__all__ = ["build"]


class _Kind:
    """A `PlayerKind`, and `Reflective`."""

    settings: type[BaseModel] = LLMOptions
    roles: tuple[str, ...] = ("player", "reflector")

    def new(self, context: PlayerContext) -> Player:
        options = _options(context.settings)
        asking = DialoguePlayer if options.prompt == "dialogue" else LLMPlayer
        player: Player = asking(options, memo=context.memo)
        return Navigating(player) if options.navigator else player

    def memory(self, settings: BaseModel) -> Callable[[], Memory]:
        policy = memory_policy(_options(settings).memory)
        check_prompt(policy())
        return policy

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
    """The kind `llm`."""
    return _Kind()
