"""Limits of an endpoint."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from models.helpers import QUICK
from naisei.core import Chat, Where, user
from naisei.models.base import ModelSettings
from naisei.models.gateway import Gateway
from naisei.models.pacing import Bucket
from naisei.models.registry import open_roles
from servers.openai_server import OpenAIServer
from waiting import PATIENCE, naps

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


def run(server: OpenAIServer, settings: ModelSettings, n: int) -> None:
    """One call, then `n` at once."""

    async def all_calls() -> None:
        roles = open_roles(f"openai-compatible:test@{server.url}")
        through = Gateway(roles, settings=settings, patience=QUICK)
        await through.perform(Chat("agent", [user("前")]), Where("0"))
        calls = (through.perform(Chat("agent", [user(str(i))]), Where(str(i))) for i in range(n))
        await asyncio.gather(*calls)
        await through.aclose()

    asyncio.run(all_calls())


def test_concurrency_is_bounded(openai_server: Start) -> None:
    server = openai_server(holds=1)

    def watch() -> None:
        server.reached(4)  # the first alone, then as many as may
        server.release()

    watching = threading.Thread(target=watch)
    watching.start()
    run(server, ModelSettings(concurrency=3), 12)
    watching.join()
    assert server.calls == 13 and server.peak == 3


def test_requests_per_minute_are_bounded(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = naps(monkeypatch)
    # One in 10,000 seconds; beside that, what the calls themselves take is nothing.
    run(openai_server(), ModelSettings(requests_per_minute=60 / 10_000), 3)
    assert sorted(waited) == pytest.approx([10_000, 20_000, 30_000], abs=PATIENCE)


def test_tokens_per_minute_are_bounded(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = naps(monkeypatch)
    # Each request is estimated at 256 tokens and more: hours' worth.
    run(openai_server(), ModelSettings(tokens_per_minute=0.02), 4)
    assert len(waited) == 4 and min(waited) > 3600
