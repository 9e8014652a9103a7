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
from naisei.web.state import RECORDED
from servers.web_server import WebServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("first")
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_page_is_used_at_its_top_and_shows_an_example_below(
    server: WebServer, name: str
) -> None:
    with server.client() as client:
        form, _, shown = client.get(f"/{name}").text.partition('id="example"')
        assert "</form>" in form.partition("<main")[2] and "<form" not in shown
        address = shown.partition('href="/runs/episode/')[2].partition('"')[0]
        assert client.get(f"/runs/episode/{address}").status_code == 200


def test_nothing_is_written_into_an_example(server: WebServer) -> None:
    with server.visitor() as client:
        before = {path: path.stat().st_mtime_ns for path in (RECORDED / "clarify").iterdir()}
        assert client.post("/runs/note/~clarify", data={"tags": "looked-at"}).status_code == 200
        assert "looked-at" in client.get("/runs/show/~clarify").text
        assert before == {
            path: path.stat().st_mtime_ns for path in (RECORDED / "clarify").iterdir()
        }
        assert client.get("/runs/show/~nothing").status_code == 404


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
