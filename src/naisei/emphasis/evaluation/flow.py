"""One part of the cross-validation: a tagger is trained on the others and marks this one."""

from __future__ import annotations

from naisei.core import Act, Flow
from naisei.emphasis.evaluation.results import PartResult

__all__ = ["examine"]


def examine(part: int, *, seed: int) -> Flow[PartResult]:
    """Training is the world's: it takes minutes, and its outcome is logged before it counts."""
    seen = yield from Act({"tag": part, "seed": seed})
    return PartResult.model_validate(seen.info)
