"""What is known of the person: department, office and the like."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, field_validator

from naisei.core import Evidence
from naisei.japanese.normal import normalise

__all__ = ["Profile"]

_FIELDS = 40


class Profile(BaseModel):
    """Fields and their values, as the person or the company gave them; all optional.

    department, office: as they stand in the documents. employment: 正社員, パート, …. others:
    anything else, by name.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    department: str = ""
    office: str = ""
    employment: str = ""

    @field_validator("*", mode="before")
    @classmethod
    def _flat(cls, value: object) -> object:
        if isinstance(value, bool | int | float):
            return str(value)
        if not isinstance(value, str):
            raise ValueError("a field of the profile is a text or a number")
        return value.strip()

    @property
    def fields(self) -> dict[str, str]:
        """Those that are set, in order."""
        return {k: str(v) for k, v in self.model_dump().items() if str(v)}

    def told(self) -> str:
        """As lines for a prompt; empty if nothing is known."""
        return "\n".join(f"- {name}: {value}" for name, value in self.fields.items())

    def prefer(self, hits: Sequence[Evidence]) -> list[Evidence]:
        """The hits, those whose heading names the person's own department, office, … first
        among equals: each moves up at most one place a value that it names."""
        values = [normalise(v) for v in self.fields.values() if len(normalise(v)) >= 2]
        if not values:
            return list(hits)

        def place(at: int) -> float:
            where = hits[at].meta
            headings = where.get("headings")
            named = " ".join(map(str, headings)) if isinstance(headings, list) else ""
            text = normalise(f"{where.get('title', '')} {named} {hits[at].text}")
            return at - 1.5 * sum(value in text for value in values)

        return [hits[at] for at in sorted(range(len(hits)), key=lambda at: (place(at), at))]
