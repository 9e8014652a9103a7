"""What can be switched on the language-model player."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from naisei.runs.options import Options

__all__ = ["LLMOptions"]


class LLMOptions(Options):
    """The parts of the prompt (thesis §3.2), each by itself, and how replies are read.

    prompt: `whole`, the game so far in one prompt (chapter 3), or `dialogue`, a conversation with
    a turn a step, without example, thoughts and feedback augmentation (§§5.5.3, 6.5.2); then
    history_chars is what of the conversation is kept. navigator: `navigate to <item>` among the
    commands once a cookbook was read (§6.5.2).
    task: `tidying`, `cooking` or `general` (the game's own opening words are the task); `auto`
    reads from the opening which it is. task_text: the task in the user's own words instead.
    thinking: a consideration before the command (chain of thought). example: a walkthrough of
    another game, the thesis's `hard` one with two rooms or an `easy` one, or `none`. feedback:
    words added to the game's answers (feedback augmentation): `auto` by the task, or `none`.
    reply: asked for by JSON schema, or as a text template that is filled in. history_chars:
    once the history is longer, its older half is folded into a summary; 0: never. folding: by
    rule, or by a call of the player's model. memory: what is kept between tries at one game
    (`none`, `tur`, `reflexion`); it needs more than one try.
    """

    prompt: Literal["whole", "dialogue"] = "whole"
    navigator: bool = False
    task: Literal["auto", "tidying", "cooking", "general"] = "auto"
    task_text: str = ""
    thinking: bool = True
    example: Literal["hard", "easy", "none"] = "hard"
    feedback: Literal["auto", "tidying", "cooking", "none"] = "auto"
    reply: Literal["schema", "template"] = "schema"
    history_chars: int = Field(default=8000, ge=0)
    folding: Literal["rule", "model"] = "rule"
    memory: str = "none"

    @model_validator(mode="after")
    def _parts_of_a_whole(self) -> LLMOptions:
        """A switch that would do nothing is refused: a table would show no effect of it."""
        for name in ("thinking", "example", "feedback", "reply", "folding"):
            if self.prompt == "dialogue" and getattr(self, name) != _default(name):
                raise ValueError(f"'{name}' is a part of prompt=whole; prompt=dialogue has none")
        return self


def _default(name: str) -> object:
    return LLMOptions.model_fields[name].default
