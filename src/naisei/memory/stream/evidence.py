"""The block of evidence that goes into a prompt: numbered lines, best first, within a limit."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from naisei.memory.stream.entry import Scored

__all__ = ["LIMIT", "EvidenceBlock", "evidence"]

#: About as much as the relationship-reflection method gives the model.
LIMIT = 2200


class EvidenceBlock(BaseModel):
    """`lines[i]` is `"{i+1}. [話者] 本文"` and stems from the entry `ids[i]`."""

    model_config = ConfigDict(frozen=True)

    lines: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The lines, one below the other; empty if there is no evidence."""
        return "\n".join(self.lines)


def evidence(scored: Iterable[Scored], *, limit: int = LIMIT) -> EvidenceBlock:
    """The best entries whose lines, with line breaks, fit into `limit` (≥ 1) characters.

    It stops at the first that does not fit, so that no lesser entry takes the place of a
    better one. If not even the best fits, that one is cut, with `…` at its end.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    lines: list[str] = []
    ids: list[str] = []
    used = 0
    for n, one in enumerate(scored, 1):
        line = f"{n}. {one.entry.line}"
        used += len(line) + (1 if lines else 0)
        if used > limit:
            if not lines:
                lines, ids = [line[: limit - 1] + "…"], [one.entry.id]
            break
        lines.append(line)
        ids.append(one.entry.id)
    return EvidenceBlock(lines=tuple(lines), ids=tuple(ids))
