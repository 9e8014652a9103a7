"""kill -9 in the middle of a session, twice, then resumed: as if nothing had been."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import Naisei, Start
from naisei.runs.log import RunLog
from relationship.speakers import brain
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]


def flags(server: OpenAIServer, run: Path) -> list[str]:
    model = f"openai-compatible:test@{server.url}"
    given = ["relationship", "run", "--relationship-reflection-every-turn", "--model", model]
    given += ["--sessions", "2", "--turns", "5", "--embedder", "ngram", "--importance", "model"]
    return [*given, "--importance-every", "3", "--run-dir", str(run), "--json", "--quiet"]


def asked(server: OpenAIServer) -> list[str]:
    return [json.dumps(r["messages"], ensure_ascii=False) for r in server.requests]


def logged(run: Path) -> Counter[str]:
    """How often each prompt was answered and logged."""
    log = RunLog(run / "log.sqlite", read_only=True)
    found = Counter(
        json.dumps(event.request["messages"], ensure_ascii=False)
        for episode in log.known_episodes()
        for event in log.read(episode)
        if event.kind == "chat" and isinstance(event.request, dict)
    )
    log.close()
    return found


@pytest.mark.slow
def test_it_resumes_at_the_same_utterance(
    openai_server: Serve, naisei: Naisei, start: Start, tmp_path: Path
) -> None:
    calm, whole, run = openai_server(brain), tmp_path / "whole", tmp_path / "run"
    first = naisei(*flags(calm, whole))
    assert first.code == 0, first.err
    server = openai_server(brain)
    kept = []
    for moment in (8, 21):
        server.holds = moment
        process = start(*flags(server, run))
        server.reached(moment + 1, process)
        process.kill()
        process.communicate()
        server.left()
        kept.append((server.calls, logged(run)))
    server.holds = None
    again = naisei("runs", "resume", run, "--json", "--quiet")
    assert again.code == 0, again.err
    came, held = kept[-1]
    # Prompts may be the same twice, so they are counted: what was answered and logged before the
    # last kill, and what was asked after it, make up the whole, no more and no less.
    assert held and held + Counter(asked(server)[came:]) == Counter(asked(calm))
    assert server.calls <= calm.calls + 2 * len(kept), "only calls in flight are made again"
    for name in ("agent_a.json", "agent_b.json", "results.jsonl"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name
    assert again.result["metrics"] == first.result["metrics"]


def test_what_there_is_of_an_unfinished_conversation_can_be_exported(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server, run = openai_server(brain), tmp_path / "run"
    done = naisei(*flags(server, run), "--max-tokens", 9000)
    assert done.code == 3 and done.result["n_pending"] == 1
    out = naisei("relationship", "export", run, "--out", tmp_path / "part")
    assert out.code == 0, out.err
    part = json.loads((tmp_path / "part" / "agent_a.json").read_text("utf-8"))
    assert 0 < len(part["session_1"]) <= 5
    assert naisei("runs", "resume", run, "--json", "--quiet").code == 0
    full = json.loads((run / "agent_a.json").read_text("utf-8"))
    assert full["session_1"][: len(part["session_1"])] == part["session_1"]
    assert len(full["session_2"]) == 5
    before = {path.name: path.read_bytes() for path in run.glob("*.json*")}
    assert naisei("relationship", "export", run).code == 0
    assert {path.name: path.read_bytes() for path in run.glob("*.json*")} == before
