"""Messages, verdicts, and the digest of a request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Role
    content: str

    def to_json(self) -> JsonValue:
        return {"role": self.role, "content": self.content}


def system(content: str) -> Message:
    """Return a message with instructions."""
    return Message("system", content)


def user(content: str) -> Message:
    """Return a message with the input to the model."""
    return Message("user", content)


def assistant(content: str) -> Message:
    """Return a message of the model."""
    return Message("assistant", content)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; `None` leaves a parameter to the role or the endpoint.

    temperature: ≥ 0. top_p: (0, 1]. max_tokens: ≥ 1, for the reply. seed: any integer.
    reasoning_effort: effort of a reasoning model, as named by the endpoint (`low`, …).
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the parameters that are set."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}

    def without(self, names: Collection[str]) -> Sampling:
        """Return a copy without these parameters."""
        return replace(self, **dict.fromkeys(set(names) & set(self.to_json())))

    def over(self, base: Sampling) -> Sampling:
        """Return these parameters if set, else those of `base`."""
        mine = self.to_json()
        return Sampling(**{**base.to_json(), **mine})  # type: ignore[arg-type]


class Status(StrEnum):
    """How a draft is judged, mildest first: PASS < MODIFY < WARN < RETRY.

    PASS goes out as it is; MODIFY goes out after a safe automatic fix; WARN goes out
    and becomes the next turn's instruction; RETRY is to be written again.
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
        """The reasons of all checks that did not pass, worst first."""
        bad = [c for c in self.checks if c.status is not Status.PASS]
        return [c.reason for c in sorted(bad, key=lambda c: -c.status.severity) if c.reason]

    @staticmethod
    def of(checks: Iterable[Check]) -> Verdict:
        return Verdict(checks=tuple(checks))


# Reused: `json.dumps` with options builds an encoder on every call.
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and no escapes: equal values give equal text."""
    return _encode(value)


def fingerprint(value: Any) -> str:
    """Return the first 16 hex digits of the SHA-256 of the canonical form."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
