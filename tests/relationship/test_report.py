"""The report: from a number to its evidence to the lines, and back; failures and costs shown."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from html_page import Page
from naisei.relationship.report import write_report
from naisei.runs.directory import RunDirectory
from relationship.speakers import brain
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]
NASTY = '<script>alert("x")</script> & <img src=x onerror=y>'


def faulty() -> Callable[..., str]:
    """Every third vector needs mending, every seventh and the one after are none at all."""
    asked = 0

    def reply(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        nonlocal asked
        fields = (schema or {}).get("properties", {})
        if not fields:
            return brain(messages, schema) + NASTY
        if "Power" not in fields or fields["Power"]["type"] == "string":
            return brain(messages, schema)
        asked += 1
        if asked % 7 in (0, 1) and asked > 1:
            return json.dumps({"Power": "high", "Intimacy": 1})
        return json.dumps(
            {"Power": 2.6 if asked % 3 == 0 else 1, "Intimacy": 0, "TaskOriented": -1}
        )

    return reply


@pytest.fixture
def run(naisei: Naisei, openai_server: Serve, tmp_path: Path) -> Path:
    server = openai_server(faulty())
    to = tmp_path / "run"
    flags = ["--sessions", "2", "--turns", "4", "--embedder", "ngram", "--quiet", "--seed", "1"]
    model = f"openai-compatible:test@{server.url}"
    done = naisei("relationship", "run", "--relationship-reflection-every-turn", "--model", model,
                  "--run-dir", to, *flags)  # fmt: skip
    assert done.code == 0, done.err
    return to


def test_the_chain_can_be_walked_both_ways(run: Path, naisei: Naisei) -> None:
    done = naisei("relationship", "report", run)
    assert done.out.strip() == str(run / "relationship.html")
    text = (run / "relationship.html").read_text(encoding="utf-8")
    page = Page(text)
    assert len(page.all("id")) == len(set(page.all("id")))
    inner = {link[1:] for link in page.all("href") if link.startswith("#")}
    assert inner <= set(page.all("id"))
    traces = [
        json.loads(row)
        for n in (1, 2)
        for row in (run / f"rr_prompt_trace_session_{n}.jsonl").read_text("utf-8").splitlines()
    ]
    for trace in traces:  # each reading, each of its evidence, and where that came from
        reading = f"r1-{trace['session_idx']}-{trace['turn'] + 1}-{trace['direction']}"
        assert reading in page.all("id")
        for ground in trace["evidence"]:
            assert f"{reading}-e{ground['number']}" in inner
            if ground["id"].startswith("D"):
                assert "l1-" + ground["id"].replace(":", "-") in inner
    assert not any(ground["id"].startswith("R") for t in traces for ground in t["evidence"])


def test_nothing_said_becomes_markup_and_nothing_is_fetched(run: Path) -> None:
    with RunDirectory.look(run) as directory:
        text = write_report(directory).read_text(encoding="utf-8")
    page = Page(text)
    assert "&lt;script&gt;alert" in text
    assert page.names.count("script") == 1
    assert not {"img", "link", "iframe"} & set(page.names)
    assert not page.all("src", "onerror", "onclick")
    assert all(link.startswith("#") for link in page.all("href"))
    assert not re.findall(r"url\(|@import", text)
    assert "Noto Sans CJK JP" in text
    assert "prefers-color-scheme: dark" in text


def test_failures_repairs_and_costs_are_shown(run: Path) -> None:
    with RunDirectory.look(run) as directory:
        text = write_report(directory).read_text(encoding="utf-8")
        ledger = directory.log.ledger()
    assert "no reading" in text
    assert "Power: 2.6 → 3 (rounded)" in text
    for role in ("speaker", "questioner", "reflector", "summariser"):
        assert f"{ledger.roles[role].calls:,}" in text[text.index(role) :]


def test_repeated_ratings_show_their_spread(
    run: Path, naisei: Naisei, openai_server: Serve, tmp_path: Path
) -> None:
    model = f"openai-compatible:test@{openai_server(faulty()).url}"
    rated = tmp_path / "rated"
    done = naisei("relationship", "rate", run / "agent_a.json", "--rater", "model", "--model",
                  model, "--repeats", "3", "--embedder", "ngram", "--run-dir", rated,
                  "--quiet")  # fmt: skip
    assert done.code == 0, done.err
    page = naisei("relationship", "report", rated, "-o", tmp_path / "x" / "rated.html")
    text = Path(page.out.strip()).read_text(encoding="utf-8")
    assert "alpha.Power" in text
    assert re.search(r"\(\+1…\+3\)", text)
    assert {link[1:] for link in Page(text).all("href")} <= set(Page(text).all("id"))


def test_a_number_leads_to_its_sentence_to_the_line_and_back(
    naisei: Naisei, openai_server: Serve, tmp_path: Path
) -> None:
    model = f"openai-compatible:test@{openai_server(brain).url}"
    done = naisei("relationship", "run", "--model", model, "--relationship-reflection-every-turn",
                  "--sessions", "1", "--turns", "2", "--embedder", "none", "--run-dir",
                  tmp_path / "run", "--quiet")  # fmt: skip
    assert done.code == 0, done.err
    svg = tmp_path / "rr.svg"
    drawn = naisei("relationship", "plot", tmp_path / "run", "-o", svg)
    assert drawn.code == 0, drawn.err
    with RunDirectory.look(tmp_path / "run") as run:
        text = write_report(run).read_text("utf-8")
    assert "<h1>倉田 美和 ↔ 三浦 拓海</h1>" in text, "not the folder"
    page = Page(text)
    sentence = re.search(
        r"<li><b>[^<]*</b> [^<]*: Intimacyは最初の発言から。 <a href=\"#([^\"]+)\"", text
    )
    assert sentence is not None and sentence[1] in page.all("id")
    line = text[text.index(f'id="{sentence[1]}"') :]
    back = re.search(r'<a href="#(r1-[^"]+)"', line)
    assert back is not None and back[1] in page.all("id")
    assert 'class="named"' in text and "<title>1-1" in text
    assert "Intimacyは最初の発言から。 [" in svg.read_text("utf-8"), "points say their reason"
