"""The model of the doors' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from doors.each_door import decides
from servers.openai_server import OpenAIServer


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply=decides) as server:
        yield server
