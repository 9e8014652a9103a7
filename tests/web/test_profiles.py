"""Profiles written on the page: samples, what is wrong as it is written, nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from naisei.director.character import shipped_profile
from naisei.relationship.pairs import pair_text
from naisei.web.options import WebOptions
from servers.web_server import WebServer


@pytest.fixture
def options(tmp_path: Path) -> WebOptions:
    return WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")


@pytest.mark.parametrize(
    ("page", "sample", "text"),
    [
        ("duo", "yana", shipped_profile("yana")),
        ("relationship", "engineers", pair_text("engineers")),
    ],
)
def test_a_profile_is_checked_as_it_is_written(
    options: WebOptions, page: str, sample: str, text: str
) -> None:
    address = f"/{page}/profile"
    with WebServer(options) as server, server.visitor() as client:
        assert f"sample={sample}" in client.get(f"/{page}").text
        begun = client.post(address, data={"sample": sample, "profile": " \n"}).text
        assert "使えます" in begun and "schema = &#34;naisei." in begun
        # A sample that nobody has changed gives way to another one.
        as_sent = text.replace("\n", "\r\n")
        assert client.post(address, data={"sample": sample, "profile": as_sent}).status_code == 200
        told = client.post(address, data={"profile": text + "\nnonsense = 1\n"})
        assert told.status_code == 200 and "nonsense" in told.text and "使えます" not in told.text
        kept = client.post(address, data={"sample": sample, "profile": "id = 1"})
        assert kept.status_code == 409 and "書きかけ" in kept.text
        assert client.post(address, data={"sample": "../../x"}).status_code == 404
        assert "textarea" in client.get(f"{address}?sample={sample}").text


def test_a_profile_that_nothing_uses_is_not_dropped_in_silence(options: WebOptions) -> None:
    mine = shipped_profile("yana").replace('id = "yana"', 'id = "mine"')
    given = {"first": "yana", "second": "ayu", "turns": "2", "profile": mine}
    with WebServer(options) as server, server.visitor() as client:
        told = client.post("/duo/new", data=given)
        assert told.status_code == 422 and "選ばれていません" in told.text
        same = client.post("/duo/new", data=given | {"first": "own", "second": "own"})
        assert same.status_code == 422 and "mine" in same.text
        assert client.post("/duo/new", data=given | {"first": "own"}).status_code == 204
        pair = {"pair": "engineers", "sessions": "1", "turns": "2", "profile": "x"}
        assert client.post("/relationship/new", data=pair).status_code == 422


def test_an_own_profile_that_is_empty_is_told_with_its_place(options: WebOptions) -> None:
    """Its field is folded inside the settings."""
    with WebServer(options) as server, server.visitor() as client:
        for page, chosen in (("duo", {"first": "own"}), ("relationship", {"pair": "own"})):
            given = {"second": "ayu", "sessions": "1", "turns": "2", "profile": " \n"} | chosen
            told = client.post(f"/{page}/new", data=given)
            assert told.status_code == 422 and "「設定」" in told.text, page


@pytest.mark.slow
def test_in_the_browser(browser: Any, options: WebOptions) -> None:
    with (
        WebServer(options) as server,
        browser.page(server.url, width=390, allowed=("422",)) as page,
    ):
        page.goto("/duo")
        page.get_by_text("設定", exact=True).click()
        page.locator("main summary", has_text="プロフィールを書く").click()
        page.locator('a[href$="sample=yana"]').click()
        page.locator("#profile-read .good").wait_for()
        page.locator("#profile").fill("id = ")
        page.locator("#profile-read .bad").wait_for()
        browser.look(page, "profile-wrong")
        page.locator("#first").select_option("own")
        page.locator("main form button").last.click()
        page.locator("#notice .notice").wait_for()
        assert page.locator("#profile").input_value() == "id = "
