"""Limits of an endpoint."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from models.helpers import QUICK
from naisei.core import Chat, Where, user
from naisei.models.gateway import Gateway
from naisei.models.limits import Bucket
from naisei.models.roles import open_roles
from naisei.models.settings import ModelSettings
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_lets_through_what_flows_in() -> None:
    clock = Clock()
    bucket = Bucket(60, clock=clock)  # one a second
    assert [bucket.take(1) for _ in range(4)] == [0, 1, 2, 3]
    clock.now = 3.0
    assert bucket.take(1) == pytest.approx(1)
    clock.now = 100.0
    assert [bucket.take(1) for _ in range(2)] == [0, 1]


def test_a_bucket_is_corrected() -> None:
    clock = Clock()
    bucket = Bucket(600, burst=100, clock=clock)  # ten a second
    assert bucket.take(100) == 0
    bucket.give_back(60)
    assert bucket.take(50) == 0
    assert bucket.take(10) == 0
    assert bucket.take(20) == pytest.approx(2)


def test_a_request_larger_than_the_bucket_waits_but_passes() -> None:
    clock = Clock()
    bucket = Bucket(60, burst=10, clock=clock)
    assert bucket.take(1000) == 0
    assert bucket.take(1) == pytest.approx(991)


def run(server: OpenAIServer, settings: ModelSettings, n: int) -> float:
    """Seconds that `n` calls at once take."""

    async def all_calls() -> float:
        roles = open_roles(f"openai-compatible:test@{server.url}")
        through = Gateway(roles, settings=settings, patience=QUICK)
        await through.perform(Chat("agent", [user("前")]), Where("0"))
        began = time.perf_counter()
        calls = (through.perform(Chat("agent", [user(str(i))]), Where(str(i))) for i in range(n))
        await asyncio.gather(*calls)
        took = time.perf_counter() - began
        await through.aclose()
        return took

    return asyncio.run(all_calls())


def test_concurrency_is_bounded(openai_server: Start) -> None:
    server = openai_server(latency=0.05)
    run(server, ModelSettings(concurrency=3), 12)
    assert server.peak == 3


def test_requests_per_minute_are_bounded(openai_server: Start) -> None:
    server = openai_server()
    # Ten a second, ten at once: the first took one, so 20 more need about a second.
    assert run(server, ModelSettings(requests_per_minute=600), 20) >= 0.9


def test_tokens_per_minute_are_bounded(openai_server: Start) -> None:
    server = openai_server()
    # Each request is estimated at 256 tokens and more: 1,000 at once, 33 a second.
    slow = run(server, ModelSettings(tokens_per_minute=2000), 4)
    assert slow >= 0.5
