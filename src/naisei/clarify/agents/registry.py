"""Agents by name, and what their factories declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pydantic import BaseModel

from naisei import plugins
from naisei.clarify.agent import Agent, AgentContext
from naisei.core import InputError
from naisei.lang import say
from naisei.runs.options import typed

__all__ = ["GROUP", "build_agent", "calls_model", "is_model_free", "options_of"]

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
