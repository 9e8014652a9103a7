"""The groups of flags that every system shares; see `naisei.cli.grouped`.

None of them is part of a run's frozen configuration: they may differ from sitting to sitting.
"""

from __future__ import annotations

from dataclasses import dataclass

from naisei.cli import options
from naisei.models.base import ModelSettings
from naisei.runs.budget import Budget

__all__ = ["Endpoint", "Sitting"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How models are reached."""

    base_url: options.BaseUrl = None
    timeout: options.Timeout = None
    structured: options.Structured = "json_schema"
    requests_per_minute: options.RequestsPerMinute = None
    tokens_per_minute: options.TokensPerMinute = None

    def settings(self, concurrency: int = 1) -> ModelSettings:
        """For a run with so many episodes at a time."""
        return ModelSettings(
            base_url=self.base_url,
            timeout=self.timeout or ModelSettings().timeout,
            concurrency=max(concurrency, 1),
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            structured=self.structured,
        )


@dataclass(frozen=True, slots=True)
class Sitting:
    """How a run is carried out: where, how fast, for how much, and what is printed."""

    concurrency: options.Concurrency = 16
    run_dir: options.RunDir = None
    cache: options.Cache = None
    max_usd: options.MaxUsd = None
    max_tokens: options.MaxTokens = None
    max_minutes: options.MaxMinutes = None
    quiet: options.Quiet = False
    json: options.Json = False

    @property
    def budget(self) -> Budget:
        return Budget(self.max_usd, self.max_tokens, self.max_minutes)
