"""Who performs the assistant's effects: the index, its statistics, a person's thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from naisei.core import Search, World
from naisei.intent.effects import Cuts, Weigh
from naisei.intent.thresholds import Thresholds
from naisei.intent.weighing import CutsHandler, WeighHandler
from naisei.retrieval.index import Index, SearchHandler
from naisei.retrieval.types import Mode

__all__ = ["document_world"]


def document_world(
    base: World,
    index: Index,
    *,
    mode: Mode = "hybrid",
    filters: Mapping[str, Any] | None = None,
    cuts: Callable[[str], Thresholds] | None = None,
) -> World:
    """`base` (Chat where a model is used) with the documents. cuts: user → thresholds; the
    article's by default."""
    return base.having(
        {
            Search: SearchHandler(index, mode=mode, filters=filters),
            Weigh: WeighHandler(index),
            Cuts: CutsHandler(cuts or (lambda user: Thresholds())),
        }
    )
