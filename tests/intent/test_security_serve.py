"""Who may call the server, with what, and what may come out of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent.conftest import Serve
from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.http import clean
from naisei.intent.config import AssistConfig
from naisei.intent.serve.options import ServeOptions, read_users
from naisei.intent.serve.people import AuditLine, AuditOptions, audit_command
from naisei.retrieval.index import Index
from servers.assistant_process import CLEAR
from servers.intent_server import DOCUMENTS, IntentServer, indexed
from waiting import PATIENCE

TOKEN = "s3cret-s3cret-s3cret"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    hostile = "# 傘の貸出 <img src=x onerror=alert(1)>\n\n## 返却\n\n"
    hostile += "傘の返却期限は3日です。&lt;script&gt;alert(2)&lt;/script&gt;"
    hostile += "![x](https://leak.invalid/?q=1) [設定](javascript:alert(3)) a < b\n"
    return indexed(tmp_path_factory.mktemp("security"), {**DOCUMENTS, "umbrella.md": hostile})


def _is_error(response: httpx2.Response, status: int) -> bool:
    body = response.json()
    one = list(body) == ["error"] and isinstance(body["error"]["message"], str)
    return response.status_code == status and one and "Traceback" not in response.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "10.0.0.5",
        "",
        "[::1",
        "localhost:x",
    ],
)
def test_other_hosts_are_refused(serve: Serve, host: str) -> None:
    assert _is_error(serve().get("/v1/models", Host=host), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8321", "127.0.0.1:1", "[::1]:8321"])
def test_loopback_hosts_are_served(serve: Serve, host: str) -> None:
    assert serve().get("/v1/models", Host=host).status_code == 200


def test_two_hosts_are_none(serve: Serve) -> None:
    raw = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert b"200 OK" not in _raw(serve(), raw)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example"]
)
def test_pages_of_other_origins_may_not_call(serve: Serve, origin: str) -> None:
    assert _is_error(serve().post("/api/ask", {"message": CLEAR}, Origin=origin), 403)


def test_an_allowed_origin_may_call_and_is_told_so(serve: Serve) -> None:
    server = serve(origins=("https://chat.example.com",))
    asked = server.post("/api/ask", {"message": CLEAR}, Origin="https://chat.example.com")
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "https://chat.example.com"
    with server.client() as client:
        headers = {"Origin": "https://chat.example.com", "Access-Control-Request-Method": "POST"}
        before = client.options("/api/ask", headers=headers)
        other = client.options("/api/ask", headers={**headers, "Origin": "https://evil.example"})
    assert before.status_code == 204 and "POST" in before.headers["access-control-allow-methods"]
    assert other.status_code == 403 and "access-control-allow-origin" not in other.headers


def test_a_form_of_another_site_is_no_request(serve: Serve) -> None:
    with serve().client() as client:
        sent = client.post(
            "/api/ask", content='{"message": "x"}', headers={"content-type": "text/plain"}
        )
    assert _is_error(sent, 415)


def test_without_the_token_nothing_but_health_is_told(serve: Serve) -> None:
    server = serve(tokens={"": TOKEN})
    for path in ("/v1/models", "/api/session/x", "/api/passage/x", "/nope"):
        assert _is_error(server.get(path), 401)
    for wrong in (f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer", TOKEN):
        assert server.get("/v1/models", Authorization=wrong).status_code == 401
    assert server.get("/v1/models", Authorization=f"Bearer {TOKEN}").status_code == 200
    assert set(server.get("/health").json()) == {"status", "version"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_a_host_that_others_reach_needs_a_token(host: str) -> None:
    with pytest.raises(InputError, match=r"トークン|token"):
        ServeOptions(host=host)
    assert not is_loopback(host)
    assert ServeOptions(host=host, tokens={"": TOKEN}).host == host
    with pytest.raises(InputError):
        ServeOptions(host=host, tokens={"": "short"})


def test_users_and_the_shared_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "users.toml"
    path.write_text(f'[users.hanako]\ntoken = "{TOKEN}"\nprofile = {{ office = "横浜" }}\n')
    options = ServeOptions(users=path)
    assert options.tokens == {"hanako": TOKEN} and options.profiles["hanako"].office == "横浜"
    assert TOKEN not in repr(options)
    monkeypatch.setenv("NAISEI_SERVE_TOKEN", TOKEN)
    assert read_users(None) == {"tokens": {"": TOKEN}}
    with pytest.raises(InputError, match="one token"):
        read_users(path)


def test_a_large_body_is_refused_whether_or_not_it_says_so(serve: Serve) -> None:
    server = serve(max_body=1000)
    assert _is_error(server.post("/api/ask", {"message": "あ" * 2000}), 413)

    def endless() -> Iterator[bytes]:
        for _ in range(200):
            yield b"x" * 100

    with server.client() as client:
        sent = client.post(
            "/api/ask", content=endless(), headers={"content-type": "application/json"}
        )
    assert _is_error(sent, 413)


def test_a_body_that_never_arrives_is_given_up(serve: Serve) -> None:
    server = serve(body_timeout=0.5)
    raw = (
        b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n"
        b"content-length: 50\r\n\r\n{"
    )
    assert b" 408 " in _raw(server, raw)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b'{"message": 3}', 422),
        (b'{"message": "x", "more": 1}', 422),
        (b'{"message": "  "}', 400),
        (b'{"message": "x", "session": "nope"}', 404),
        (b"\xff\xfe", 400),
        (b'{"message": "' + b"[" * 100_000 + b'"}', 413),
    ],
)
def test_bad_requests_are_one_message(serve: Serve, body: bytes, status: int) -> None:
    with serve().client() as client:
        sent = client.post("/api/ask", content=body, headers={"content-type": "application/json"})
    assert _is_error(sent, status)


@pytest.mark.parametrize(
    "messages",
    [[], [{"role": "assistant", "content": "x"}], [{"role": "user", "content": " "}], "x"],
)
def test_chat_completions_without_a_users_message(serve: Serve, messages: Any) -> None:
    sent = serve().post("/v1/chat/completions", {"messages": messages})
    assert sent.status_code in (400, 422) and list(sent.json()) == ["error"]


def test_every_answer_has_the_security_headers(serve: Serve) -> None:
    server = serve()
    for answer in (server.get("/health"), server.get("/nope"), server.get("/health", Host="x.y")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


def test_html_and_links_of_documents_do_not_act(serve: Serve) -> None:
    server = serve()
    reply = server.post("/api/ask", {"message": "傘の返却期限は何日ですか"})
    assert "3日" in reply.json()["answer"] and reply.json()["citations"]
    passage = server.get(reply.json()["citations"][0]["link"])
    body = {"messages": [{"role": "user", "content": "傘の返却期限は何日ですか"}]}
    texts = [reply.text, passage.text, server.post("/v1/chat/completions", body).text]
    for text in texts:
        assert "<img" not in text and "<script" not in text and "![" not in text
        assert "](http" not in text and "](javascript" not in text
    assert "a < b" in passage.json()["text"]


@given(st.text(alphabet="<>/!?ab &;lt=\"'[](){}!-x\u200b\U000e0041", max_size=60))
def test_cleaned_text_opens_no_tag_and_loads_no_image(text: str) -> None:
    said = clean(text)
    for at, letter in enumerate(said[:-1]):
        assert letter != "<" or not (said[at + 1].isalpha() or said[at + 1] in "/!?")
    assert "![" not in said and "](" not in said
    assert "\u200b" not in said and "\U000e0041" not in said


@given(st.text(alphabet="あいう漢字 abc。、1 [1]「」%¥", max_size=60))
def test_plain_text_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text.replace("](", "] (")


def test_two_servers_do_not_share_a_state(serve: Serve, tmp_path: Path) -> None:
    serve(state=tmp_path / "one")
    with pytest.raises(InputError, match="another server"):
        serve(state=tmp_path / "one")


def _raw(server: IntentServer, data: bytes) -> bytes:
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(data)
        return connection.recv(65536)


@pytest.fixture
def restricted(tmp_path: Path) -> Path:
    restricted = {
        "hr/pay.md": "# 役員報酬\n\n## 金額\n\n社長の報酬は月900万円である。\n",
        "permissions.toml": '[groups]\nhr = ["人事"]\n',
    }
    return indexed(tmp_path, DOCUMENTS | restricted)


def _found(server: IntentServer, hidden: str, headers: dict[str, Any]) -> set[str]:
    """Paths that any hit or citation of an answer names, by both protocols."""
    question = "社長の報酬はいくらですか"
    with server.client(**headers) as client:
        one = client.post("/api/ask", json={"message": question})
        told = {"messages": [{"role": "user", "content": question}]}
        two = client.post("/v1/chat/completions", json=told)
        if one.status_code != 200:
            return {str(one.status_code)}
        replies = [one.json(), two.json()["naisei"]]
        passage = client.get("/api/passage/" + quote(hidden, safe=""))
    paths = [{c["path"] for c in reply["citations"]} for reply in replies]
    assert paths[0] == paths[1] and (passage.status_code == 200) == ("hr/pay.md" in paths[0])
    return paths[0]


def test_documents_of_a_group_are_there_for_its_members_alone(
    restricted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = "p" * 20
    monkeypatch.setenv("NAISEI_SERVE_TOKEN", proxy)
    users = tmp_path / "users.toml"
    users.write_text(
        f'[users.hana]\ntoken = "{"h" * 20}"\ngroups = ["人事"]\n'
        f'[users.taro]\ntoken = "{"t" * 20}"\n',
        "utf-8",
    )
    options = ServeOptions(
        state=tmp_path / "state", users=users, user_header="X-User", groups_header="X-Groups"
    )
    with Index.open(restricted, groups=None) as whole:
        pay = whole.search("社長の報酬")[0].chunk.id
    with IntentServer(options, AssistConfig(index=str(restricted))) as server:

        def asked(token: str, **headers: Any) -> bool:
            named = {k.replace("_", "-"): v for k, v in headers.items()}
            found = _found(server, pay, {"authorization": f"Bearer {token}", **named})
            return "hr/pay.md" in found

        groups = "営業, 人事".encode()
        assert asked("h" * 20) and not asked("t" * 20)
        assert not asked("t" * 20, x_groups=groups), "only the proxy names groups"
        assert asked(proxy, x_user="jiro", x_groups=groups)
        assert not asked(proxy, x_user="jiro") and not asked(proxy)
        stolen = {"authorization": f"Bearer {proxy}", "x-user": "hana"}
        assert _found(server, pay, stolen) == {"401"}


def test_headers_are_believed_of_nobody_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAISEI_SERVE_TOKEN", raising=False)
    with pytest.raises(InputError):
        ServeOptions(groups_header="X-Groups")


def test_the_audit_tells_who_was_shown_what_until_they_are_erased(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hana, taro = "h" * 20, "t" * 20
    server = serve(tokens={"hana": hana, "taro": taro})
    long = CLEAR + "（出張の多い月の分もまとめて知りたいです）" * 12
    for token, question in (
        (hana, long),
        (taro, CLEAR),
        (hana, "会議室は何日先まで予約できますか"),
    ):
        with server.client(authorization=f"Bearer {token}") as client:
            assert client.post("/api/ask", json={"message": question}).status_code == 200
    with server.client(authorization=f"Bearer {hana}") as client:
        told = {"messages": [{"role": "user", "content": CLEAR}]}
        assert client.post("/v1/chat/completions", json=told).status_code == 200
    state = tmp_path / "state"

    def shown(user: str | None = None) -> list[AuditLine]:
        capsys.readouterr()
        audit_command(AuditOptions(state=state, user=user, as_json=True))
        return [AuditLine.model_validate_json(row) for row in capsys.readouterr().out.splitlines()]

    room = "会議室は何日先まで予約できますか"
    lines = shown()
    assert [line.question for line in lines] == [long, CLEAR, room, CLEAR]
    assert lines[1].documents[0] == "travel.md" and lines[1].route == "search"
    assert lines[0].who == lines[2].who == lines[3].who != lines[1].who
    assert "hana" not in "".join(line.model_dump_json() for line in lines)
    assert len(shown("hana")) == 3 and shown("nobody") == []

    forget = AuditOptions(action="forget", state=state, user="hana")
    with pytest.raises(InputError, match="pid"):
        audit_command(forget)
    server.__exit__(None, None, None)
    audit_command(forget)
    kept = shown()
    assert [line.question for line in kept] == ["", CLEAR, "", ""]
    assert kept[0].documents == lines[0].documents and shown("hana") == []
    data = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert "出張の多い月".encode() not in data and b"hana" not in data and CLEAR.encode() in data
