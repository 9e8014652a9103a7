"""The browser of the web app's end-to-end tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer


@pytest.fixture
def options(tmp_path: Path) -> WebOptions:
    return WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")


@pytest.fixture
def server(options: WebOptions) -> Iterator[WebServer]:
    with WebServer(options) as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def learnt_once() -> Iterator[None]:
    """The classifier of worries hangs on the embedder alone: an index of a test learns none."""
    from naisei.intent import worries

    learnt, known = worries._learnt, {}

    def once(embed: worries.Embed) -> Any:
        key = tuple(vectors.tobytes() for vectors in embed(["x"]))
        return known.get(key) or known.setdefault(key, learnt(embed))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worries, "_learnt", once)
        yield


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """See `browser.py`. Screenshots go to WEB_SHOTS, else to a temporary folder.

    A module's, for as long as there is one, an event loop runs in this thread.
    """
    spec = importlib.util.spec_from_file_location(
        "naisei_browser", Path(__file__).with_name("browser.py")
    )
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = os.environ.get("WEB_SHOTS")
    shots = Path(given) if given else tmp_path_factory.mktemp("shots")
    shots.mkdir(parents=True, exist_ok=True)
    with module.opened(shots) as browser:
        yield browser
