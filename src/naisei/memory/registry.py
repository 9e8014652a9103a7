"""Memory policies by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from naisei import plugins
from naisei.memory.base import Memory

__all__ = ["memory", "memory_policy"]


def memory(name: str) -> Memory:
    """A fresh memory of the policy `name` (`tur`, `reflexion`, `none`, or a plug-in's).

    Raises:
        InputError: unknown name.
    """
    return memory_policy(name)()


def memory_policy(name: str) -> Callable[[], Memory]:
    """What makes fresh memories of a policy: looked up once, for many episodes.

    Raises:
        InputError: unknown name.
    """
    found = plugins.load("naisei.memories", name, what="memory policy", option="--memory")
    return cast(Callable[[], Memory], found)
