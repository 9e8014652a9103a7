"""Prices: known, free, unknown. Unknown is never zero."""

from __future__ import annotations

import pytest

from naisei.models.base import ChatReply, ModelSettings
from naisei.models.connection import price
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
