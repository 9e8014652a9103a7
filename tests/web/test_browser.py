"""The web app in a real browser: clicked through, looked at, nothing on the console."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("web")
    run = [sys.executable, "-m", "naisei", "clarify", "run", "--agent", "bayes", "--quiet"]
    for name, quota in (("clarify-two", "2"), ("clarify-none", "0")):
        path = root / "runs" / name
        given = ["--limit", "12", "--quota", quota, "--run-dir", str(path)]
        subprocess.run([*run, *given], check=True, capture_output=True, cwd=root)
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


#: What moved on the page without anybody having done something.
_SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})"""


def test_an_episode_is_read_with_keys_alone(browser: Any, server: WebServer) -> None:
    """To the next failure, back to where the belief went wrong, and the address copied."""
    with browser.page(server.url, locale="en-US") as page:
        page.goto("/runs/show/clarify-none")
        page.locator("#rows a").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs/episode/**")
        page.keyboard.press("Home")
        where = page.locator("#where")
        browser.expect(where).to_have_text(re.compile(r"^1 /"))
        page.keyboard.press("ArrowRight")
        browser.expect(where).to_have_text(re.compile(r"^2 /"))
        browser.expect(page).to_have_url(re.compile("step=1$"))
        page.keyboard.press("]")
        page.wait_for_url(lambda url: "step=" not in url)
        page.keyboard.press("Home")
        browser.expect(where).to_have_text(re.compile(r"^1 /"))
        failed = page.locator('#replay [role="status"] .tag.bad')
        while not failed.count():  # in this episode, or in the next that has one
            before = page.url
            page.keyboard.press("f")
            page.wait_for_url(lambda url, before=before: url != before)
            browser.expect(where).to_be_visible()
        assert page.locator("#replay .lanes a .failure").count()
        page.keyboard.press("c")
        page.get_by_text("Copied").wait_for()
        assert "/runs/episode/clarify-none?" in page.evaluate("navigator.clipboard.readText()")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "find"
        page.keyboard.type("nothing like it")
        page.keyboard.press("Enter")
        page.get_by_text("0 found").wait_for()
        browser.look(page, "episode-found")
        shift = page.evaluate(_SHIFT)
        assert shift <= 0.05
        page.goto("/runs/compare?run=clarify-two&run=clarify-none")
        page.get_by_role("link", name="side by side").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs/aligned?*")
        page.get_by_text("They first differ at turn").wait_for()
        browser.look(page, "aligned")


def test_from_a_run_to_a_link_to_what_went_wrong_in_two_keys(browser: Any, tmp_path: Path) -> None:
    """321 episodes: a failure, the step at which the belief left the wish, a link to it."""
    run = [sys.executable, "-m", "naisei", "clarify", "run", "--agent", "bayes", "--quiet"]
    path = tmp_path / "runs" / "clarify-321"
    given = [*run, "--embedder", "ngram", "--run-dir", str(path), "--limit", "321"]
    subprocess.run(given, check=True, capture_output=True, cwd=tmp_path)
    options = WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")
    with WebServer(options) as server, browser.page(server.url, locale="en-US") as page:
        page.goto("/runs/show/clarify-321")
        fine = page.locator(".strip path.good").get_attribute("d").count("M")
        assert page.locator(".strip a").count() == 321 - fine
        page.keyboard.press("?")  # the help of the page tells the way
        page.get_by_text("then c copies the link").wait_for()
        browser.look(page, "run-help")
        page.keyboard.press("f")
        page.wait_for_url("**/runs/episode/**&step=*")
        page.get_by_text("went wrong here").wait_for()
        assert page.locator(".lanes rect.wrong").count() == 1
        assert "best guess" in page.locator(".turning").inner_text()
        page.keyboard.press("c")
        page.get_by_text("Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.url and "step=" in copied
        page.keyboard.press("End")
        page.wait_for_url(lambda url: url != copied)
        page.keyboard.press("w")
        page.wait_for_url(copied)
        browser.look(page, "episode-astray")
        # The second tap: the form in which the user's answer is another.
        page.get_by_role("link", name="Give another answer").first.click()
        browser.expect(page.locator("#fork-answer-1")).to_be_in_viewport()


def test_filters_change_the_table_in_place(browser: Any, server: WebServer) -> None:
    with browser.page(server.url) as page:
        page.goto("/runs/show/clarify-none")
        assert page.locator("#rows tr").count() == 12
        page.locator("#q").fill("nothing like it")
        page.get_by_text("当てはまるものはありません").wait_for()
        page.locator("#q").fill("")
        browser.expect(page.locator("#rows a")).to_have_count(12)
        page.goto("/runs")
        page.locator("#state").select_option("broken")
        page.get_by_text("実行はありません").wait_for()


def test_language_and_theme_are_kept(browser: Any, server: WebServer) -> None:
    with browser.page(server.url) as page:
        page.goto("/runs")
        assert page.locator("html").get_attribute("lang") == "ja"
        page.get_by_role("button", name="English").click()
        page.wait_for_selector("html[lang=en]")
        page.locator("#theme").select_option("dark")
        page.wait_for_selector("html[data-theme=dark]")
        page.goto("/")
        assert page.locator("html").get_attribute("lang") == "en"
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(21, 24, 27)"


def test_everything_is_reached_by_keyboard(browser: Any, server: WebServer) -> None:
    with browser.page(server.url) as page:
        page.goto("/runs")
        page.keyboard.press("Tab")
        skip = page.evaluate("document.activeElement.className")
        assert skip == "skip"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")
        reached = set()
        for _ in range(25):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.textContent.trim()"))
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            if page.evaluate("document.activeElement !== document.body"):
                assert outline != "none", page.evaluate("document.activeElement.outerHTML")
        assert "clarify-two" in reached


def test_a_run_is_copied_as_markdown(browser: Any, server: WebServer) -> None:
    with browser.page(server.url) as page:
        page.goto("/runs/show/clarify-two")
        page.get_by_text("共有・書き出し").click()
        page.locator("[data-copy-url]").click()
        page.get_by_text("コピーしました").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("# clarify-two") and "| metric |" in copied


def test_the_first_page_is_small(browser: Any, server: WebServer) -> None:
    """At most 150 KB in all: the page and everything it loads."""
    sizes: dict[str, int] = {}
    with browser.page(server.url) as page:
        page.on("response", lambda r: sizes.update({r.url: len(r.body())}))
        page.goto("/")
        page.wait_for_load_state("networkidle")
    assert 10_000 < sum(sizes.values()) <= 150_000, sizes
