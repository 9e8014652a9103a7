"""Reflection memories: one protocol, several policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from pydantic import JsonValue

from naisei import lang, plugins
from naisei.core import Handler, InputError, Remember, Where
from naisei.lang import say

__all__ = ["Memory", "MemoryHandler", "memory", "memory_policy"]


# A memory of reflections: `recall` gives its notes, `add` folds in a new one.
#
# A policy is stateless data plus a fold: `add` changes it only through `Remember`
# effects, so it is always the fold of the log.


class Memory(Protocol):
    """Notes from earlier trials, shown before the next trial.

    Entry-point group: `naisei.memories`, a callable `() -> Memory`.
    """

    #: Name of the policy, e.g. `tur`.
    name: str
    #: The reflector's prompt: its name with version, in the system that uses the memory.
    prompt: str
    #: False if the policy never calls the reflector.
    reflects: bool

    def recall(self) -> str:
        """The notes as text for a prompt; empty if none."""
        ...

    def previous(self) -> str:
        """The notes shown to the reflector before it writes; empty if none."""
        ...

    def add(self, item: JsonValue) -> None:
        """Fold in one remembered item."""
        ...


class MemoryHandler(Handler):
    """Applies `Remember` effects to a memory, also on replay."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def perform(self, effect: Remember, where: Where) -> None:
        self.memory.add(effect.item)

    def restore(self, effect: Remember, result: None, where: Where) -> None:
        self.memory.add(effect.item)


def memory(name: str) -> Memory:
    """A new memory with policy `name` (`tur`, `reflexion`, `none`, or a plug-in's).

    Raises:
        InputError: unknown name.
    """
    return memory_policy(name)()


def memory_policy(
    name: str, *, prompts: str | None = None, option: str = "--memory"
) -> Callable[[], Memory]:
    """A factory of new memories with one policy, resolved once for many episodes.

    Args:
        prompts: the package with the reflector's prompt; `None` if the reflector uses its own
            prompt for every policy.
        option: the option that set the name.

    Raises:
        InputError: unknown name, or a policy whose prompt is not in `prompts` (checked at once).
    """
    found = plugins.load("naisei.memories", name, what=("記憶方式", "memory policy"), option=option)
    policy = cast(Callable[[], Memory], found)
    made = policy()
    if prompts and made.reflects and made.prompt not in (known := lang.names(prompts)):
        raise InputError(
            say(
                f"記憶方式 '{name}' が使う内省のプロンプト '{made.prompt}' はありません",
                f"memory policy '{name}': there is no prompt '{made.prompt}' for its reflector",
            ),
            place=option,
            remedy=say(
                f"記憶方式の prompt を直してください。使えるもの: {', '.join(known)}",
                f"set its `prompt` to one of: {', '.join(known)}",
            ),
        )
    return policy
