"""`naisei serve` behind a reverse proxy that adds TLS and a path works as behind none."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest

from naisei.web.options import WebOptions
from servers import postgres_server
from servers.reverse_proxy import reverse_proxy
from servers.web_server import WebServer
from waiting import PATIENCE, until
from web.test_workers import serving

PREFIX = "/desk/naisei"


def talk(address: str, text: str) -> list[str]:
    """Opens the start page, follows what it finds, begins a conversation and says something, as a
    browser does; the addresses that were met."""
    url = urlsplit(address)
    origin = f"{url.scheme}://{url.netloc}"
    with httpx2.Client(verify=False, timeout=PATIENCE, headers={"origin": origin}) as client:
        page = client.get(f"{address}/")
        met = re.findall(r'(?:href|src|action|hx-post|hx-get)="(/[^"]*)"', page.text)
        for path in met[:8]:
            assert client.get(urljoin(origin, path)).status_code in (200, 405), path
        proof = re.search(r'name="csrf" content="([^"]+)"', page.text)
        assert proof is not None
        client.headers["x-csrf-token"] = proof[1]
        begun = client.post(f"{address}/documents/new", data={"shelf": "handbook"})
        here = begun.headers["hx-redirect"]
        step: list[str] = []

        def asked() -> bool:
            step[:] = re.findall(r'name="step" value="([^"]+)"', client.get(origin + here).text)
            return bool(step)

        until(asked)
        to = f"{address}/conversations/{here.rpartition('/')[2]}/answer"
        assert client.post(to, data={"step": step[0], "text": text}).status_code < 300
        until(lambda: text in client.get(origin + here).text)
        cookies = [c for c in client.cookies.jar if "visitor" in c.name]
        assert all(c.secure == (url.scheme == "https") for c in cookies) and cookies
    return [here, *met]


def test_addresses_and_origins_behind_tls_and_a_path(tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir()
    options = WebOptions(state=tmp_path / "state", runs=tmp_path)
    with WebServer(options) as server, reverse_proxy(server.url, PREFIX, tmp_path / "tls") as url:
        met = talk(url, "休暇について教えてください")
        assert [path for path in met if not path.startswith(f"{PREFIX}/")] == []
        assert not any(path.startswith(PREFIX) for path in talk(server.url, "休暇の件"))
        other = {"origin": "https://elsewhere.example"}
        refused = httpx2.post(f"{url}/settings", verify=False, headers=other, data={"lang": "en"})
        assert refused.status_code == 403


def test_an_origin_may_be_named_where_the_proxy_changes_the_host(tmp_path: Path) -> None:
    named = {"origin": "https://desk.example.test"}
    options = WebOptions(
        state=tmp_path / "state", runs=tmp_path, origins=("https://desk.example.test",)
    )
    with WebServer(options) as server:
        page = httpx2.get(server.url, trust_env=False)
        proof = re.search(r'name="csrf" content="([^"]+)"', page.text)
        assert proof is not None
        headers = {**named, "x-csrf-token": proof[1]}
        told = {"data": {"lang": "en"}, "headers": headers, "cookies": page.cookies}
        answer = httpx2.post(f"{server.url}/settings", **told, trust_env=False)
        assert answer.status_code == 204


@pytest.mark.slow
def test_two_workers_behind_tls_and_a_path(tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir()
    with (
        postgres_server.running() as server,
        serving(tmp_path, "--store", server.url) as (_, inner),
        reverse_proxy(inner, PREFIX, tmp_path / "tls") as url,
    ):
        for n in range(4):
            assert all(path.startswith(f"{PREFIX}/") for path in talk(url, f"休暇は {n} 日ですか"))
