"""A key goes to addresses that the command or the environment names, whatever a file says."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from commandline import Naisei
from naisei import keys
from naisei.models.base import ModelSettings
from naisei.models.embedders.endpoint import EndpointEmbedder


class Stranger(HTTPServer):
    """An endpoint that writes down the keys that it is sent, and refuses them."""

    def __init__(self) -> None:
        self.seen: set[str | None] = set()
        server = self

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.seen.add(self.headers.get("Authorization"))
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(401)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    with Stranger() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def foreign(naisei: Naisei, stranger: Stranger) -> Path:
    """A run directory that came from elsewhere: its config names the stranger's address."""
    assert naisei("clarify", "run", "--agent", "random", "--limit", 1, "--run-dir", "run").code == 0
    for log in Path("run").glob("log.sqlite*"):
        log.unlink()
    config = json.loads(Path("run/config.json").read_text("utf-8"))
    model = f"openai-compatible:m@{stranger.url}"
    config["config"] |= {"agent": "llm", "models": {"agent": model}}
    Path("run/config.json").write_text(json.dumps(config), "utf-8")
    return Path("run")


def test_resuming_sends_no_key_to_an_address_of_a_config(
    naisei: Naisei, foreign: Path, stranger: Stranger
) -> None:
    done = naisei("runs", "resume", foreign, OPENAI_API_KEY="secret")
    assert done.code == 2
    assert stranger.seen == {"Bearer none"}
    assert "OPENAI_API_KEY is not sent to" in done.err and stranger.url in done.err


def test_it_does_once_the_environment_names_the_address(
    naisei: Naisei, foreign: Path, stranger: Stranger
) -> None:
    done = naisei("runs", "resume", foreign, OPENAI_API_KEY="secret", OPENAI_BASE_URL=stranger.url)
    assert done.code == 2 and "is not sent" not in done.err
    assert stranger.seen == {"Bearer secret"}


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://models.example/v1", True),
        ("https://MODELS.example:443/other", True),
        ("http://models.example/v1", False),
        ("https://models.example:8443/v1", False),
        ("https://models.example.evil.example/v1", False),
        ("https://models.example@evil.example/v1", False),
        ("https://local.example/v1", True),
        ("https://elsewhere.example/v1", False),
    ],
)
def test_an_address_is_its_scheme_host_and_port(
    monkeypatch: pytest.MonkeyPatch, url: str, named: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    arguments = ["clarify", "run", "--model", "openai-compatible:m@https://models.example/v1"]
    variables = {"NAISEI_MODEL": "openai-compatible:m@https://local.example/v1", "HOME": url}
    with keys.only_to_named(arguments, variables):
        assert keys.key("OPENAI_API_KEY", url) == ("secret" if named else None)
        assert keys.key("OPENAI_API_KEY") == "secret"  # the provider's own address
    assert keys.key("OPENAI_API_KEY", url) == "secret"  # a program answers for what it passes


def test_an_embedder_that_an_index_names_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with keys.only_to_named(["intent", "ask"], {}):
        embedder = EndpointEmbedder("m", "https://elsewhere.example/v1")
        assert embedder._api.key == "none"
        assert ModelSettings(api_key="mine").key("OPENAI_API_KEY", "https://x.example") == "mine"
