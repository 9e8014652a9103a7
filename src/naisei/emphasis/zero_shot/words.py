"""What the model is told."""

from __future__ import annotations

from naisei.core import Message, assistant, system, user
from naisei.emphasis.zero_shot.passages import Passage
from naisei.lang import Language
from naisei.prompts import render

__all__ = ["again", "messages"]

_PACKAGE = "naisei.emphasis"


def messages(title: str, passage: Passage, language: Language) -> tuple[Message, ...]:
    return (
        system(render(_PACKAGE, "editor.v1", language)),
        user(render(_PACKAGE, "passage.v1", language, title=title, text=passage.text)),
    )


def again(told: tuple[Message, ...], reply: str, language: Language) -> tuple[Message, ...]:
    """After a reply that does not repeat the text."""
    return (*told, assistant(reply), user(render(_PACKAGE, "again.v1", language)))
