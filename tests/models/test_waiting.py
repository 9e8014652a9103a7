"""How long is waited between attempts, and for an endpoint that is not there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate

import pytest

from models.helpers import QUICK, gateway, perform
from naisei.core import Chat, InputError, InstrumentFailure, Where, user
from naisei.models.base import ModelSettings, Transient
from naisei.models.gateway import Gateway
from naisei.models.pacing import RetryPolicy
from naisei.models.providers._endpoint import seconds_until
from naisei.models.registry import open_roles
from servers.closed_port import closed_port
from servers.faults import Faults
from servers.openai_server import OpenAIServer
from waiting import PATIENCE, naps

Start = Callable[..., OpenAIServer]


def test_retry_after_in_seconds_is_honoured(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(rate=1.0, kinds=("429-after",), retry_after="60", most=1)
    waited = naps(monkeypatch)
    done = perform(gateway(openai_server(faults=faults)))
    assert len(waited) == 1 and 60 <= waited[0] <= 66
    assert done.usage is not None and done.usage.attempts == 2


def test_retry_after_as_a_date_is_honoured(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    date = formatdate(time.time() + 3600, usegmt=True)
    faults = Faults(rate=1.0, kinds=("429-after",), retry_after=date, most=1)
    waited = naps(monkeypatch)
    perform(gateway(openai_server(faults=faults), patience=replace(QUICK, max_retry_after=4000)))
    # Less what the set-up took.
    assert len(waited) == 1 and 3600 - PATIENCE <= waited[0] <= 3960


@pytest.mark.parametrize(
    ("field", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("soon", None), ("nan", None)]
)
def test_seconds_until(field: str, seconds: float | None) -> None:
    assert seconds_until(field) == seconds


def test_a_wish_beyond_patience_ends_the_call(openai_server: Start) -> None:
    faults = Faults(rate=1.0, kinds=("429-after",), retry_after="3600")
    server = openai_server(faults=faults)
    with pytest.raises(InstrumentFailure, match="429"):
        perform(gateway(server))
    assert server.calls == 1


def test_waits_double_and_vary() -> None:
    patience = RetryPolicy(first_wait=1.0, longest_wait=8.0)
    for n, longest in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (60, 8)]:
        waits = {patience.wait(n, Transient("busy")) for _ in range(20)}
        assert all(longest / 2 <= w <= longest for w in waits)
        assert len(waits) > 1


def test_an_endpoint_that_is_not_there_is_one_clear_message() -> None:
    with closed_port() as port:
        url = f"http://127.0.0.1:{port}/v1"
        through = Gateway(open_roles(f"openai-compatible:test@{url}"), patience=QUICK)
        with pytest.raises(InputError, match=r"cannot be reached.*start the server") as failed:
            perform(through)
    assert failed.value.place == url


def test_an_endpoint_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has answered, a refused connection is a failure that may pass."""
    waited = naps(monkeypatch)

    async def scenario(port: int) -> tuple[object, int]:
        url = f"http://127.0.0.1:{port}/v1"
        patience = RetryPolicy(attempts=10**9)
        through = Gateway(open_roles(f"openai-compatible:test@{url}"), patience=patience)
        with OpenAIServer(port=port):
            await through.perform(Chat("agent", [user("一")]), Where("1"))
        later = asyncio.create_task(through.perform(Chat("agent", [user("二")]), Where("2")))
        while len(waited) < 4:
            await asyncio.sleep(0)
        with OpenAIServer(port=port):
            done = await later
        await through.aclose()
        return done.value, done.usage.attempts if done.usage else 0

    with closed_port() as port:
        value, attempts = asyncio.run(scenario(port))
    assert value == "了解です"
    assert attempts > 3


def test_a_reply_that_takes_too_long_is_asked_for_again(openai_server: Start) -> None:
    server = openai_server(faults=Faults(rate=1.0, kinds=("slow",), slow_s=PATIENCE, most=1))
    roles = open_roles(f"openai-compatible:test@{server.url}", settings=ModelSettings(timeout=0.5))
    done = perform(Gateway(roles, patience=QUICK))
    assert done.value == "了解です"
    assert done.usage is not None and done.usage.attempts >= 2


def test_a_reply_that_trickles_is_given_up(openai_server: Start) -> None:
    """Each piece comes in time; the whole does not."""
    server = openai_server(faults=Faults(rate=1.0, kinds=("trickle",), slow_s=10.0, most=1))
    roles = open_roles(f"openai-compatible:test@{server.url}", settings=ModelSettings(timeout=2.0))
    done = perform(Gateway(roles, patience=QUICK))
    assert done.value == "了解です"
    assert done.usage is not None and done.usage.attempts >= 2


def test_a_proxy_of_the_environment_is_not_asked_for_loopback(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closed_port() as port:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        assert perform(gateway(openai_server())).value == "了解です"
