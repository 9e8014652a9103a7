"""Every page in every state, in both languages and widths: nothing sticks out or speaks of an
internal error; the pictures are kept (`WEB_SHOTS`)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from naisei.system.execute import Endpoint
from naisei.web.options import WebOptions
from naisei.web.pages.runs.example import EXAMPLES
from servers.web_server import WebServer

pytestmark = pytest.mark.slow

STARTS = ("/", *(f"/{name}" for name in EXAMPLES))
FORMS = tuple(f"/runs/new?system={name}" for name in ("clarify", "relationship"))
VIEWS = [(locale, width) for locale in ("ja-JP", "en-US") for width in (1280, 390)]
WRONG = re.compile(r"内部エラー|[Ii]nternal error|Traceback|Undefined|\bNone\b")
#: What begins a conversation of each page, and its first words.
TALKS = {
    "agent": ({"persona": "robot"}, "お腹が空いたな"),
    "assistant": ({}, "手が届かないよ"),
    "duo": ({"first": "yana", "second": "ayu", "turns": "2", "played": "second"}, ""),
    "relationship": ({"pair": "engineers", "sessions": "1", "turns": "2", "played": "b"}, ""),
    "documents": ({"shelf": "handbook"}, "有給休暇について教えてください"),
}


@pytest.fixture(params=VIEWS, ids=lambda view: f"{view[0][:2]}-{view[1]}")
def view(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(zip(("locale", "width"), request.param, strict=True))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """Nothing but what ships, and no model."""
    root = tmp_path_factory.mktemp("empty")
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """Runs of two pages of the list, a study among them, and one that cannot be read."""
    root = tmp_path_factory.mktemp("many")
    run = [sys.executable, "-m", "naisei", "clarify", "ablate", "--agent", "bayes", "--quiet"]
    given = ["--limit", "3", "--trials", "1", "--run-dir", str(root / "runs" / "study")]
    subprocess.run([*run, *given], check=True, capture_output=True, cwd=root)
    one = root / "runs" / "study" / "full"
    for n in range(55):
        shutil.copytree(one, root / "runs" / f"clarify-20261126-0{n:02}-long-name")
    (root / "runs" / "broken").mkdir()
    (root / "runs" / "broken" / "config.json").write_text("{", "utf-8")
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


@pytest.fixture(scope="module")
def dead(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A model that nobody answers for."""
    root = tmp_path_factory.mktemp("dead")
    endpoint = Endpoint(base_url="http://127.0.0.1:9/v1", timeout=5.0)
    model = "openai-compatible:gone"
    options = WebOptions(state=root / "state", runs=root / "runs", model=model, endpoint=endpoint)
    with WebServer(options) as server:
        yield server


def look(browser: Any, page: Any, name: str, view: dict[str, Any]) -> None:
    page.wait_for_load_state("load")
    browser.look(page, f"{name}-{view['locale'][:2]}-{view['width']}")
    told = page.locator("body").inner_text()
    assert not (wrong := WRONG.search(told)), f"{name}: {wrong}"
    assert len(page.content().encode()) <= 120_000, name


def named(path: str) -> str:
    return re.sub(r"\W+", "-", path).strip("-") or "home"


def test_what_ships(browser: Any, empty: WebServer, view: dict[str, Any]) -> None:
    with browser.page(empty.url, allowed=("404",), **view) as page:
        for path in (*STARTS, "/runs", "/runs?text=nothing", *FORMS, "/no/such/page"):
            page.goto(path)
            look(browser, page, named(path), view)
        for name in sorted(set(EXAMPLES.values())):
            page.goto(f"/runs/show/~{name}")
            look(browser, page, f"run-{name}", view)
            page.goto(page.locator("#rows a").first.get_attribute("href"))
            look(browser, page, f"episode-{name}", view)


def test_many_runs_a_study_and_a_broken_one(
    browser: Any, many: WebServer, view: dict[str, Any]
) -> None:
    with browser.page(many.url, **view) as page:
        page.goto("/runs")
        look(browser, page, "runs-many", view)
        # The list is used with a thumb: what stands for a run and its state are in sight.
        row = page.locator("#rows tr:not(.group)").nth(1)
        assert all(row.locator("td").nth(n).is_visible() for n in (0, 4, 5))
        boxes = page.locator('#rows input[name="run"]')
        boxes.nth(0).check()
        boxes.nth(1).check()
        page.locator(".reach button:not([formaction])").click()
        page.wait_for_url("**/runs/compare?*")
        look(browser, page, "compare", view)
        page.goto("/runs/chart?run=study")
        look(browser, page, "chart", view)
        for path in ("/runs/show/study", "/runs?text=broken", "/runs?sort=metric"):
            page.goto(path)
            look(browser, page, named(path), view)
        page.goto("/runs/show/" + quote("study/full"))
        look(browser, page, "study-member", view)
        episode = page.locator("#rows a").first.get_attribute("href").partition("?")[2]
        page.goto(f"/runs/aligned?run=study/full&run=study/no-clarify&{episode}")
        look(browser, page, "aligned", view)
        assert page.locator(".aligned td").last.is_visible()


@pytest.mark.parametrize("kind", TALKS)
def test_conversations_without_a_model_and_with_a_dead_one(
    browser: Any, empty: WebServer, dead: WebServer, view: dict[str, Any], kind: str
) -> None:
    fields, words = TALKS[kind]
    for server, state in ((empty, "alive"), (dead, "dead")):
        with browser.page(server.url, allowed=("404",), **view) as page:
            page.goto("/" if kind == "agent" else f"/{kind}")
            page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
            form = page.locator(f'form[hx-post="/{kind}/new"]').first
            for name, value in fields.items():
                control = form.locator(f'[name="{name}"]')
                if control.count():
                    select = control.evaluate("e => e.tagName") == "SELECT"
                    (control.select_option if select else control.fill)(value)
            look(browser, page, f"{kind}-{state}-start", view)
            form.locator("button:not([hx-post])").last.click()
            page.wait_for_url(re.compile(rf"/{kind}/[0-9a-f]{{24}}"), timeout=90_000)
            turn = page.locator('input[name="step"][form="composer"], #status .notice').first
            turn.wait_for(state="attached")
            if words and kind != "agent" and not page.locator("#status .notice").count():
                page.locator("#text").fill(words)
                page.keyboard.press("Enter")
                page.locator("#lines .mine").first.wait_for()
                turn.wait_for(state="attached")
            look(browser, page, f"{kind}-{state}", view)
