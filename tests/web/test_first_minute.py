"""The first minute: pages show themselves, and what they offer succeeds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.web.options import WebOptions
from naisei.web.pages.assistant import OFFERED
from naisei.web.pages.runs.example import EXAMPLES
from servers.web_server import WebServer
from waiting import until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("first")
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


def test_the_first_page_opens_on_a_recorded_episode(server: WebServer) -> None:
    with server.client() as client:
        page = client.get("/").text
        assert 'class="played lines"' in page and "/runs/episode/~clarify?e=" in page


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_page_shows_itself_at_one_click(server: WebServer, name: str) -> None:
    with server.client() as client:
        assert f'hx-get="/home/example/{name}"' in client.get(f"/{name}").text
        shown = client.get(f"/home/example/{name}").text
        assert shown.count("<li") >= 1
        address = shown.partition('href="/runs/episode/')[2].partition('"')[0]
        assert client.get(f"/runs/episode/{address}").status_code == 200


def test_nothing_is_written_into_an_example(server: WebServer) -> None:
    with server.visitor() as client:
        assert client.post("/runs/note/~clarify", data={"tags": "x"}).status_code == 403
        assert client.get("/runs/show/~nothing").status_code == 404


@pytest.mark.parametrize(("page", "said"), [("duo", "室内に干せますよ"), ("relationship", "丸め")])
def test_two_talk_by_script_without_a_model(server: WebServer, page: str, said: str) -> None:
    with server.visitor(**{"accept-language": "ja"}) as client:
        begun = client.post(f"/{page}/new", data={"script": "yes"})
        address = begun.headers["hx-redirect"]
        until(lambda: "この会話は終わりました" in client.get(address).text)
        assert said in client.get(address).text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "data"), [("ja", "ambigact40-open"), ("en", "ambigact40-open-en")]
)
def test_every_situation_that_is_offered_is_got_right(
    language: str, data: str, tmp_path: Path, naisei: Naisei
) -> None:
    given = ["--data", data, "--split", "dev", "--agent", "bayes", "--trials", "1", "--quota", "3"]
    run = tmp_path / "run"
    assert naisei("clarify", "run", *given, "--quiet", "--run-dir", run).code == 0
    lines = (run / "results.jsonl").read_text("utf-8").splitlines()
    won = {
        found["instance"]
        for found in map(json.loads, lines)
        if found["result"]["trials"][-1]["success"]
    }
    assert won >= set(OFFERED[language])  # type: ignore[index]
