"""Stopped in the middle of a session and resumed: as if nothing had been."""

import json
from collections.abc import Callable
from pathlib import Path

from commandline import Naisei
from relationship.speakers import brain
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]


def flags(server: OpenAIServer, run: Path) -> list[str]:
    model = f"openai-compatible:test@{server.url}"
    given = ["relationship", "run", "--relationship-reflection-every-turn", "--model", model]
    given += ["--sessions", "2", "--turns", "5", "--embedder", "ngram", "--importance", "model"]
    return [*given, "--importance-every", "3", "--run-dir", str(run), "--json", "--quiet"]


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
    assert naisei(*flags(openai_server(brain), tmp_path / "whole")).code == 0
    for name in ("agent_a.json", "agent_b.json", "results.jsonl"):
        assert (run / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    before = {path.name: path.read_bytes() for path in run.glob("*.json*")}
    assert naisei("relationship", "export", run).code == 0
    assert {path.name: path.read_bytes() for path in run.glob("*.json*")} == before
