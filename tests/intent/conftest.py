"""A server of the assistant over the documents of `servers.intent_server`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.intent.config import AssistConfig
from naisei.intent.rules import Rules, Setting
from naisei.intent.serve.options import ServeOptions
from naisei.models.base import ModelSettings
from servers.intent_server import IntentServer, indexed
from waiting import PATIENCE

Serve = Callable[..., IntentServer]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("index"))


@pytest.fixture
def serve(index: Path, tmp_path: Path) -> Iterator[Serve]:
    """`serve(roles=(), model=None, **OPTIONS)`: a running server; `model` plays the roles."""
    running: list[IntentServer] = []

    def begin(*, roles: tuple[str, ...] = (), model: Any = None, **options: Any) -> IntentServer:
        rules = Rules.model_validate({"roles": roles})
        models = dict.fromkeys(roles, "openai:test")
        config = AssistConfig(index=str(index), models=models, setting=Setting(rules=rules))
        settings = model and ModelSettings(base_url=model.url, api_key="k", timeout=PATIENCE)
        given = ServeOptions(**{"state": tmp_path / "state", **options})
        server = IntentServer(given, config, settings=settings)
        server.__enter__()
        running.append(server)
        return server

    yield begin
    for server in running:
        if server.running:
            server.__exit__(None, None, None)
