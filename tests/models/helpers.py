"""Common to the tests of models: gateways on loopback, and effects performed through them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from naisei.core import Chat, Message, Performed, Sampling, Where, user
from naisei.models.gateway import Gateway
from naisei.models.pacing import RetryPolicy
from naisei.models.registry import open_roles
from servers.openai_server import OpenAIServer

#: Waits that a test can afford.
QUICK = RetryPolicy(first_wait=0.005, longest_wait=0.02)


class Choice(BaseModel):
    """What the tests ask for."""

    thought: str
    action: int


def gateway(server: OpenAIServer, *, patience: RetryPolicy = QUICK, **options: Any) -> Gateway:
    """A gateway whose only model is the server's."""
    sampling = options.pop("sampling", Sampling())
    roles = open_roles(f"openai-compatible:test@{server.url}", sampling=sampling)
    return Gateway(roles, patience=patience, **options)


def perform(
    through: Gateway,
    asked: str | Sequence[Message] = "何をしますか？",
    schema: type[BaseModel] | None = None,
    *,
    where: Where = Where("1", 1, (0,)),
    role: str = "agent",
    sampling: Sampling = Sampling(),
) -> Performed[Any]:
    """One `Chat` effect, performed in a loop of its own."""
    messages = [user(asked)] if isinstance(asked, str) else list(asked)
    effect: Chat[Any] = Chat(role, messages, schema, sampling=sampling)  # type: ignore[arg-type]
    return asyncio.run(_closing(through, effect, where))


async def _closing(through: Gateway, effect: Chat[Any], where: Where) -> Performed[Any]:
    try:
        return await through.perform(effect, where)
    finally:
        await through.aclose()
