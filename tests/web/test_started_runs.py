"""Runs begun, stopped and gone on with on the pages; they are the command's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from commandline import Naisei
from naisei.runs.lock import locked
from naisei.web.options import WebOptions
from servers.web_server import WebServer
from waiting import until

FORM = {"system": "clarify", "agent": "bayes", "data": "ambigact40-open", "limit": "2"}


def served(root: Path, **options: Any) -> WebServer:
    return WebServer(WebOptions(state=root / "state", runs=root / "runs", **options))


def begun(client: httpx2.Client, **fields: str) -> str:
    """The address of the run that the form begins."""
    answer = client.post("/runs/new", data={**FORM, **fields})
    assert answer.status_code == 204, answer.text
    return answer.headers["hx-redirect"]


@pytest.mark.slow
def test_a_run_of_the_form_is_the_run_of_the_command(tmp_path: Path, naisei: Naisei) -> None:
    told = tmp_path / "told"
    given = ["--agent", "bayes", "--limit", "2", "--trials", "1", "--no-clarify", "-q", "--json"]
    command = naisei("clarify", "run", *given, "--run-dir", told)
    assert command.code == 0
    with served(tmp_path) as server, server.visitor() as client:
        address = begun(client, trials="1", clarify="")
        run = tmp_path / "runs" / address.rpartition("/")[2]
        until((run / "report.html").exists)
        until(lambda: not locked(run))
        ours, theirs = (json.loads((d / "config.json").read_text("utf-8")) for d in (run, told))
        assert {**ours, "created": ""} == {**theirs, "created": ""}
        assert ours["identity"]
        results = [(d / "results.jsonl").read_text("utf-8") for d in (run, told)]
        assert results[0] == results[1]
        # The same form is the same run: nothing is begun anew.
        assert begun(client, trials="1", clarify="") == address
        until(lambda: client.post(f"/runs/stop/{run.name}").status_code == 409)
        assert [d.name for d in (tmp_path / "runs").iterdir()] == [run.name]
        # Another like it begins from its settings.
        like = client.get("/runs/new", params={"like": run.name}).text
        assert (
            '<option value="bayes" selected>' in like
            and 'id="clarify" name="clarify" value="true">' in like
        )
        assert re.search(r'name="limit" type="number" min="1" value="2"', like)


@pytest.mark.slow
def test_what_the_form_may_not_ask_for_is_refused(tmp_path: Path) -> None:
    with served(tmp_path) as server, server.visitor() as client:
        for fields in (
            {"data": "/etc/passwd"},
            {"agent": "nobody"},
            {"limit": "0"},
            {"agent": "llm"},  # there is no model
            {"model": "openai:gpt-5"},
        ):
            answer = client.post("/runs/new", data={**FORM, **fields})
            assert answer.status_code == 422, fields
        assert client.post("/runs/new", data={**FORM, "system": "textgame"}).status_code == 404
        assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"start_runs": False},
        {"host": "0.0.0.0", "token": "a-token-of-sixteen-characters"},
        {"hosts": ("naisei.example",)},
        {"workers": 2, "store": "postgresql://nobody@127.0.0.1/none"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_server_that_may_not_says_so_once(tmp_path: Path, options: dict[str, Any]) -> None:
    with served(tmp_path, **options) as server, server.client() as client:
        client.headers["authorization"] = "Bearer a-token-of-sixteen-characters"
        page = client.get("/runs/new").text
        assert 'class="notice"' in page and 'name="limit"' not in page
        client.headers["x-csrf-token"] = page.partition('"csrf" content="')[2].partition('"')[0]
        for address in ("/runs/new", "/runs/fork/~clarify", "/runs/resume/~clarify"):
            assert client.post(address, data=FORM).status_code == 403
    assert not (tmp_path / "runs").exists()


def test_runs_that_cannot_be_written_are_not_begun(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("no folder", "utf-8")
    with served(tmp_path) as server, server.visitor() as client:
        assert client.post("/runs/new", data=FORM).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no-script"])
def test_a_run_is_begun_watched_stopped_and_gone_on_with(
    tmp_path: Path, browser: Any, scripts: bool
) -> None:
    with (
        served(tmp_path) as server,
        browser.page(server.url, scripts=scripts, locale="en-US") as page,
    ):
        page.goto("/assistant")
        page.get_by_role("link", name="start a run").click()
        page.locator("#agent").select_option("embed")
        page.locator("#limit").fill("")
        page.get_by_role("button", name="Start the run").click()
        page.wait_for_url("**/runs/show/clarify-*")
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("button", name="Stop").wait_for()
        page.goto("/runs?state=running")
        page.get_by_role("link", name="clarify-").click()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").wait_for()
