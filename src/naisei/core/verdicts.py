"""Verdicts: PASS, WARN, RETRY, MODIFY. The worst of several is the verdict of all."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

__all__ = ["Check", "Status", "Verdict"]


class Status(StrEnum):
    """How a draft is judged, mildest first: PASS < MODIFY < WARN < RETRY.

    PASS goes out as it is; MODIFY goes out after a safe mechanical mend; WARN goes out
    and becomes the next turn's instruction; RETRY does not go out.
    """

    PASS = "PASS"
    MODIFY = "MODIFY"
    WARN = "WARN"
    RETRY = "RETRY"

    @property
    def severity(self) -> int:
        """0 (PASS) to 3 (RETRY)."""
        return list(Status).index(self)


class Check(BaseModel):
    """One check of a draft: what it found, where, why, and what to do instead."""

    model_config = ConfigDict(frozen=True)

    name: str
    status: Status
    reason: str = ""
    suggestion: str = ""
    evidence: tuple[str, ...] = ()


class Verdict(BaseModel):
    """All checks of one draft. Its status is that of the worst check; PASS if none."""

    model_config = ConfigDict(frozen=True)

    checks: tuple[Check, ...] = ()

    @property
    def status(self) -> Status:
        return max((c.status for c in self.checks), key=lambda s: s.severity, default=Status.PASS)

    @property
    def reasons(self) -> list[str]:
        """The reasons of every check that did not pass, worst first."""
        bad = [c for c in self.checks if c.status is not Status.PASS]
        return [c.reason for c in sorted(bad, key=lambda c: -c.status.severity) if c.reason]

    @staticmethod
    def of(checks: Iterable[Check]) -> Verdict:
        return Verdict(checks=tuple(checks))
