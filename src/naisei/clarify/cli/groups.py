"""The groups of flags that clarify's commands share; see `naisei.cli.grouped`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pydantic import JsonValue

from naisei.clarify.cli import flags
from naisei.clarify.session import Session
from naisei.cli import options
from naisei.cli.groups import Endpoint, Sitting

__all__ = ["Items", "Roles", "Rulebook", "Sampled", "session"]


@dataclass(frozen=True, slots=True)
class Items:
    """Which instances, and which actions for them."""

    data: options.Data = "ambigact40-open"
    split: flags.Split = None
    limit: options.Limit = None
    actions: flags.Actions = None
    seed: options.Seed = 0

    def wish(self) -> dict[str, JsonValue]:
        return {**asdict(self), "actions": self.actions or ""}


@dataclass(frozen=True, slots=True)
class Roles:
    """Models of single roles."""

    agent_model: flags.AgentModel = None
    reflector_model: flags.ReflectorModel = None
    simulator_model: flags.SimulatorModel = None

    def wish(self) -> Mapping[str, str | None]:
        return {name.removesuffix("_model"): model for name, model in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the models of agent and reflector are told."""

    temperature: flags.Temperature = None
    max_output_tokens: flags.OutputTokens = None

    def wish(self) -> dict[str, float | int]:
        given = {"temperature": self.temperature, "max_tokens": self.max_output_tokens}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Rules and measures in which no two configurations of a study differ."""

    simulator: flags.Simulator = None
    quota: flags.Quota = 2
    forbidden: flags.Forbidden = "count"
    alpha: flags.Alpha = 0.9
    embedder: flags.Embedder = "auto"


def session(endpoint: Endpoint, sitting: Sitting) -> Session:
    """How a run is carried out, from the flags for it."""
    return Session(
        settings=endpoint.settings(sitting.concurrency),
        concurrency=sitting.concurrency,
        budget=sitting.budget,
        cache=sitting.cache,
        quiet=sitting.quiet,
    )
