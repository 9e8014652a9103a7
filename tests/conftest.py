"""What every test has: no model but scripted ones and loopback servers may be called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from servers.openai_server import OpenAIServer

#: Variables of the person who runs the tests: no test may depend on them.
_FOREIGN = (
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    # What is said is English, unless a test chooses otherwise.
    "NAISEI_LANG",
    "LC_ALL",
    "LC_MESSAGES",
)


@pytest.fixture(autouse=True)
def no_remote_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbids every model that is neither scripted nor on loopback; hides keys and language."""
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "remote")
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.fixture
def english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, in English."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAISEI_LANG", "en")
    return tmp_path


@pytest.fixture
def openai_server() -> Iterator[Callable[..., OpenAIServer]]:
    """Starts `OpenAIServer(...)`, as many as a test wants; they stop with it."""
    with ExitStack() as stack:

        def start(*args: Any, **options: Any) -> OpenAIServer:
            return stack.enter_context(OpenAIServer(*args, **options))

        yield start
