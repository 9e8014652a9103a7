"""From what was asked for on the command line to configurations: defaults are decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from naisei.clarify.agents.registry import is_model_free, options_of
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.rules import Rules
from naisei.core import InputError
from naisei.lang import say
from naisei.models.embedders.registry import open_embedder, resolve
from naisei.runs.options import FLAG, pairs, typed, untyped

__all__ = ["Wish", "configs", "label"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a user asked for; `None` and empty mean: decide for me.

    agents, models: every combination becomes a configuration (an agent that needs no
    model comes once). agent_options: words `KEY=VALUE`, each for the
    agents that know the key. model_of: role → model, over `models`.
    """

    agents: Sequence[str] = ()
    agent_options: Sequence[str] = ()
    models: Sequence[str] = ()
    model_of: Mapping[str, str | None] = field(default_factory=dict)
    memory: str | None = None
    simulator: str | None = None
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    rules: Mapping[str, JsonValue] = field(default_factory=dict)
    others: Mapping[str, JsonValue] = field(default_factory=dict)


def configs(wish: Wish) -> dict[str, ClarifyConfig]:
    """The configurations by label. Without any model, the model-free `bayes` is the agent.

    Raises:
        InputError: values that fit no configuration.
    """
    default = wish.model_of.get("agent")
    agents = list(wish.agents) or (["llm"] if wish.models or default else ["bayes"])
    settings = _settings(agents, pairs(wish.agent_options))
    out: dict[str, ClarifyConfig] = {}
    for agent in agents:
        models: list[str | None] = [None] if is_model_free(agent) else [*wish.models] or [None]
        for model in models:
            config = _config(wish, agent, model, settings[agent])
            out[label(config)] = config
    return out


def label(config: ClarifyConfig) -> str:
    """A short name for tables: the agent, its model, and what differs from the full system."""
    parts = [config.agent]
    if model := config.models.get("agent"):
        parts.append(model)
    if not is_model_free(config.agent):
        parts.append(config.memory)
    if not config.rules.clarify:
        parts.append("no-clarify")
    return " ".join(parts)


def _settings(agents: Sequence[str], given: dict[str, str]) -> dict[str, dict[str, JsonValue]]:
    """Agent → its settings, of those that it knows.

    Raises:
        InputError: a setting that no agent knows, or a value that does not fit.
    """
    known = {agent: options_of(agent) for agent in agents}
    out: dict[str, dict[str, JsonValue]] = {}
    for agent, model in known.items():
        if model is None:
            out[agent] = untyped(given)
        else:
            mine = {key: value for key, value in given.items() if key in model.model_fields}
            out[agent] = typed(model, mine)
    for key in given:
        if not any(key in settings for settings in out.values()):
            none = say("なし", "none")
            lists = [f"{a}: {', '.join(m.model_fields) or none}" for a, m in known.items() if m]
            raise InputError(
                say(f"'{key}' という設定はありません", f"unknown setting '{key}'"),
                place=FLAG,
                remedy=say(f"使えるもの: {'; '.join(lists)}", f"known: {'; '.join(lists)}"),
            )
    return out


def _config(
    wish: Wish, agent: str, model: str | None, settings: dict[str, JsonValue]
) -> ClarifyConfig:
    free = is_model_free(agent)
    first = model or next(iter(wish.models), None)
    independent = bool(wish.others.get("independent"))
    memory = "none" if free or independent else (wish.memory or "tur")
    simulator = wish.simulator or ("llm" if wish.model_of.get("simulator") else "rule")
    roles = [
        *([] if free else ["agent"]),
        *([] if free or memory == "none" else ["reflector"]),
        *(["simulator"] if simulator == "llm" else []),
    ]
    named = {role: wish.model_of.get(role) or first for role in roles}
    if independent and wish.memory not in (None, "none"):
        raise InputError(
            say(
                f"独立な試行は何も共有しないので、記憶の方式 '{wish.memory}' は使えません",
                f"independent trials share nothing, so they have no memory '{wish.memory}'",
            ),
            place="--memory",
            remedy=say(
                "--memory none にするか、--independent を外してください",
                "use --memory none, or leave out --independent",
            ),
        )
    try:
        return ClarifyConfig(
            agent=agent,
            agent_options=settings,
            memory=memory,
            simulator=simulator,
            models={role: name for role, name in named.items() if name},
            sampling={
                role: dict(wish.sampling) for role in roles if wish.sampling and role != "simulator"
            },
            rules=Rules.model_validate(wish.rules),
            **{**wish.others, "embedder": _embedder(wish)},  # type: ignore[arg-type]
        )
    except ValidationError as error:
        first_error = error.errors()[0]
        place = ".".join(map(str, first_error["loc"]))
        raise InputError(first_error["msg"], place=f"--{place.replace('_', '-')}") from error


def _embedder(wish: Wish) -> str:
    """The embedder by its own name: `auto` would be another one on another machine."""
    asked = str(wish.others.get("embedder", "auto"))
    found = resolve(asked)
    if found != asked and found == "ngram":
        open_embedder(asked)  # says so, once
    return found
