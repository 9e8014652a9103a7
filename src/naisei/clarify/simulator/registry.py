"""User simulators by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.clarify.schemas import ActionSet, Instance
from naisei.clarify.simulator.llm import LLMSimulator
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.core import Handler, InputError

__all__ = ["NAMES", "simulator"]

NAMES = ("rule", "llm")


def simulator(
    name: str,
    instance: Instance,
    actions: ActionSet,
    *,
    seed: int = 0,
    paraphrases: Mapping[int, Sequence[str]] | None = None,
) -> Handler:
    """The user of one episode: a handler of `AskUser` effects, fresh for each episode.

    Raises:
        InputError: no simulator of this name.
    """
    if name == "rule":
        return RuleSimulator(instance, actions, seed=seed, paraphrases=paraphrases)
    if name == "llm":
        return LLMSimulator(instance, actions)
    raise InputError(
        f"there is no user simulator '{name}'",
        place="--simulator",
        remedy=f"use one of {', '.join(NAMES)}",
    )
