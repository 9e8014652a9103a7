"""Probes: other hosts, other sites' forms, other visitors, paths that lead out, script in data."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from starlette.exceptions import HTTPException

from commandline import Naisei
from html_page import Page
from naisei import serving
from naisei.core import Act, AskUser, Chat, Event, InputError, Message, Say, Search, Where
from naisei.core.messages import fingerprint
from naisei.http import Guesses
from naisei.lengths import GUESS_SECONDS, GUESSES, KEPT_DAYS
from naisei.runs.directory import RunDirectory
from naisei.runs.report import StoredSummary, store_summary
from naisei.runs.task import EpisodeRow, Metric, Summary, Table
from naisei.web.conversations import kept
from naisei.web.conversations.kind import ConversationConfig, ConversationRun
from naisei.web.options import WebOptions
from naisei.web.visitors import Visitors
from servers.web_server import WebServer, csrf
from waiting import PATIENCE

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'>javascript:alert(1){{7*7}}"
TOKEN = "a-token-of-more-than-16-characters"


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> WebOptions:
    root = tmp_path_factory.mktemp("web")
    nasty_run(root / "runs" / "clarify-nasty")
    nasty_run(root / "runs" / "clarify-other")
    (root / "secret.json").write_text('{"secret": 1}')
    return WebOptions(state=root / "state", runs=root / "runs")


@pytest.fixture(scope="module")
def server(options: WebOptions) -> Iterator[WebServer]:
    with WebServer(options) as server:
        yield server


def nasty_run(path: Path) -> None:
    """A run in which everything that others wrote is an attack."""
    config = ConversationConfig(kind=NASTY, title=NASTY, language="ja", settings={"x": NASTY})
    where = Where(f"i{NASTY}", 0)
    with RunDirectory.of(ConversationRun(config, system=f"clarify{NASTY}"), path) as run:
        effects = [
            (Chat("agent", [Message(role="user", content=NASTY)]), NASTY),
            (AskUser(NASTY), NASTY),
            (Act({"do": NASTY}), {"text": NASTY, "reward": 0, "done": True, "info": {"a": NASTY}}),
            (Say(NASTY, NASTY, {"note": NASTY}), None),
            (Search(NASTY), [{"id": NASTY, "text": NASTY, "score": 1.0, "meta": {}}]),
        ]
        for n, (effect, result) in enumerate(effects):
            request = effect.request()
            digest = fingerprint([effect.kind, request])
            run.log.append(Event(where.at(n), effect.kind, digest, request, result))
        run.log.put("episodes", 2)
        run.log.finish(EpisodeRow(where, {"said": NASTY}))
        run.log.finish(EpisodeRow(Where("failed"), None, f"InstrumentFailure: {NASTY}"))
        metric = Metric(f"pass@1{NASTY}", 0.5, 0.4, 0.6, 1, "", (0.5,))
        plain = Metric("pass@1", 0.5, 0.4, 0.6, 1, "", (0.5,))
        table = Table(NASTY, (NASTY,), ((NASTY,),), NASTY)
        summary = Summary((metric, plain), (table,), (NASTY,), {"units": [where.instance]})
        texts = ((where.episode, NASTY),)
        figures = {where.episode: f"<svg xmlns='http://www.w3.org/2000/svg'>{NASTY}</svg>"}
        store_summary(
            run, StoredSummary(summary, 1, stopped=NASTY, transcripts=texts, figures=figures)
        )


def assert_harmless(text: str) -> None:
    page = Page(text)
    for tag, given in page.tags:
        assert tag not in ("iframe", "object", "embed", "base"), tag
        assert not [name for name in given if name.startswith("on") or name in ("style", "srcdoc")]
        src = given.get("src", "")
        if tag == "script":
            assert re.fullmatch(r"/static/[\w.\-/]+\?v=\w+", src), src
        if tag == "img":
            assert src.startswith("data:image/svg+xml;base64,"), src
    for link in page.all("href", "src", "action", "formaction", "hx-get", "hx-post"):
        assert link.startswith(("/", "#", "?", "data:image/svg+xml;base64,")), link
    assert "49" not in re.findall(r"javascript:alert\(1\)(\d+)", text)


EPISODE = f"i{NASTY}#0"


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/", {}),
        ("/assistant", {}),
        ("/runs", {}),
        ("/runs", {"text": NASTY, "system": NASTY, "state": NASTY}),
        ("/runs/rows", {"text": "clarify"}),
        ("/runs/show/clarify-nasty", {}),
        ("/runs/show/clarify-nasty", {"text": NASTY}),
        ("/runs/episodes/clarify-nasty", {"text": NASTY}),
        ("/runs/costs/clarify-nasty", {}),
        ("/runs/episode/clarify-nasty", {"e": EPISODE}),
        ("/runs/episode/clarify-nasty", {"e": EPISODE, "step": "0"}),
        ("/runs/prompt/clarify-nasty", {"e": EPISODE, "step": "0"}),
        ("/runs/episode/clarify-nasty", {"e": NASTY}),
        ("/runs/show/" + "%3Cscript%3Ealert(1)%3C/script%3E", {}),
        ("/runs/compare", {"run": ["clarify-nasty", "clarify-other"]}),
        ("/runs/compare", {"run": [NASTY, "clarify-other"]}),
        ("/runs/compare", {"run": ["clarify-nasty"]}),
        ("/runs/aligned", {"run": ["clarify-nasty", "clarify-nasty"], "e": EPISODE}),
        ("/<script>alert(1)</script>", {}),
    ],
)
def test_nothing_that_others_wrote_becomes_markup(
    server: WebServer, path: str, query: dict[str, str | list[str]], language: str
) -> None:
    with server.client(**{"accept-language": language}) as client:
        answer = client.get(path, params=query)
        assert_harmless(answer.text)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"


def test_the_nasty_pages_are_shown_at_all(server: WebServer) -> None:
    with server.client() as client:
        page = client.get("/runs/episode/clarify-nasty", params={"e": EPISODE})
        assert page.status_code == 200 and page.text.count("&lt;script&gt;") > 8
        assert client.get("/runs/show/clarify-nasty").text.count("&lt;script&gt;") > 4


@pytest.mark.parametrize("form", ["jsonl", "events", "csv", "md", "html"])
def test_downloads_are_files_and_never_pages(server: WebServer, form: str) -> None:
    with server.client() as client:
        answer = client.get("/runs/file/clarify-nasty", params={"as": form})
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "a b", "[::1", "0"],
)
def test_other_hosts_are_not_answered(server: WebServer, host: str) -> None:
    with server.client() as client:
        assert client.get("/", headers={"host": host}).status_code in (400, 421)


def test_two_hosts_are_not_answered(server: WebServer) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
        raw.sendall(
            f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nHost: evil.example\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        assert raw.recv(100).split()[1] in (b"400", b"421")


ORIGINS = ["https://evil.example", "null", "http://localhost:1", "file://", "http://127.0.0.1"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_change_nothing(server: WebServer, origin: str) -> None:
    with server.visitor() as client:
        before = client.headers["x-csrf-token"]
        answer = client.post("/echo", headers={"origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
        assert client.headers["x-csrf-token"] == before


POSTS = ["/settings", "/echo", "/enter", "/conversations/" + "0" * 24 + "/answer"]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("proof", ["", "0" * 64, "é" * 64, "somebody else's"])
def test_no_change_without_the_proof_of_our_page(server: WebServer, path: str, proof: str) -> None:
    """What another site's form, image or fetch can send: the cookie, but not the header."""
    with server.visitor() as client, server.visitor() as other:
        stolen = other.headers["x-csrf-token"] if proof.startswith("some") else proof
        client.headers["x-csrf-token"] = stolen.encode().decode("latin-1")
        assert client.post(path, data={"lang": "en"}).status_code == 403
        del client.headers["x-csrf-token"]
        assert client.post(path, data={"lang": "en"}).status_code == 403
        # Nor in the body or the address, where a foreign form could put it.
        right = csrf(client.get("/").text)
        assert client.post(path, data={"x-csrf-token": right}).status_code == 403
        assert client.post(path, params={"x-csrf-token": right}).status_code == 403


def test_a_browser_that_says_cross_site_is_refused_even_with_the_proof(server: WebServer) -> None:
    with server.visitor() as client:
        for site in ("cross-site", "same-site"):
            answer = client.post("/settings", headers={"sec-fetch-site": site})
            assert answer.status_code == 403


@pytest.mark.parametrize(
    ("page", "leads"),
    [("/runs?a=1", "/runs?a=1"), ("//evil.example/", "/"), ("/\\evil.example", "/"), (":[", "/")],
)
def test_a_form_without_script_leads_back_to_this_site_alone(
    server: WebServer, page: str, leads: str
) -> None:
    with server.visitor() as client:
        del client.headers["x-csrf-token"]
        came = f"{server.url}{page}" if page != ":[" else "http://["
        sent = {"sec-fetch-site": "same-origin", "referer": came}
        answer = client.post("/settings", data={"lang": "en"}, headers=sent, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, leads)


def test_get_changes_nothing(server: WebServer) -> None:
    with server.visitor() as client:
        for path in ("/settings?lang=en", "/echo", "/conversations/" + "0" * 24 + "/forget"):
            assert client.get(path).status_code in (404, 405)


def test_cookies_of_ours_are_out_of_reach_of_script_and_other_sites(server: WebServer) -> None:
    with server.client() as client:
        cookie = client.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/" in cookie


def test_a_cookie_that_we_did_not_sign_is_nobody(server: WebServer, options: WebOptions) -> None:
    with server.visitor() as client:
        name = next(iter(client.cookies.keys()))
        value = client.cookies[name]
    forged = ("f" * 48) + value[48:]
    for given in (forged, value[:-1], value + "0", "", "é", '"' * 9, "a" * 5000):
        raw = f"{name}={given}".encode()
        with server.client() as client:
            answer = client.get("/", headers={"cookie": raw})
            assert answer.status_code == 200 and "set-cookie" in answer.headers
    # What stands in the state folder lets nobody in.
    kept = [p.name for p in (options.state).rglob("*")]
    assert value[:48] not in " ".join(kept)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/show/..",
        "/runs/show/../..",
        "/runs/show/..%2f..",
        "/runs/show/%2e%2e/%2e%2e",
        "/runs/show/.%2e%2fclarify-nasty/../clarify-nasty",
        "/runs/show//etc",
        "/runs/show/%2fetc",
        "/runs/show/clarify-nasty%00",
        "/runs/show/c:%5cwindows",
        "/runs/show/..%5c..",
        "/runs/show/a/b/c",
        "/runs/file/../secret?as=md",
        "/runs/show/@../../x",
        "/runs/show/@" + "0" * 24,
        "/runs/of/..%2f..%2fx",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/vendor",
        "/static/",
        "/conversations/..%2f..",
        "/conversations/" + "a" * 3000,
    ],
)
def test_paths_lead_nowhere(server: WebServer, path: str) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
        # By hand: an HTTP client would tidy the path up.
        raw.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.split()[1] in (b"404", b"400"), answer[:300]
    assert b"root:" not in answer and b"Traceback" not in answer


def test_a_link_inside_the_runs_does_not_lead_out(tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    nasty_run(outside)
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "link").symlink_to(outside)
    options = WebOptions(state=tmp_path / "state", runs=runs)
    with WebServer(options) as server, server.client() as client:
        assert client.get("/runs/show/link").status_code == 404


def test_a_body_that_is_too_large_is_refused(server: WebServer) -> None:
    with server.visitor() as client:
        assert client.post("/settings", content=b"x" * 1_100_000).status_code == 413
        chunks = (b"y" * 100_000 for _ in range(20))
        form = {"content-type": "application/x-www-form-urlencoded"}
        # The server may hang up before all was sent.
        with suppress(httpx2.WriteError, httpx2.ReadError):
            assert client.post("/settings", content=chunks, headers=form).status_code == 413
        assert client.get("/health").status_code == 200


def test_a_long_message_is_refused_and_the_conversation_goes_on(server: WebServer) -> None:
    with server.visitor() as client:
        id = client.post("/echo").url.path.rpartition("/")[2]
        step = "0"
        given = {"step": step, "text": "あ" * 8001}
        assert client.post(f"/conversations/{id}/answer", data=given).status_code == 413
        given["text"] = "短い"
        assert client.post(f"/conversations/{id}/answer", data=given).status_code == 204


def test_nobody_comes_in_without_the_token(tmp_path: Path) -> None:
    options = WebOptions(state=tmp_path / "state", runs=tmp_path, token=TOKEN)
    with WebServer(options) as server:
        with server.client() as client:
            for path in ("/", "/runs", "/duo", "/conversations/" + "0" * 24):
                answer = client.get(path)
                assert answer.url.path == "/enter" and "password" in answer.text
            assert client.get("/runs", headers={"hx-request": "true"}).status_code == 401
            assert client.get("/health").json()["status"] == "ok"
            proof = {"x-csrf-token": csrf(client.get("/enter").text)}
            for wrong in ("", "x", TOKEN[:-1], TOKEN + "x", "é"):
                given = {"token": wrong}
                assert client.post("/enter", data=given, headers=proof).status_code == 401
                assert client.get("/runs").url.path == "/enter"
            assert client.post("/enter", data={"token": TOKEN}).status_code == 403
            let_in = client.post("/enter", data={"token": TOKEN}, headers=proof)
            assert let_in.headers["hx-redirect"] == "/" and TOKEN not in str(let_in.headers)
            assert client.get("/runs").url.path == "/runs"
        with server.client(authorization=f"Bearer {TOKEN}") as client:
            assert client.get("/runs").url.path == "/runs"
        with server.client(authorization="Bearer nonsense") as client:
            assert client.get("/runs").url.path == "/enter"


def test_guesses_at_the_token_are_few_and_lock_nobody_out_who_is_in() -> None:
    now = [0.0]
    guesses, tokens = Guesses(clock=lambda: now[0]), {"": TOKEN}
    here, there = {"client": ("192.0.2.1", 1)}, {"client": ("2001:db8:0:1::5", 1)}
    assert guesses.whose(here, TOKEN, tokens) == ""
    for n in range(GUESSES):
        assert guesses.whose(here, f"wrong {n}", tokens) is None
        assert guesses.whose(there, f"wrong {n}", tokens) is None
    for caller in (here, {"client": ("2001:db8:0:1::77", 9)}):
        with pytest.raises(HTTPException) as refused:
            guesses.whose(caller, "another", tokens)
        assert refused.value.status_code == 429
    assert guesses.whose(here, TOKEN, tokens) == "", "it was right before"
    with pytest.raises(HTTPException):
        guesses.whose(here, "the other one", {"": "the other one"})
    now[0] = GUESS_SECONDS + 1
    assert guesses.whose(here, "the other one", {"a": "the other one"}) == "a"


def test_a_crowd_that_never_ends_its_headers_keeps_nobody_out(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEADERS_WAITING", 5)
    with server.visitor() as client:
        host, port = client.base_url.host, client.base_url.port
        held = [socket.create_connection((host, port), PATIENCE) for _ in range(8)]
        try:
            for connection in held:
                connection.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ")
            with suppress(ConnectionResetError):
                assert held[0].recv(1) == b"", "the oldest are closed"
            assert client.get("/health").status_code == 200
        finally:
            for connection in held:
                connection.close()


def test_headers_that_drip_are_given_up(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEADERS_SECONDS", 0.05)
    with server.visitor() as client:
        address = client.base_url.host, client.base_url.port
        with socket.create_connection(address, PATIENCE) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n")
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def test_whoever_only_looks_leaves_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with WebServer(WebOptions(state=state, runs=tmp_path)) as server:
        before = sorted(state.rglob("*"))
        for _ in range(3):
            with server.client() as client:
                for page in ("/", "/documents", "/clarify", "/runs", "/emphasis"):
                    client.get(page)
        assert sorted(state.rglob("*")) == before


def test_conversations_have_a_quota(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "KEPT_OF_ONE", 2)
    with server.visitor() as client:
        assert [client.post("/echo").status_code for _ in range(3)] == [200, 200, 409]
        monkeypatch.setattr(kept, "KEPT_IN_ALL", 1)
    with server.visitor() as client:
        assert client.post("/echo").status_code == 409


def test_what_nobody_looked_at_for_long_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / "conversations/a/1", tmp_path / "conversations/b/2"
    beside = tmp_path / "visitors/a"
    for folder in (old, new, beside):
        folder.mkdir(parents=True)
        (folder / "log").touch()
    now = new.stat().st_mtime + KEPT_DAYS * 24 * 3600 - 60
    for path in (old, old / "log", beside, beside / "log"):
        os.utime(path, (1, 1))
    assert kept.expire(tmp_path, now) == 2
    assert sorted(tmp_path.rglob("*")) == sorted(
        [new / "log", new, new.parent, new.parent.parent, beside.parent]
    )


def test_conversations_are_not_shown_as_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--runs"):
        WebOptions(state=tmp_path / "state", runs=tmp_path / "state" / "conversations")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_a_host_that_others_reach_needs_a_token(host: str) -> None:
    with pytest.raises(InputError):
        WebOptions(host=host)
    assert WebOptions(host=host, token=TOKEN).host == host
    with pytest.raises(InputError):
        WebOptions(host=host, token="short")


def test_an_error_tells_no_paths_of_the_machine(server: WebServer, options: WebOptions) -> None:
    with server.client() as client:
        for path in ("/runs/show/nothing", "/runs/compare?run=a&run=b", "/runs/episode/x?e=y"):
            text = client.get(path).text
            assert str(options.runs) not in text and "Traceback" not in text


def test_runs_that_cannot_be_made_are_one_message(naisei: Naisei, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = naisei("serve", "--runs", tmp_path / "file" / "runs", "--state", tmp_path / "state")
    assert done.code == 2 and "file" in done.err
    assert "Traceback" not in done.err and not (tmp_path / "state").exists()


def test_the_secret_is_for_its_owner_alone(tmp_path: Path) -> None:
    Visitors.kept_in(tmp_path)
    secret = tmp_path / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600 and len(secret.read_bytes()) == 32
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    secret.write_bytes(b"")  # a process was killed here
    Visitors.kept_in(tmp_path)
    assert len(secret.read_bytes()) == 32 and secret.stat().st_mode & 0o777 == 0o600


def test_the_end_of_an_answer_is_sent_at_once() -> None:
    """Not when the beginning is confirmed, which takes a client 40 ms."""
    told: list[int] = []

    def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken_socket = writer.get_extra_info("socket")
        told.append(taken_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def asked() -> None:
        listening = serving.bound("127.0.0.1", 0)
        async with await asyncio.start_server(taken, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()

    asyncio.run(asked())
    assert told[0]
