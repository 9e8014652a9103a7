"""Each page of a system in a real browser: clicked through, looked at in both themes and widths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.textgame.engine import textworld_installed
from naisei.web.options import WebOptions
from servers.web_server import WebServer

pytestmark = pytest.mark.slow

VIEWS = [("ja-JP", False, 1280), ("en-US", True, 360)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("pages")
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


@pytest.fixture(params=VIEWS, ids=["ja-light-wide", "en-dark-narrow"])
def view(request: pytest.FixtureRequest) -> dict[str, Any]:
    locale, dark, width = request.param
    return {"locale": locale, "dark": dark, "width": width}


def tag(view: dict[str, Any]) -> str:
    return str(view["locale"][:2])


def say(page: Any, text: str) -> None:
    """Write a line and send it with Enter, once it is one's turn."""
    page.locator('input[name="step"][form="composer"]').wait_for(state="attached")
    page.locator("#text").fill(text)
    page.keyboard.press("Enter")


def test_a_conversation_of_ones_own(
    browser: Any, server: WebServer, view: dict[str, Any], tmp_path: Path
) -> None:
    talk = tmp_path / "会議.vtt"
    cues = [
        ("部長", "資料は今日中に直しておいて。"),
        ("森", "承知いたしました。"),
        ("部長", "早くしろ。"),
        ("森", "申し訳ございません。"),
    ]
    rows = [
        f"00:0{n}.000 --> 00:0{n + 1}.000\n<v {who}>{text}</v>"
        for n, (who, text) in enumerate(cues)
    ]
    talk.write_text("WEBVTT\n\n" + "\n\n".join(rows), "utf-8")
    with browser.page(server.url, **view) as page:
        page.goto("/relationship")
        page.locator("#conversation-file").set_input_files(talk)
        page.locator("#conversation form.stack button").click()
        page.locator("#file-result table").wait_for()
        browser.expect(page.locator("#file-result figure")).to_have_count(2)
        assert "部長 → 森" in page.locator("#file-result figcaption").first.text_content()
        page.locator("#file-result summary").first.click()  # what a number rests on
        browser.look(page, f"conversation-rated-{tag(view)}")


def test_documents(browser: Any, server: WebServer, view: dict[str, Any]) -> None:
    with browser.page(server.url, **view) as page:
        page.goto("/documents")
        browser.look(page, f"documents-start-{tag(view)}")
        page.locator("main form button").first.click()
        page.wait_for_url("**/documents/*", timeout=90_000)
        say(page, "休暇について教えてください")
        page.locator("#status form button").first.click()
        page.locator("#lines .line").nth(3).wait_for()
        say(page, "国内出張の宿泊費の上限はいくらですか")
        page.locator("#lines .under a").first.click()
        browser.expect(page.locator("#passage h3")).to_be_in_viewport()
        page.locator('button[value="too-much"]').click()
        page.locator('button[value="undo"]').wait_for()
        browser.look(page, f"documents-{tag(view)}")


@pytest.mark.skipif(not textworld_installed(), reason="the games engine is not installed")
def test_games(browser: Any, server: WebServer, view: dict[str, Any]) -> None:
    with browser.page(server.url, **view) as page:
        page.goto("/games")
        browser.look(page, f"games-start-{tag(view)}")
        page.locator("form.column summary").first.click()
        page.locator("#number").fill("7")
        page.locator("main form button").last.click()
        page.locator('button[value="/step"]').wait_for(timeout=90_000)
        page.locator('button[value="/step"]').click()
        page.locator("#lines .line").nth(1).wait_for()
        page.locator('button[value="/rest"]').click()
        page.locator("#status strong").wait_for(timeout=60_000)
        page.locator("#map img").wait_for()
        browser.look(page, f"games-{tag(view)}")


#: Two suggestions, in order.
_TWO_DUTIES = (Path(__file__).parent / "two_duties.md").read_text(encoding="utf-8")


def test_emphasis(browser: Any, server: WebServer, view: dict[str, Any]) -> None:
    with browser.page(server.url, **view) as page:
        page.goto("/emphasis")
        browser.look(page, f"emphasis-start-{tag(view)}")
        page.locator("#text").fill(_TWO_DUTIES)
        page.locator("main form button").last.click()
        page.locator(".heat .chosen").first.wait_for(timeout=60_000)
        page.locator("[data-copy]").click()
        browser.look(page, f"emphasis-{tag(view)}")
        # One by one, from the keyboard: the first is rejected, the second too, and taken back.
        boxes = page.locator("form[data-review] input[name=keep]")
        for key in "jrru":
            page.keyboard.press(key)
        browser.expect(boxes.nth(1)).to_be_focused()
        assert [boxes.nth(n).is_checked() for n in range(2)] == [False, True]
        browser.look(page, f"emphasis-review-{tag(view)}")
        before = page.locator("#marked").text_content()
        page.locator("form[data-review] button").click()
        browser.expect(page.locator("#marked")).not_to_have_text(before)
        assert page.locator("#marked").text_content().count("**") == before.count("**") - 2
        assert [boxes.nth(n).is_checked() for n in range(2)] == [False, True]
