"""Prices: known, free, unknown. Unknown is never zero."""

from __future__ import annotations

import asyncio

import pytest

from naisei.core import user
from naisei.models.base import ChatReply, ChatRequest, ModelSettings
from naisei.models.connection import Connection
from naisei.models.costs import CallCost, price
from naisei.models.pacing import RetryPolicy, Throttle
from naisei.models.registry import open_model

REPLY = ChatReply("", input_tokens=1_000_000, output_tokens=1_000_000)


def test_a_listed_model_has_its_price() -> None:
    model = open_model("openai:gpt-4o-mini", ModelSettings(api_key="k"))
    assert price(model, REPLY) == pytest.approx(0.15 + 0.60)


@pytest.mark.parametrize(
    ("spec", "url"),
    [
        ("openai:no-such-model", None),
        ("openai:gpt-4o-mini", "http://127.0.0.1:1/v1"),
        ("openai-compatible:gpt-4o-mini", "http://127.0.0.1:1/v1"),
    ],
)
def test_a_price_that_nobody_knows_is_none(spec: str, url: str | None) -> None:
    model = open_model(spec, ModelSettings(api_key="k", base_url=url))
    assert price(model, REPLY) is None


class _Liar:
    """A model whose endpoint counts as it likes."""

    name, free = "liar:m", True

    def __init__(self, reply: ChatReply) -> None:
        self.reply = reply

    async def complete(self, request: ChatRequest) -> ChatReply:
        return self.reply


@pytest.mark.parametrize(
    ("counts", "believed"),
    [
        ({"input_tokens": 900, "output_tokens": 40}, True),
        ({"input_tokens": 900, "output_tokens": 30_000, "reasoning": 29_990}, True),
        ({}, False),  # nobody counted: a budget must end all the same
        ({"input_tokens": 9, "cached_input": 99, "output_tokens": 3}, False),
        ({"input_tokens": -900, "output_tokens": 40}, False),
        ({"input_tokens": 9, "output_tokens": -(10**30)}, False),
        ({"input_tokens": 10**30}, False),
        ({"input_tokens": 9, "output_tokens": 10**18}, False),
        ({"input_tokens": 9, "cached_input": -5}, False),
        ({"output_tokens": 9, "reasoning": 10**20}, False),
    ],
)
def test_counts_that_cannot_be_are_not_believed(counts: dict[str, int], believed: bool) -> None:
    liar = _Liar(ChatReply("はい", **counts))  # type: ignore[arg-type]
    spent = CallCost()
    line = Connection(liar, Throttle(), RetryPolicy())
    asyncio.run(line.ask(ChatRequest((user("暑いね" * 10),)), spent))
    used = spent.usage("agent", "m")
    told = spent.sent[0]
    assert isinstance(told, dict) and ("note" in told) != believed
    if believed:
        assert (used.input_tokens, used.output_tokens) == (
            counts.get("input_tokens", 0),
            counts.get("output_tokens", 0),
        )
    else:
        assert (used.input_tokens, used.output_tokens, used.usd) == (90, 6, None)
