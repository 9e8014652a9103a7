"""The groups of flags that `run` and `ablate` share; see `naisei.cli.grouped`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from naisei.cli.groups import Endpoint
from naisei.cli.groups import Sitting as Sat
from naisei.relationship.cli import flags

if TYPE_CHECKING:
    from naisei.relationship.config import RelationshipConfig
    from naisei.relationship.execute import Sitting

__all__ = ["Reflecting", "Roles", "Talking", "config", "sitting_of"]


@dataclass(frozen=True, slots=True)
class Talking:
    """Who talks, how long, and when."""

    personas: flags.Personas = None
    sessions: flags.Sessions = 2
    turns: flags.Turns = 8
    dialogues: flags.Dialogues = 1
    start: flags.Start = datetime(2026, 4, 6, 10, 0)
    gap_days: flags.GapDays = 7.0
    minutes_a_turn: flags.MinutesATurn = 1.0
    summary: flags.Summaries = True


@dataclass(frozen=True, slots=True)
class Reflecting:
    """How the two reflect, whichever mode it is."""

    directions: flags.Directions = "next"
    importance: flags.Importance = "rule"
    importance_every: flags.ImportanceEvery = 8
    evidence_chars: flags.EvidenceChars = 2200
    embedder: flags.Embedder = "auto"


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays whom."""

    model: flags.Model = None
    speaker_model: flags.SpeakerModel = None
    reflector_model: flags.ReflectorModel = None
    temperature: flags.Temperature = None
    max_output_tokens: flags.OutputTokens = None

    @property
    def models(self) -> dict[str, str]:
        """Role → model: whoever is not the speaker is the reflector's."""
        reflector = self.reflector_model or self.model
        named = {
            "speaker": self.speaker_model or self.model,
            **dict.fromkeys(("questioner", "reflector", "summariser", "rater"), reflector),
        }
        return {role: name for role, name in named.items() if name}

    @property
    def sampling(self) -> dict[str, dict[str, float | int]]:
        given = {"temperature": self.temperature, "max_tokens": self.max_output_tokens}
        speaker = {name: value for name, value in given.items() if value is not None}
        return {"speaker": speaker} if speaker else {}


def config(
    talking: Talking,
    reflecting: Reflecting,
    roles: Roles,
    *,
    more: list[str] | None,
    seed: int,
    mode: Literal["off", "session", "turn"],
    inject: bool,
) -> RelationshipConfig:
    """The configuration that the flags amount to."""
    from pydantic import ValidationError

    from naisei.core import InputError
    from naisei.models.embedders.registry import resolve
    from naisei.relationship.config import RelationshipConfig

    rules: dict[str, Any] = {
        "sessions": talking.sessions,
        "turns": talking.turns,
        "summary": talking.summary,
        "clock": {
            "start": talking.start,
            "gap_days": talking.gap_days,
            "minutes": talking.minutes_a_turn,
        },
        "reflection": mode,
        "inject": inject,
        "directions": reflecting.directions,
        "importance": reflecting.importance,
        "importance_every": reflecting.importance_every,
        "evidence_chars": reflecting.evidence_chars,
    }
    try:
        made = RelationshipConfig(
            personas=tuple(
                map(_found, [*(talking.personas or []), *(more or [])] or ["engineers"])
            ),
            dialogues=talking.dialogues,
            rules=rules,  # type: ignore[arg-type]
            models=roles.models,
            sampling=roles.sampling,
            embedder=resolve(reflecting.embedder),
            seed=seed,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(first["msg"], place=f"--{first['loc'][-1]}") from error
    if made.embedder != "none":
        _check_embedder(made.embedder)
    return made.model_copy(
        update={"models": {r: n for r, n in made.models.items() if r in made.needed}}
    )


def sitting_of(endpoint: Endpoint, sat: Sat) -> Sitting:
    """How this sitting is carried out."""
    from naisei.relationship.execute import Sitting

    return Sitting(
        settings=endpoint.settings(sat.concurrency),
        concurrency=sat.concurrency,
        budget=sat.budget,
        cache=sat.cache,
        quiet=sat.quiet,
    )


def _check_embedder(name: str) -> None:
    """A misspelt embedder is told at once, not after the first utterance."""
    from naisei.models.embedders.registry import open_embedder

    open_embedder(name)


def _found(name: str) -> str:
    """A file by its whole path, so that the run can be resumed from anywhere; else as given."""
    path = Path(name)
    return str(path.resolve()) if name.endswith(".toml") and path.is_file() else name
