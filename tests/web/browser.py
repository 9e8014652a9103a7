"""A real browser without a screen: Debian's Chromium, driven by playwright.

    @pytest.mark.slow
    def test_…(browser: Browser) -> None:
        with browser.page(server.url) as page:
            page.goto("/assistant")
            …
            browser.look(page, "assistant")        # screenshot, sideways scrolling, axe

A page that writes an error to the console, or fails to load something, fails the test.
Tests are skipped with a reason where there is no Chromium or no playwright. axe-core is that of
`axe-playwright-python`, or of AXE (a path to `axe.min.js`); without either the check of
accessibility is left out.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
#: What axe is asked for.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Browser:
    """One browser for many pages. expect: playwright's, which waits; `wait_for_function` would
    need `eval`, which the pages' policy forbids. shots: where screenshots go."""

    def __init__(self, driven: Any, expect: Any, shots: Path) -> None:
        self._driven, self.expect, self.shots = driven, expect, shots
        self.axe = _axe()

    @contextmanager
    def page(
        self,
        url: str,
        *,
        width: int = 1280,
        dark: bool = False,
        locale: str = "ja-JP",
        allowed: tuple[str, ...] = (),
        scripts: bool = True,
    ) -> Iterator[Any]:
        """A page of a fresh visitor. allowed: parts of console errors that the test provokes.
        scripts: whether the page's own script runs."""
        context = self._driven.new_context(
            base_url=url,
            locale=locale,
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.set_default_timeout(60_000)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: (
                wrong.append(f"{message.type}: {message.text}")
                if message.type in ("error", "warning")
                else None
            ),
        )
        try:
            yield page
        finally:
            context.close()
        assert not [w for w in wrong if not any(a in w for a in allowed)], wrong

    def look(self, page: Any, name: str) -> Path:
        """Take a picture; nothing sticks out sideways, Japanese has glyphs, axe finds nothing."""
        path = self.shots / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        wide, room = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= room, f"{name}: {wide} px on {room}"
        assert page.evaluate(_GLYPHS), f"{name}: Japanese is drawn as boxes"
        if self.axe is not None:
            found = page.evaluate(f"{self.axe}\n;{_AXE}", _RULES)
            assert found == [], f"{name}: {found}"
        return path


#: Two kanji that differ are drawn differently: a font without Japanese draws the same box twice.
_GLYPHS = """() => {
  const drawn = (text) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 40;
    const brush = canvas.getContext("2d");
    brush.font = "30px " + getComputedStyle(document.body).fontFamily;
    brush.fillText(text, 2, 32);
    return canvas.toDataURL();
  };
  return drawn("内") !== drawn("省");
}"""
_AXE = """(async (rules) => {
  const found = await axe.run(document, { runOnly: { type: "tag", values: rules } });
  return found.violations.map((v) =>
    `${v.id} (${v.impact}): ${v.nodes.slice(0, 4).map((n) => n.html + " — " +
      n.failureSummary).join(" | ")}`);
})"""


def _axe() -> str | None:
    if given := os.environ.get("AXE"):
        return Path(given).read_text(encoding="utf-8")
    if find_spec("axe_playwright_python") is None:
        return None
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@contextmanager
def opened(shots: Path) -> Iterator[Browser]:
    """A browser, or the test is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("there is no Chromium here")
    with sync_api.sync_playwright() as playwright:
        driven = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield Browser(driven, sync_api.expect, shots)
        finally:
            driven.close()
