"""Servers end by a signal at any moment: before they serve, and while they do."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.types import ASGIApp

from naisei import serving


@pytest.fixture(autouse=True)
def interrupted() -> Iterator[None]:
    """Ctrl-C interrupts, also if these tests run in the background of a script, where the shell
    has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@asynccontextmanager
async def _opened() -> AsyncIterator[ASGIApp]:
    yield Starlette()


def test_ctrl_c_while_it_opens_interrupts() -> None:
    @asynccontextmanager
    async def opening() -> AsyncIterator[ASGIApp]:
        signal.raise_signal(signal.SIGINT)
        async with _opened() as app:
            yield app

    with pytest.raises(KeyboardInterrupt):
        serving.serve(opening, "127.0.0.1", 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_serves_is_the_usual_end(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    serving.serve(_opened, "127.0.0.1", 0, ready=lambda url: signal.raise_signal(number))
    assert signal.getsignal(number) is before
