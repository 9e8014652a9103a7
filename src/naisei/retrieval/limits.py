"""How much of a folder and of a file is read."""

from __future__ import annotations

from dataclasses import dataclass, fields

from naisei.core import InputError
from naisei.lang import say

__all__ = ["LIMITS", "LoadLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadLimits:
    """All at least 1. bytes: of one file. pages: of one PDF. characters: of one document's
    text. inflated: bytes of a docx once unpacked. files: documents in the folder."""

    bytes: int = 20_000_000
    pages: int = 500
    characters: int = 2_000_000
    inflated: int = 200_000_000
    files: int = 100_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if (value := getattr(self, field.name)) < 1:
                raise InputError(
                    say(
                        f"上限 {field.name} は 1 以上です（{value} が渡されました）",
                        f"the limit of {field.name} must be at least 1, not {value}",
                    )
                )


LIMITS = LoadLimits()
