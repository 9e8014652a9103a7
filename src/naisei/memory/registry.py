"""Memory policies by name."""

from __future__ import annotations

from naisei import plugins
from naisei.memory.base import Memory

__all__ = ["memory"]


def memory(name: str) -> Memory:
    """A fresh memory of the policy `name` (`tur`, `reflexion`, `none`, or a plug-in's).

    Raises:
        InputError: unknown name.
    """
    built: Memory = plugins.load("naisei.memories", name, what="memory policy", option="--memory")()
    return built
