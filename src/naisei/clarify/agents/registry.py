"""Agents by name, and what their factories declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, JsonValue

from naisei import plugins
from naisei.clarify.agent import Agent, AgentContext
from naisei.core import InputError
from naisei.lang import say
from naisei.runs.options import typed, untyped

__all__ = ["GROUP", "build_agent", "calls_model", "is_model_free", "options_of", "settings_of"]

#: Entry-point group of agents.
GROUP = "naisei.agents"


def _factory(name: str) -> Callable[[AgentContext], Agent]:
    factory: Callable[[AgentContext], Agent] = plugins.load(
        GROUP, name, what="agent", option="--agent"
    )
    return factory


def is_model_free(name: str) -> bool:
    """Whether an agent keeps its own account of earlier trials, so that it needs no language
    model and no memory policy applies to it.

    Raises:
        InputError: no such agent.
    """
    return getattr(_factory(name), "model_free", None) is True


def calls_model(name: str) -> bool:
    """Whether an agent declares that it calls a model in the role `agent`."""
    return getattr(_factory(name), "model_free", None) is False


def options_of(name: str) -> type[BaseModel] | None:
    """The model of an agent's settings; `None` where it declares none."""
    declared: type[BaseModel] | None = getattr(_factory(name), "options", None)
    return declared


def settings_of(
    name: str, given: Mapping[str, str], *, beside: Sequence[str] = ()
) -> dict[str, JsonValue]:
    """The settings of an agent in their types.

    Args:
        given: key → value as typed. beside: the agents that share them; a key that only another
            one knows is left to it.

    Raises:
        InputError: a setting that none of them knows, or a value that does not fit.
    """
    declared = options_of(name)
    if declared is None:
        return untyped(given)
    others = [known for other in beside if (known := options_of(other)) is not None]
    theirs = {key for known in others for key in known.model_fields}
    mine = {k: v for k, v in given.items() if k in declared.model_fields or k not in theirs}
    return typed(declared, mine)


def build_agent(name: str, context: AgentContext) -> Agent:
    """The agent.

    Raises:
        InputError: no such agent, settings that it does not take, or one that says of itself
            what its factory does not.
    """
    factory = _factory(name)
    if (model := options_of(name)) is not None:
        context = replace(context, options=typed(model, context.options))
    agent = factory(context)
    free = is_model_free(name)
    if getattr(agent, "model_free", free) is not free:
        raise InputError(
            say(
                f"エージェント '{name}' の model_free は {not free} ですが、"
                "ファクトリにその属性がありません",
                f"the agent '{name}' has model_free = {not free}, which its factory has not",
            ),
            place="--agent",
            remedy=say(
                f"エージェントを作る前に調べるので、ファクトリにも設定してください: "
                f"{getattr(factory, '__name__', 'build')}.model_free = {not free}",
                f"set it on the factory, which is asked before there is an agent: "
                f"{getattr(factory, '__name__', 'build')}.model_free = {not free}",
            ),
        )
    return agent
