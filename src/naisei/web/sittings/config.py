"""What is frozen of a conversation, and how a run directory knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Where

__all__ = ["SYSTEM", "WHERE", "Seated", "SittingConfig"]

#: The system of these run directories.
SYSTEM = "web"
#: The one episode of a conversation.
WHERE = Where("sitting")


class SittingConfig(BaseModel):
    """kind: of the page's conversations. language: in which texts for the flow are made.
    settings: the kind's own configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    title: str
    language: Literal["ja", "en"]
    settings: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Seated:
    """What `RunDirectory.of` needs to know."""

    config: SittingConfig
    system: str = SYSTEM
    data_hash: str = ""
