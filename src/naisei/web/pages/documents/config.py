"""What a conversation about documents depends on, frozen when it begins."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.intent.rules import Setting

__all__ = ["AskConfig", "Shelf"]

#: Whose documents: the server's, the shipped handbook, or the visitor's own uploads.
Shelf = Literal["server", "handbook", "own"]


class AskConfig(BaseModel):
    """setting: rules, profile and contacts. model: of all roles; `None` leaves them to rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shelf: Shelf
    setting: Setting
    model: str | None = None
