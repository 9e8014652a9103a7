"""The proxy through the openai client, before a model on loopback."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import openai
import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.doors.commands import ProxyOptions
from naisei.doors.proxy import Proxy
from naisei.serving import Server, bound, uvicorn_config
from servers.closed_port import closed_port
from servers.intent_server import indexed
from servers.openai_server import OpenAIServer
from waiting import PATIENCE

ACTIONS = ["会議室を予約する", "予約を取り消す"]
BAD, GOOD = "一人暮らしだよ。", "明日は晴れるでしょう。洗濯の目安は午前です。"


def model(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Decides for clarify, reflects, and writes lines: out of character until it is told why."""
    head = str(messages[0]["content"])
    if schema is not None:
        asks = sum(m["role"] == "user" for m in messages) == 1
        choice = "clarify" if asks else "execute"
        told = {"thought": "t", "choice": choice, "question": "どちら？" if asks else ""}
        return json.dumps({**told, "action": 2}, ensure_ascii=False)
    if "振り返り" in head or "look back" in head:
        return "・短く答える"
    told = "\n".join(str(m["content"]) for m in messages if m["role"] == "system")
    return GOOD if "anew" in told or "書き直し" in told else told or BAD


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply=model) as server:
        yield server


@contextmanager
def proxied(upstream: OpenAIServer, **options: Any) -> Iterator[openai.OpenAI]:
    """An openai client whose base URL is the proxy's."""
    spec = f"openai-compatible:test@{upstream.url}"
    given = {"upstream": upstream.url, "model": spec, **options}
    proxy = Proxy(ProxyOptions.model_validate(given))
    listening, ready, address = bound("127.0.0.1", 0), threading.Event(), [""]
    servers: list[Server] = []

    def told(url: str) -> None:
        address[0] = url
        ready.set()

    async def go() -> None:
        async with proxy:
            servers.append(Server(uvicorn_config(proxy.app()), told))
            await servers[0].serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(go()), daemon=True)
    thread.start()
    assert ready.wait(60)
    with openai.OpenAI(base_url=f"{address[0]}/v1", api_key="k", max_retries=0) as client:
        yield client
    servers[0].should_exit = True
    thread.join(30)
    listening.close()


def said(client: openai.OpenAI, *texts: str, name: str = "test", **more: Any) -> str:
    """The reply to these messages, user and assistant in turn; streamed ones must be the same."""
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    done = client.chat.completions.create(model=name, messages=messages, **more)
    return str(done.choices[0].message.content)


def streamed(client: openai.OpenAI, text: str, name: str) -> list[str]:
    messages: Any = [{"role": "user", "content": text}]
    chunks = client.chat.completions.create(model=name, messages=messages, stream=True)
    return [c.choices[0].delta.content or "" for c in chunks if c.choices]


def test_without_features_nothing_is_changed(upstream: OpenAIServer) -> None:
    with proxied(upstream) as client:
        listed = {m.id: m.created for m in client.models.list()}
        assert all(type(n) is int for name, n in listed.items() if name.startswith("naisei/"))
        assert {"test", "test+memo", "test+check:ayu"} < {*listed} and "test+ask" not in listed
        assert said(client, "やあ", temperature=0.5, seed=7) == BAD
        assert upstream.requests[-1] == {
            "model": "test",
            "messages": [{"role": "user", "content": "やあ"}],
            "temperature": 0.5,
            "seed": 7,
        }
        assert "".join(streamed(client, "やあ", "test")) == BAD


def test_lines_are_checked_whole_and_streamed(upstream: OpenAIServer) -> None:
    with proxied(upstream) as client:
        assert said(client, "元気？", name="test+check:ayu") == GOOD
        assert upstream.requests[-1]["model"] == "test"
        pieces = streamed(client, "元気？", "test+check:ayu")
        assert "".join(pieces) == GOOD and len([p for p in pieces if p]) == 2, "by sentence"
        header = {"x-naisei": "check=ayu"}
        assert said(client, "元気？", extra_headers=header) == GOOD


def test_thoughts_of_the_upstream_are_not_said(upstream: OpenAIServer) -> None:
    upstream.reply = lambda messages, schema: f"<think>{BAD}</think>\n{GOOD}"
    with proxied(upstream) as client:
        assert said(client, "元気？", name="test+check:ayu") == GOOD
        assert "".join(streamed(client, "元気？", "test+check:ayu")) == GOOD


def test_it_asks_back_and_tells_the_model_what_is_wanted(
    upstream: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "actions.txt").write_text("\n".join(ACTIONS), encoding="utf-8")
    options = {"actions": tmp_path / "actions.txt", "features": ("ask",)}
    with proxied(upstream, **options, state=tmp_path / "s.sqlite") as client:
        assert said(client, "会議の件") == "どちら？"
    with proxied(upstream, **options, state=tmp_path / "s.sqlite") as client:
        done = said(client, "会議の件", "どちら？", "取り消し")
        assert ACTIONS[1] in done


def test_it_answers_from_documents_and_asks_back_first(
    upstream: OpenAIServer, tmp_path: Path
) -> None:
    index = indexed(tmp_path)
    with proxied(upstream, index=index, model=None) as client:
        talk = ["休暇について知りたい"]
        for _ in range(4):
            talk += [said(client, *talk, name="test+ground"), "1"]
            if "[1]" in talk[-2]:
                break
        assert len(talk) > 3, "it asked back"
        assert "[1]" in talk[-2]
        one = "出張の宿泊費の上限はいくらですか"
        assert "12,000" in "".join(streamed(client, one, "test+ground"))
    assert upstream.calls == 0


def test_a_memo_is_kept_per_user(upstream: OpenAIServer, tmp_path: Path) -> None:
    talk = ["今日の天気は？", "長い返事", "違います、長すぎます"]
    with proxied(upstream, state=tmp_path / "memo.sqlite") as client:
        assert "短く答える" in said(client, *talk, name="test+memo", user="田中")
        assert "短く答える" in said(client, "明日は？", name="test+memo", user="田中")
        assert said(client, "明日は？", name="test+memo", user="佐藤") == BAD


def test_who_is_not_named_shares_no_memo(upstream: OpenAIServer, tmp_path: Path) -> None:
    talk = ["暗証番号は4321です", "長い返事", "違います、長すぎます"]
    with proxied(upstream, state=tmp_path / "memo.sqlite") as client:
        assert said(client, *talk, name="test+memo") == BAD
        assert said(client, "明日は？", name="test+memo") == BAD
        assert upstream.calls == 2, "nothing is reflected on for nobody"
        said(client, *talk, name="test+memo", user="田中")
        calls = upstream.calls
        said(client, *talk, name="test+memo", user="田中")
        assert upstream.calls == calls + 1, "the same call again rewrites nothing"


def test_a_reply_tells_what_was_paid_and_how_it_ended(
    upstream: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "actions.txt").write_text("\n".join(ACTIONS), encoding="utf-8")
    with proxied(upstream, actions=tmp_path / "actions.txt") as client:

        def done(text: str, name: str, **more: Any) -> Any:
            given: Any = [{"role": "user", "content": text}]
            return client.chat.completions.create(model=name, messages=given, **more)

        checked = done("元気？", "test+check:ayu")
        assert checked.usage.completion_tokens >= len(GOOD) and checked.usage.prompt_tokens
        asked = done("会議の件", "test+ask")
        assert asked.usage.total_tokens and asked.naisei["ask"]["question"] == "どちら？"
        assert asked.naisei["ask"]["options"][:2] == ACTIONS
        many = done("元気？", "test+check:ayu", n=3)
        assert [choice.message.content for choice in many.choices] == [GOOD] * 3
        with pytest.raises(openai.BadRequestError, match="stream"):
            done("元気？", "test+check:ayu", n=2, stream=True)
        upstream.reply = lambda messages, schema: BAD
        out = done("元気？", "test+check:ayu")
        assert out.choices[0].message.content == BAD and out.naisei["check"]["reasons"]
        silent = done("元気？", "test+check:ayu:refuse")
        assert silent.choices[0].finish_reason == "content_filter"
        assert not silent.choices[0].message.content
        with pytest.raises(openai.BadRequestError, match="nobody"):
            done("元気？", "test+check:nobody")
    with pytest.raises(InputError, match="nobody"):
        Proxy(ProxyOptions(upstream=upstream.url, features=("check:nobody",)))


@pytest.mark.parametrize("stream", [False, True])
def test_a_dangerous_action_is_confirmed_before_a_tool_is_called(
    upstream: OpenAIServer, tmp_path: Path, stream: bool
) -> None:
    (tmp_path / "actions.txt").write_text("\n".join(ACTIONS), encoding="utf-8")
    tools: Any = [{"type": "function", "function": {"name": "cancel", "parameters": {}}}]
    options = {"actions": tmp_path / "actions.txt", "dangerous": (ACTIONS[1],)}
    with proxied(upstream, **options) as client:

        def told(*lines: str) -> tuple[str, Any]:
            roles = ["user", "assistant"] * len(lines)
            messages: Any = [{"role": r, "content": c} for r, c in zip(roles, lines, strict=False)]
            create: Any = client.chat.completions.create
            made = create(model="test+ask", messages=messages, tools=tools, stream=stream)
            text, field = "", None
            for part in made if stream else [made]:
                field = (part.model_extra or {}).get("naisei", field)
                for choice in part.choices:
                    text += (choice.delta if stream else choice.message).content or ""
            return text, field["ask"]

        asked, _ = told("予約の件")
        sure, field = told("予約の件", asked, "取り消して")
        assert ACTIONS[1] in sure and field["question"] == sure
        assert told("予約の件", asked, "取り消して", sure, "はい")[1] == {"wanted": ACTIONS[1]}
        declined = told("予約の件", asked, "取り消して", sure, "いいえ")[1]
        assert declined == {"declined": "not confirmed"}


def test_after_a_tools_result_nothing_is_asked(upstream: OpenAIServer, tmp_path: Path) -> None:
    (tmp_path / "actions.txt").write_text("\n".join(ACTIONS), encoding="utf-8")
    tools: Any = [{"type": "function", "function": {"name": "book", "parameters": {}}}]
    call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": "{}"}}
    talk: Any = [
        {"role": "user", "content": "会議の件"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "予約済み"},
    ]
    with proxied(upstream, actions=tmp_path / "actions.txt") as client:
        done = client.chat.completions.create(model="test+ask", messages=talk, tools=tools)
        assert done.choices[0].message.content == BAD and upstream.calls == 1
        client.chat.completions.create(
            model="test+ask", messages=[{"role": "user", "content": "ありがとう"}], tools=tools
        )
        assert "tools" not in upstream.requests[-1], "who wants nothing starts no tool"


def test_whoever_leaves_is_cancelled_upstream(upstream: OpenAIServer) -> None:
    upstream.holds = 0
    with proxied(upstream) as client:
        for name in ("test", "test+check:ayu"):
            calls = upstream.calls
            short = client.with_options(timeout=0.5)
            with pytest.raises(openai.APITimeoutError):
                said(short, "元気？", name=name)
            assert upstream.calls == calls + 1
        upstream.left()
        upstream.release()
        assert said(client, "元気？") == BAD


def test_when_to_come_again_and_ids_are_passed_on(upstream: OpenAIServer) -> None:
    told = {"retry-after": "7", "x-request-id": "r1"}
    upstream.respond = lambda body: (429, told, {"error": {"message": "slow down"}})
    with proxied(upstream) as client:
        for name in ("test", "test+check"):
            with pytest.raises(openai.RateLimitError) as met:
                said(client, "x", name=name)
            assert {k: met.value.response.headers[k] for k in told} == told


def test_nothing_outside_of_the_upstreams_path_is_asked_for(upstream: OpenAIServer) -> None:
    with proxied(upstream, features=("check",)) as client:
        to = HTTPConnection(client.base_url.host, client.base_url.port or 80, timeout=60)
        asked = [
            ("GET", "/v1/%2e%2e/%2e%2e/stolen/v1/models", None, 404),
            ("GET", "/v1/..%5c..%5cstolen", None, 404),
            ("GET", "/v1/%252e%252e/stolen", None, 404),
            ("POST", "/v1/chat/completions", "[" * 100_000, 400),
            ("POST", "/v1/chat/completions", '{"model": "m", "messages": [null]}', 400),
        ]
        for method, path, body, status in asked:
            to.request(method, path, body, {"content-type": "application/json"})
            answer = to.getresponse()
            answer.read()
            assert answer.status == status, path
        to.close()
    assert not upstream.requests


def test_faults_have_their_own_status(upstream: OpenAIServer, tmp_path: Path) -> None:
    with proxied(upstream) as client:
        with pytest.raises(openai.BadRequestError, match="nosuch"):
            said(client, "x", name="test+nosuch")
        with pytest.raises(openai.BadRequestError, match="--index"):
            said(client, "x", name="test+ground")
        upstream.respond = lambda body: (429, {}, {"error": {"message": "slow down"}})
        with pytest.raises(openai.RateLimitError):
            said(client, "x", name="test+check")
        with pytest.raises(openai.RateLimitError):
            streamed(client, "x", "test+check")
        with pytest.raises(openai.RateLimitError):
            said(client, "x")
    with pytest.raises(InputError, match="--index"):
        Proxy(ProxyOptions(upstream=upstream.url, features=("ground",)))


def test_nobody_there_and_nothing_said_are_told() -> None:
    with closed_port() as port:
        nobody: Any = type("Nobody", (), {"url": f"http://127.0.0.1:{port}/v1"})
        with proxied(nobody) as client:
            for name in ("test", "test+check:ayu"):
                with pytest.raises(openai.InternalServerError, match=str(port)):
                    said(client, "x", name=name)
            with pytest.raises(openai.BadRequestError, match=r"messages|発言"):
                client.chat.completions.create(model="test", messages=[])


def test_the_command_tells_what_cannot_be_used(naisei: Naisei, english: Path) -> None:
    assert naisei("proxy", "nowhere").code == 2
    done = naisei("proxy", "http://127.0.0.1:9/v1", "--with", "ask")
    assert done.code == 2 and "--actions" in done.err
    held = naisei("proxy", "http://127.0.0.1:9/v1", "--port", "0", "--state", str(english))
    assert held.code == 2 and english.name in held.err, "no file: a folder"


@pytest.mark.slow
def test_a_chat_page_of_others_only_changes_its_base_url(upstream: OpenAIServer) -> None:
    """Gradio's own page for OpenAI-compatible endpoints, in a browser."""
    gradio = pytest.importorskip("gradio")
    browsers = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium here")

    def chat(url: str) -> str:
        with browsers.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            page.goto(url)
            page.locator("textarea").first.fill("元気？")
            page.keyboard.press("Enter")
            page.get_by_text(GOOD).wait_for(timeout=PATIENCE * 1000)
            shown = str(page.content())
            browser.close()
            return shown

    with proxied(upstream) as client:
        address = str(client.base_url)
        ui = gradio.load_chat(address, model="test+check:ayu", token="k", streaming=True)
        _, url, _ = ui.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
        try:
            # Apart: this thread may hold the event loop of another test's browser.
            with ThreadPoolExecutor(1) as apart:
                shown = apart.submit(chat, url).result()
        finally:
            ui.close()
    assert BAD not in shown
    assert upstream.requests[-1]["model"] == "test"
