"""Settings that agents of clarify have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from naisei import prompts

__all__ = ["PromptName"]


def _known_prompt(name: str) -> str:
    known = prompts.names("naisei.clarify")
    if name not in known:
        raise ValueError(f"there is no prompt '{name}'; known: {', '.join(known)}")
    return name


#: The name of a prompt of clarify, such as `agent.v1`.
PromptName = Annotated[str, AfterValidator(_known_prompt)]
