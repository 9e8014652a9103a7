"""Sampling parameters of the models of a run, by role: as declared, and from `--sampling`.

A role that measures or reads (a simulated user, a judge, an evaluator: `sampled=False`) has
temperature 0, so that it behaves the same in every run. Every role has the run's seed, from
which a seed per call is derived (`naisei.models.gateway`). Parameters that a model does not
support are omitted, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError, Sampling
from naisei.lang import say
from naisei.system.config import Config, Parameters

if TYPE_CHECKING:
    from naisei.system.declare import Experiment

FLAG = "--sampling"

C = TypeVar("C", bound=Config)


class _Known(BaseModel):
    model_config = ConfigDict(extra="forbid")

    temperature: float | None = Field(None, ge=0)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1)
    seed: int | None = None
    reasoning_effort: str | None = None


def parsed(words: Sequence[str], roles: Sequence[str]) -> dict[str, Parameters]:
    """Parse arguments such as `judge.temperature=0` to role (empty: all roles) → parameters.

    Raises:
        InputError: an unknown role or parameter, an invalid value, or a parameter set twice.
    """
    out: dict[str, Parameters] = {}
    for word in words:
        name, equals, value = (part.strip() for part in word.partition("="))
        role, _, key = name.rpartition(".")
        if not equals or key not in _Known.model_fields or (role and role not in roles):
            raise InputError(
                say(f"'{word}' は指定できません", f"'{word}' cannot be set"),
                place=FLAG,
                remedy=say(
                    f"[役割.]名前=値 と書いてください。役割: {', '.join(roles)}。"
                    f"名前: {', '.join(_Known.model_fields)}",
                    f"write [ROLE.]KEY=VALUE; roles: {', '.join(roles)}; "
                    f"keys: {', '.join(_Known.model_fields)}",
                ),
            )
        try:
            read = _Known.model_validate({key: value})
        except ValidationError as error:
            raise InputError(
                say(f"{key} の値として使えません: {value}", f"no value of {key}: {value}"),
                place=f"{FLAG} {word}",
                remedy=error.errors(include_url=False)[0]["msg"],
            ) from error
        if key in out.setdefault(role, {}):
            raise InputError(
                say(f"'{name}' が二度指定されています", f"'{name}' is set twice"),
                place=FLAG,
                remedy=say("どちらか一つにしてください", "leave one of them out"),
            )
        out[role][key] = getattr(read, key)
    return out


def sampled(
    experiment: Experiment[C],
    config: C,
    *,
    doers: Parameters | None = None,
    asked: Mapping[str, Parameters] | None = None,
) -> dict[str, Parameters]:
    """Return the sampling parameters of every role that a configuration calls.

    doers: for roles that do not measure (`--temperature`). asked: by role, from `parsed`.
    """
    asked = asked or {}
    return {
        role.name: {
            "seed": config.seed,
            **({} if role.sampled else {"temperature": 0.0}),
            **role.sampling(config),
            **(doers or {} if role.sampled else {}),
            **asked.get("", {}),
            **asked.get(role.name, {}),
        }
        for role in experiment.roles
        if role.needed(config)
    }


def completed(experiment: Experiment[C], config: C) -> C:
    """Return the configuration completed with the roles' declared parameters."""
    full = sampled(experiment, config, asked=config.sampling)
    return config.model_copy(update={"sampling": {**config.sampling, **full}})


def of_config(config: Config) -> dict[str, Sampling]:
    """Return role → sampling parameters for the gateway."""
    known = asdict(Sampling())
    return {
        role: Sampling(**{k: v for k, v in given.items() if k in known})  # type: ignore[arg-type]
        for role, given in config.sampling.items()
    }
