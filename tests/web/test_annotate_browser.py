"""In a real browser: reading and judging with keys alone, with a thumb, and without script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from naisei.runs.annotations import read_annotations
from servers.web_server import WebServer

pytestmark = pytest.mark.slow

VIEWS = [(locale, width) for locale in ("ja-JP", "en-US") for width in (1280, 390)]


def read_so_far(tmp_path: Path, name: str) -> list[Any]:
    return read_annotations(tmp_path / "runs" / "annotations" / name)


def begin(page: Any, address: str, rubric: str) -> None:
    page.goto(address)
    page.locator("#reader").first.fill("花子")
    page.locator("#rubric").first.select_option(rubric)
    page.keyboard.press("Enter")
    page.locator("form.rubric").wait_for()


@pytest.mark.parametrize(("locale", "width"), VIEWS)
def test_what_is_read_is_kept(
    browser: Any, server: WebServer, tmp_path: Path, locale: str, width: int
) -> None:
    with browser.page(server.url, locale=locale, width=width) as page:
        page.goto("/runs/annotate/~clarify")
        browser.look(page, f"annotate-start-{locale[:2]}-{width}")
        begin(page, "/runs/annotate/~clarify", "asked-and-acted")
        browser.look(page, f"annotate-episode-{locale[:2]}-{width}")
        unit = page.locator("h2").first.inner_text()
        page.locator("body").press("1")
        page.keyboard.press("6")
        page.keyboard.press("n")
        page.keyboard.type("ひとこと")
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        page.locator("h2", has_not_text=unit).first.wait_for()
        (kept,) = read_so_far(tmp_path, "clarify")
        assert (kept.unit, kept.note, kept.reader) == (unit, "ひとこと", "花子")
        assert dict(kept.answers) == {"question": ("needed",), "act": ("part",)}
        begin(page, "/runs/annotate/=ambigact40-hard", "plausible-actions")
        browser.look(page, f"annotate-labels-{locale[:2]}-{width}")
        page.goto("/runs/search?find=" + ("コップ" if locale == "ja-JP" else "meeting"))
        browser.look(page, f"search-{locale[:2]}-{width}")


def test_without_script_the_same_is_kept(browser: Any, server: WebServer, tmp_path: Path) -> None:
    with browser.page(server.url, scripts=False, width=390) as page:
        begin(page, "/runs/annotate/=ambigact40-hard", "plausible-actions")
        unit = page.locator("h2").first.inner_text()
        for value in ("3", "6"):
            page.locator(f'input[name="plausible {value}"]').check()
        page.locator('select[name="gold"]').select_option("3")
        page.locator("form.rubric button").click()
        page.locator("h2", has_not_text=unit).first.wait_for()
        (kept,) = read_so_far(tmp_path, "ambigact40-hard")
        assert dict(kept.answers) == {"plausible": ("3", "6"), "gold": ("3",)}
        page.screenshot(path=browser.shots / "annotate-without-script.png", full_page=True)


def test_an_episode_gets_a_thumb_and_becomes_an_instance(
    browser: Any, server: WebServer, tmp_path: Path
) -> None:
    with browser.page(server.url, allowed=("422",)) as page:
        page.goto("/runs/show/~clarify")
        page.goto(page.locator("#rows a").first.get_attribute("href"))
        page.locator('button[name="thumb"][value="bad"]').click()
        page.locator('button[name="thumb"][value="bad"][aria-pressed="true"]').wait_for()
        page.locator("summary", has=page.locator("text=データに加える")).click()
        page.locator("#set").fill("gold=twelve")
        page.get_by_role("button", name="データに加える").click()
        page.locator("#notice .notice", has_text="twelve").wait_for()
        page.locator("#set").fill("gold=12")
        page.get_by_role("button", name="データに加える").click()
        page.locator("#notice .notice", has_text="ambigact40-open-ja.jsonl").wait_for()
        browser.look(page, "episode-kept")
    (line,) = (tmp_path / "runs" / "kept" / "ambigact40-open-ja.jsonl").read_text().splitlines()
    assert json.loads(line)["gold"] == 12
    assert [a.answers for a in read_so_far(tmp_path, "clarify")] == [{"thumb": ("bad",)}]
