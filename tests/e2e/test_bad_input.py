"""Bad input: exit code 2, one clear message that names the place, nothing left behind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Done, Naisei, Start
from e2e.helpers import brain, rows, write_rows
from servers.closed_port import closed_port
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]

GOOD = json.dumps(rows(1)[0], ensure_ascii=False)
NO_GOLD = '{"id": "x", "utterance": "ふう。"}'
ODD_GOLD = '{"id": "x", "utterance": "ふう。", "gold": 99}'


def refused(done: Done, *parts: str) -> None:
    """One message with these parts; no traceback, no run directory, nothing on stdout."""
    assert done.code == 2, done
    assert "Traceback" not in done.err and done.out == ""
    assert done.err.startswith("error: ") and done.err.count("error: ") == 1
    assert len(done.err.strip().splitlines()) <= 3, done.err
    for part in parts:
        assert part in done.err, done.err
    assert not Path("runs").exists() and not Path("run").exists()


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (f"{GOOD}\n{GOOD[:40]}\n".encode(), ["data.jsonl:2", "no JSON"]),
        (f"{GOOD}\n\n{NO_GOLD}\n".encode(), ["data.jsonl:3", "gold"]),
        (f"{ODD_GOLD}\n".encode(), ["data.jsonl:1", "99"]),
        (f"{GOOD}\n{GOOD}\n".encode(), ["data.jsonl:2", "twice", "data.jsonl:1"]),
        (f"{GOOD}\n[1]\n".encode(), ["data.jsonl:2", "object"]),
        (b"", ["data.jsonl", "empty"]),
        (b" \n\n", ["data.jsonl", "empty"]),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", ["data.jsonl", "no text"]),
        (GOOD.encode() + b"\n\xe3\x81\n\xff\n", ["data.jsonl:2", "encoding"]),
    ],
)
def test_data_that_cannot_be_read(naisei: Naisei, content: bytes, parts: list[str]) -> None:
    Path("data.jsonl").write_bytes(content)
    done = naisei("clarify", "run", "--data", "data.jsonl", "--agent", "random", "--json")
    refused(done, *parts)


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "utf-16", "utf-8-sig"])
def test_data_in_encodings_of_windows(naisei: Naisei, encoding: str) -> None:
    Path("data.jsonl").write_bytes(GOOD.encode(encoding))
    done = naisei("clarify", "run", "--data", "data.jsonl", "--agent", "random", "--json")
    assert (done.code, done.result["n"]) == (0, 1)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("missing.jsonl", ["missing.jsonl", "no such file"]),
        ("folder", ["folder", "no data"]),
        ("ambigact41", ["ambigact41", "ambigact40-open"]),
        ("kitchen:x", ["'kitchen' is no registered data set"]),
        ("arta:nowhere", ["nowhere"]),
        ("ambigact40-open:tset", ["tset"]),
        ("", ["--data"]),
    ],
)
def test_data_that_is_not_there(naisei: Naisei, source: str, parts: list[str]) -> None:
    Path("folder").mkdir()
    refused(naisei("clarify", "run", "--data", source, "--agent", "random"), *parts)


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (["--agent", "oracle"], ["--agent", "oracle", "bayes"]),
        (["--agent", "llm"], ["--agent-model", "--model"]),
        (["--agent", "random", "--simulator", "psychic"], ["--simulator", "psychic", "rule"]),
        (["--agent", "random", "--simulator", "llm"], ["--simulator-model"]),
        (["--model", "openai:gpt-x"], ["openai:gpt-x", "OPENAI_API_KEY"]),
        (["--model", "nobody:x"], ["nobody", "openai-compatible"]),
        (["--model", "gpt-x"], ["PROVIDER:NAME"]),
        (["--model", "openai-compatible:x"], ["--base-url"]),
        (["--model", "openai-compatible:x", "--base-url", "nowhere"], ["--base-url", "nowhere"]),
        (["--model", "scripted:none.jsonl"], ["none.jsonl", "no such file"]),
        (["--model", "local:no-such-weights"], ["local"]),
        (["--model", "scripted:model.jsonl", "--memory", "diary"], ["--memory", "diary", "tur"]),
        (
            ["--model", "scripted:model.jsonl", "--memory", "tur", "--independent"],
            ["--memory", "independent"],
        ),
        (["--agent", "random", "--alpha", "0"], ["alpha", "greater than 0"]),
        (["--agent", "random", "--actions", "none.jsonl"], ["none.jsonl"]),
        (["--agent", "embed", "--embedder", "word2vec"], ["word2vec"]),
        (["--agent", "random", "--run-dir", "file"], ["file", "not a run directory"]),
        (["--agent", "random", "--run-dir", "full"], ["full", "holds files"]),
        (["--agent", "random", "--run-dir", "file/run"], ["file/run", "cannot be written"]),
    ],
)
def test_flags_that_name_nothing(naisei: Naisei, flags: list[str], parts: list[str]) -> None:
    write_rows(Path("data.jsonl"), rows(2))
    Path("model.jsonl").write_text('{"reply": "はい"}\n', encoding="utf-8")
    Path("file").write_text("")
    Path("full").mkdir()
    Path("full/notes.txt").write_text("")
    refused(naisei("clarify", "run", "--data", "data.jsonl", *flags), *parts)
    assert sorted(p.name for p in Path().iterdir()) == ["data.jsonl", "file", "full", "model.jsonl"]


@pytest.mark.parametrize("flag", ["--trials", "--limit", "--concurrency"])
def test_numbers_out_of_range(naisei: Naisei, flag: str) -> None:
    done = naisei("clarify", "run", "--agent", "random", flag, 0)
    assert done.code == 2 and flag in done.err and "Traceback" not in done.err
    assert not Path("runs").exists()


def test_an_endpoint_that_is_not_there(naisei: Naisei) -> None:
    write_rows(Path("data.jsonl"), rows(2))
    with closed_port() as port:
        url = f"http://127.0.0.1:{port}/v1"
        flags = ["--model", "openai-compatible:x", "--base-url", url, "--json"]
        done = naisei("clarify", "run", "--data", "data.jsonl", *flags)
    refused(done, url, "cannot be reached", "--base-url")


@pytest.mark.parametrize("status", [401, 404])
def test_an_endpoint_that_refuses(naisei: Naisei, openai_server: Serve, status: int) -> None:
    said = {"error": {"message": "nothing for you"}}
    server = openai_server(respond=lambda body: (status, {}, said))
    write_rows(Path("data.jsonl"), rows(2))
    flags = ["--model", "openai-compatible:x", "--base-url", server.url]
    done = naisei("clarify", "run", "--data", "data.jsonl", *flags)
    refused(done, server.url, str(status), "nothing for you", "API key")


def test_the_variables_of_the_endpoint(
    naisei: Naisei, openai_server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(Path("data.jsonl"), rows(1))
    flags = ["clarify", "run", "--data", "data.jsonl", "--trials", 1]
    monkeypatch.setenv("OPENAI_BASE_URL", "127.0.0.1:1")
    refused(naisei(*flags, "--model", "openai-compatible:x"), "OPENAI_BASE_URL")
    server = openai_server(brain)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    refused(naisei(*flags, "--model", "openai:x"), "OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for provider in ("openai", "openai-compatible"):
        assert naisei(*flags, "--model", f"{provider}:x", "--run-dir", provider).code == 0
    assert server.calls > 1


def test_a_place_that_cannot_be_written(naisei: Naisei) -> None:
    Path("closed").mkdir(mode=0o555)
    # Root may write anywhere but there.
    where = "/proc/closed/run" if os.geteuid() == 0 else "closed/run"
    done = naisei("clarify", "run", "--agent", "random", "--limit", 2, "--run-dir", where)
    refused(done, where, "cannot be written")


def test_a_run_of_another_configuration(naisei: Naisei) -> None:
    flags = ["clarify", "run", "--limit", 3, "--run-dir", "mine", "--agent", "random"]
    first = naisei(*flags)
    assert first.code == 0
    before = {p.name: p.read_bytes() for p in Path("mine").iterdir() if p.suffix != ".sqlite"}
    other = naisei(*flags, "--seed", 7, "--trials", 2)
    refused(other.__class__(other.code, other.out, _joined(other.err)), "mine", "another")
    assert "seed: 0 → 7" in other.err and "rules.trials: 3 → 2" in other.err
    after = {p.name: p.read_bytes() for p in Path("mine").iterdir() if p.suffix != ".sqlite"}
    assert after == before
    changed = naisei(*flags[:2], "--limit", 4, *flags[4:])
    assert changed.code == 2 and "limit: 3 → 4" in changed.err


def _joined(err: str) -> str:
    """The lines of the difference are part of the one message."""
    head, *rest = err.strip().splitlines()
    return "\n".join([head, *(line for line in rest if line.startswith("  →"))])


def test_a_run_that_another_process_works_on(
    naisei: Naisei, openai_server: Serve, start: Start
) -> None:
    server = openai_server(brain, holds=0)
    write_rows(Path("data.jsonl"), rows(2))
    flags: list[Any] = ["clarify", "run", "--data", "data.jsonl", "--run-dir", "mine"]
    flags += ["--model", f"openai-compatible:x@{server.url}"]
    process = start(*flags)
    server.reached(1, process)
    done = naisei(*flags)
    refused(done, "another process", str(process.pid), "mine")
    assert naisei("runs", "resume", "mine").code == 2
    assert process.poll() is None


def test_other_commands_on_bad_input(naisei: Naisei) -> None:
    write_rows(Path("data.jsonl"), [{"utterance": "ふう。"}])
    Path("model.jsonl").write_text('{"reply": "はい"}\n', encoding="utf-8")
    for command in (
        ["clarify", "ablate", "--data", "data.jsonl", "--model", "scripted:model.jsonl"],
        ["clarify", "audit", "--data", "data.jsonl"],
        ["clarify", "chat", "--data", "data.jsonl", "--agent", "bayes"],
    ):
        refused(naisei(*command), "data.jsonl:1", "gold")
    for command in (["show"], ["resume"], ["export"], ["report"], ["compare", "other"]):
        refused(naisei("runs", command[0], "nowhere", *command[1:]), "nowhere")
    refused(naisei("clarify", "ablate", "--rows", "full,half", "--agent", "bayes"), "half")
    refused(naisei("clarify", "audit", "--simulator", "llm"), "--simulator-model")
