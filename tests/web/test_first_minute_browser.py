"""In a real browser: nothing that was written is lost, and the new pages hold to the rules."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer

pytestmark = pytest.mark.slow

SHIFTS = """window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("web")
    run = [sys.executable, "-m", "naisei", "clarify", "ablate", "--agent", "bayes", "--quiet"]
    given = ["--limit", "12", "--trials", "1", "--run-dir", str(root / "runs" / "study")]
    subprocess.run([*run, *given], check=True, capture_output=True, cwd=root)
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_stand_still_and_axe_finds_nothing(
    browser: Any, server: WebServer, width: int
) -> None:
    addresses = ("/", "/runs", "/runs/show/study", "/runs/show/study/full", "/assistant", "/duo")
    with browser.page(server.url, width=width) as page:
        page.add_init_script(SHIFTS)
        for address in addresses:
            page.goto(address)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("window.shift") <= 0.05, address
            page.evaluate(
                "for (const d of document.querySelectorAll('main details')) d.open = true"
            )
            page.wait_for_load_state("networkidle")
            browser.look(page, f"first-{address.strip('/').replace('/', '-')}-{width}")


def test_a_line_written_while_yes_or_no_is_asked_stays(browser: Any, server: WebServer) -> None:
    with browser.page(server.url, width=390, allowed=("422",)) as page:
        page.goto("/assistant")
        page.get_by_text("設定").click()
        page.locator("#manner").select_option("quick")
        page.locator('main form[hx-post="/assistant/new"] button').click()
        page.wait_for_url(re.compile(r"/assistant/[0-9a-f]{24}"))
        assert page.evaluate("document.activeElement.id") == "text"
        page.wait_for_selector("input[name=step]", state="attached")
        page.locator("#text").fill("充電が切れそう、ケーブルを持ってきて。")
        page.keyboard.press("Enter")
        page.locator("#status form button").first.wait_for()  # it acts at once, and asks whether
        page.locator("#text").fill("これは消えない")
        page.locator("#text").press("Enter")
        page.locator("#notice p").wait_for()
        assert page.locator("#text").input_value() == "これは消えない"
        # Yes and no may be typed, too; where nothing served the wish, the nearest is offered.
        offered = page.locator('#status button[name="text"]')
        for _ in range(9):  # three tries, with two questions each
            step = page.locator("#status input[name=step]").first.get_attribute("value")
            page.locator("#text").fill("いいえ")
            page.locator("#text").press("Enter")
            now = page.locator(f'#status input[name=step]:not([value="{step}"])')
            now.first.wait_for(state="attached")
            if offered.count():
                break
        browser.look(page, "assistant-unserved")


def test_a_rejected_line_comes_back_to_be_mended(browser: Any, server: WebServer) -> None:
    with browser.page(server.url) as page:
        page.goto("/duo")
        page.locator('form[hx-post="/duo/new"] button').last.click()
        page.wait_for_url(re.compile(r"/duo/[0-9a-f]{24}"))
        page.wait_for_selector("input[name=step]", state="attached")
        line = "左様でございますか。拙者は存じ上げませぬ。恐悦至極に存じます。"
        page.locator("#text").fill(line)
        page.keyboard.press("Enter")
        page.locator("#status [data-rejected]").wait_for()
        browser.expect(page.locator("#text")).to_have_value(line)
        # A line that passes does not come back: the other character speaks next.
        page.locator('#status button[name="text"]').first.wait_for()
        passes = page.locator('#status button[name="text"]').first.get_attribute("value")
        page.locator("#text").fill(passes)
        page.keyboard.press("Enter")
        page.locator("#lines .line").first.wait_for()
        page.locator("#status input[name=step]").first.wait_for(state="attached")
        browser.expect(page.locator("#status [data-rejected]")).to_have_count(0)
        browser.expect(page.locator("#text")).to_have_value("")
