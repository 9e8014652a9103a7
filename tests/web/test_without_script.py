"""Every page with JavaScript off: read, and its forms sent, in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest

from servers.web_server import WebServer

pytestmark = pytest.mark.slow
PAGES = (
    *("/", "/assistant", "/duo", "/relationship", "/documents", "/games", "/emphasis"),
    *("/runs", "/runs/show/~clarify", "/runs/compare?run=~clarify"),
)
#: What a script would send, and nothing else: no part of a form, no link that leads somewhere.
_SCRIPT_ALONE = "[hx-post]:not(form, select, textarea, form div, a[href])"


def test_every_page_is_read_and_every_form_sent(browser: Any, server: WebServer) -> None:
    """No form relies on script alone; a conversation of each page is begun and gone on with."""
    with browser.page(server.url, scripts=False, allowed=("422",)) as page:
        for path in PAGES:
            page.goto(path)
            assert page.locator("h1, h2, dl, .example").count(), path
            assert page.locator("form:not([action])").count() == page.locator("form.scrub").count()
            assert page.locator(_SCRIPT_ALONE).count() == 0
        page.goto("/")
        page.get_by_role("button", name="English").click()
        page.wait_for_selector("html[lang=en]")
        page.goto("/runs/show/~clarify")
        page.locator("#rows a").first.click()
        page.wait_for_url("**/runs/episode/**")
        page.locator("#to-before").click()
        page.wait_for_url("**step=*")

        page.goto("/assistant")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url(re.compile(r"/assistant/\w{24}$"))
        page.locator("#text").fill("it is too hot in here")
        page.get_by_role("button", name="Send").click()
        page.locator("#lines .line.mine").first.wait_for()
        page.locator("#lines .line:not(.mine)").first.wait_for()
        page.get_by_role("link", name="All records").click()
        page.get_by_text("Play this step again").click()
        page.get_by_role("button", name="Fork from here").click()
        page.wait_for_url(re.compile(r"/assistant/\w{24}$"))

        for path in ("/duo", "/relationship"):
            page.goto(path)
            page.get_by_role("button", name="Begin").click()
            page.wait_for_url(re.compile(rf"{path}/\w{{24}}$"))
            page.locator("#text").fill("おはよう。今日は早いね。")
            page.get_by_role("button", name="Send").click()
            page.locator("#lines .line, #status .notice").first.wait_for()

        page.goto("/")
        page.get_by_role("button", name="Say it").click()
        page.wait_for_url(re.compile(r"/agent/\w{24}$"))
        page.locator("#lines .line.mine").first.wait_for()
        page.locator("#text").fill("バナナ")
        page.get_by_role("button", name="Send").click()
        page.locator("#house .moved").wait_for()

        page.goto("/documents")
        page.locator("#text").fill("有給休暇は何日もらえますか")
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_url(re.compile(r"/documents/\w{24}$"))
        while not page.locator("#lines .under a").count():  # it may ask back first
            page.locator("#text").fill("正社員の年次有給休暇の日数")
            page.get_by_role("button", name="Send").click()
        page.locator("#lines .under a").first.click()
        page.locator(".passage").first.wait_for()
        page.get_by_role("link", name="Back").click()
        page.get_by_role("button", name="Good", exact=True).click()
        page.get_by_text("Feedback: 1").wait_for()

        page.goto("/emphasis")
        page.get_by_role("button", name="Suggest").click()
        page.locator("article.heat").wait_for()
        page.get_by_role("link", name="Back").click()
        page.wait_for_url("**/emphasis")


def test_what_was_written_comes_back_with_a_refusal(browser: Any, server: WebServer) -> None:
    with browser.page(server.url, scripts=False, allowed=("422",)) as page:
        page.goto("/duo")
        page.locator("#topic").fill("洗濯物の取り込み")
        page.locator("#second").select_option(page.locator("#first").input_value())
        page.get_by_role("button", name="始める", exact=True).click()
        page.get_by_role("alert").wait_for()
        written = [area.input_value() for area in page.locator("textarea").all()]
        assert "洗濯物の取り込み" in written
        page.go_back()
        assert page.locator("#topic").input_value() == "洗濯物の取り込み"
