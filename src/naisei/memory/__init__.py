"""Memories of reflections: one protocol, several policies."""

from naisei.memory.base import Memory, MemoryHandler, memory, memory_policy
from naisei.memory.memo import Memo
from naisei.memory.none import NoMemory
from naisei.memory.window import Window

__all__ = ["Memo", "Memory", "MemoryHandler", "NoMemory", "Window", "memory", "memory_policy"]
