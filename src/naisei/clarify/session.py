"""What may differ from sitting to sitting without changing a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from naisei.models.settings import ModelSettings
from naisei.runs.budget import UNBOUNDED, Budget

__all__ = ["Session"]


@dataclass(frozen=True, slots=True)
class Session:
    """How a run is carried out: endpoints, speed, budgets, and what is printed."""

    settings: ModelSettings = field(default_factory=ModelSettings)
    concurrency: int = 16
    budget: Budget = UNBOUNDED
    cache: Path | None = None
    quiet: bool = False
