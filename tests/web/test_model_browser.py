"""Every page in a real browser, with a model behind HTTP: a page that cannot answer fails here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from naisei.system.execute import Endpoint
from naisei.textgame.engine import textworld_installed
from naisei.web.options import WebOptions
from servers.filling import fill
from servers.openai_server import OpenAIServer
from servers.web_server import WebServer

pytestmark = pytest.mark.slow

#: Needs no key.
MODEL = "openai-compatible:test"
HOURS = "駐輪場は平日の7時から22時まで使えます。"
SAID = "おはよう。朝ごはんは何にする？"
#: By a field that only this reply has: what is answered beside the first choice of each field.
REPLIES: dict[str, dict[str, Any]] = {
    "is_question": {"clarity": 1, "in_internal_docs": 1, "is_consultation": 5, "ask_person": 5},
    "sentences": {"sentences": [{"text": HOURS, "sources": [1]}], "answerable": True},
    "choice": {"choice": "execute", "question": "", "action": 1},
    "tone": dict.fromkeys(("frame", "roles", "connection", "density", "tone"), 3),
}


def reply(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    if schema is None:
        return SAID
    mark = next((field for field in REPLIES if field in schema["properties"]), "")
    return json.dumps(fill(schema) | REPLIES.get(mark, {}), ensure_ascii=False)


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply) as model:
        yield model


@pytest.fixture(scope="module")
def server(model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("model")
    (root / "docs").mkdir()
    (root / "docs" / "rules.md").write_text(f"# 駐輪場\n\n{HOURS}\n", "utf-8")
    run = [sys.executable, "-m", "naisei", "clarify", "run", "--agent", "llm", "--quiet"]
    given = ["--model", MODEL, "--base-url", model.url, "--limit", "2", "--trials", "1"]
    folder = ["--run-dir", str(root / "runs" / "asked")]
    subprocess.run([*run, *given, *folder], check=True, capture_output=True, cwd=root)
    options = WebOptions(
        state=root / "state",
        runs=root / "runs",
        documents=root / "docs",
        model=MODEL,
        endpoint=Endpoint(base_url=model.url),
    )
    with WebServer(options) as server:
        yield server


@pytest.fixture
def page(browser: Any, server: WebServer) -> Iterator[Any]:
    """A page that does not say in the end that something went wrong."""
    with browser.page(server.url) as page:
        yield page
        assert "うまくいきませんでした" not in page.locator("main").inner_text()


def say(page: Any, text: str) -> None:
    page.locator('input[name="step"][form="composer"]').wait_for(state="attached")
    page.locator("#text").fill(text)
    page.keyboard.press("Enter")


def begin(page: Any, name: str, **chosen: str) -> None:
    page.goto(f"/{name}")
    page.evaluate("for (const d of document.querySelectorAll('form details')) d.open = true")
    for field, value in chosen.items():
        control = page.locator(f"#{field}")
        select = control.evaluate("e => e.tagName") == "SELECT"
        (control.select_option if select else control.fill)(value)
    page.locator(f'form[hx-post="/{name}/new"]').get_by_role("button").last.click()
    page.wait_for_url(f"**/{name}/*", timeout=90_000)


def test_agent(page: Any, browser: Any, model: OpenAIServer) -> None:
    before = model.answered
    page.goto("/")
    page.locator(".talkto button").click()
    page.wait_for_url("**/agent/*")
    page.locator('input[name="step"][form="composer"]').wait_for(state="attached")
    assert model.answered > before
    assert page.locator("#understood .told").count()


def test_assistant(page: Any, model: OpenAIServer) -> None:
    before = model.answered
    begin(page, "assistant")  # with a model given, it is used
    say(page, "ちょっと暑いな")
    page.locator('button[value="yes"]').click()
    page.locator("#lines .good").wait_for()
    assert model.answered > before


def test_documents(page: Any, browser: Any) -> None:
    begin(page, "documents", shelf="server")
    say(page, "駐輪場は何時から使えますか")
    page.locator("#lines .under a").first.click()
    browser.expect(page.locator("#passage .passage")).to_contain_text(HOURS)
    browser.expect(page.locator("#lines .line").last).to_contain_text(HOURS)


@pytest.mark.skipif(not textworld_installed(), reason="the games engine is not installed")
def test_games(page: Any, model: OpenAIServer) -> None:
    before = model.answered
    begin(page, "games", kind="easy", number="7", agent="llm")
    page.locator('button[value="/step"]').click()
    page.locator("#lines .line").nth(1).wait_for()
    assert model.answered > before


def test_emphasis(page: Any) -> None:
    page.goto("/emphasis")
    page.locator('form[hx-post="/emphasis/tag"] > button').click()
    page.locator(".heat .chosen").first.wait_for(timeout=60_000)


def test_home_runs_and_what_was_sent(page: Any, browser: Any, model: OpenAIServer) -> None:
    page.goto("/")
    browser.expect(page.locator("main")).to_contain_text(MODEL)
    page.goto("/runs")
    page.get_by_role("link", name="asked").first.click()
    page.wait_for_url("**/runs/show/asked")
    page.locator("#rows a").first.click()
    page.wait_for_url("**/runs/episode/**")
    browser.expect(page.locator("main")).to_contain_text(MODEL)


def test_profiles(server: WebServer, browser: Any) -> None:
    with browser.page(server.url, allowed=("422",)) as page:
        page.goto("/duo")
        page.locator("form summary", has_text="設定").click()
        page.locator("summary", has_text="プロフィール").first.click()
        page.locator("#profile").fill("nonsense = 1")
        page.locator("#first").select_option("own")
        page.locator("main form button").last.click()
        browser.expect(page.locator("#notice")).to_contain_text("schema")
        assert page.locator("#profile").input_value() == "nonsense = 1"
