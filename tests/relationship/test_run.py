"""naisei relationship run, ablate, export, personas: the command line and the files it leaves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from relationship.speakers import brain
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]

TRACE = {
    "time",
    "session_idx",
    "language",
    "hlq_list",
    "hlq_block",
    "evidence_numbered",
    "evidence_block",
    "direction",
    "src",
    "dst",
    "src_persona",
    "dst_persona",
    "prompt",
}
VECTOR = {"Power", "Intimacy", "TaskOriented"}


def flags(server: OpenAIServer, run: Path, *more: Any) -> list[str]:
    model = f"openai-compatible:test@{server.url}"
    given = ["relationship", "run", "--model", model, "--embedder", "ngram"]
    return [*given, "--run-dir", str(run), "--json", "--quiet", *map(str, more)]


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_the_files_are_those_of_the_document(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server, run = openai_server(brain), tmp_path / "run"
    every = "--relationship-reflection-every-turn"
    done = naisei(*flags(server, run, every, "--sessions", 2, "--turns", 4))
    assert done.code == 0, done.err
    assert done.result["metrics"]["calls_per_steady_turn"] == 3.0
    agents = [read(run / f"agent_{who}.json") for who in "ab"]
    for session in (1, 2):
        turns = agents[0][f"session_{session}_relationship_reflection_turns"]
        assert turns == agents[1][f"session_{session}_relationship_reflection_turns"]
        assert [turn["turn"] for turn in turns] == [0, 1, 2, 3]
        assert [turn["next_speaker"] for turn in turns] == ["三浦 拓海", "倉田 美和"] * 2
        for turn in turns:
            rr = turn["rr"]
            assert set(rr) == {"a_to_b", "b_to_a", "by_speaker"} and turn["injected"] is True
            assert set(rr["a_to_b"]) == set(rr["b_to_a"]) == VECTOR
            a, b = rr["by_speaker"]["倉田 美和"], rr["by_speaker"]["三浦 拓海"]
            assert (a["toward"], b["toward"]) == ("三浦 拓海", "倉田 美和")
            assert (a["vector"], b["vector"]) == (rr["a_to_b"], rr["b_to_a"])
        rows = (run / f"rr_prompt_trace_session_{session}.jsonl").read_text("utf-8").splitlines()
        trace = [json.loads(row) for row in rows]
        assert len(trace) == 5, "both directions first, then the next speaker's"
        for row in trace:
            assert set(row) >= TRACE and list(row)[: len(TRACE)][:3] == [
                "time",
                "session_idx",
                "language",
            ]
            assert row["session_idx"] == session and row["language"] == "ja"
            assert len(row["hlq_list"]) == 3
            assert row["hlq_block"] == "\n".join(f"- {q}" for q in row["hlq_list"])
            assert row["evidence_block"] == "\n".join(row["evidence_numbered"])
            assert row["evidence_numbered"][0].startswith("1. ")
            assert row["evidence_block"] in row["prompt"] and row["hlq_block"] in row["prompt"]
            assert row["src_persona"] in row["prompt"]
            assert (row["direction"] == "a_to_b") is (row["src"] == "倉田 美和")
            assert [g["text"] for g in row["evidence"]] == row["evidence_numbered"]
    lines = {line["dia_id"]: line["text"] for s in (1, 2) for line in agents[0][f"session_{s}"]}
    said = [g for row in trace for g in row["evidence"] if g["id"] in lines]
    assert said and all(lines[g["id"]] in g["text"] for g in said)
    assert agents[0]["session_2_date_time"] == "2026-04-13T10:00:00"
    assert agents[0]["session_1_summary"].startswith("約束をした")


def test_modes_and_their_files(openai_server: Serve, naisei: Naisei, tmp_path: Path) -> None:
    server = openai_server(brain)
    off = naisei(*flags(server, tmp_path / "off", "--turns", 2, "--sessions", 1))
    assert off.code == 0 and server.calls == 2
    assert read(tmp_path / "off/agent_a.json")["session_1_relationship_reflection_turns"] == []
    assert not list((tmp_path / "off").glob("rr_*"))
    start = ["--relationship-reflection", "--turns", 3, "--sessions", 2]
    assert naisei(*flags(server, tmp_path / "start", *start)).code == 0
    agent = read(tmp_path / "start/agent_a.json")
    for session in (1, 2):
        (turn,) = agent[f"session_{session}_relationship_reflection_turns"]
        assert turn["at"] == "session_start" and turn["injected"] is True
        assert all(line["injected"] for line in agent[f"session_{session}"])
    silent = [*start, "--relationship-reflection-no-inject"]
    assert naisei(*flags(server, tmp_path / "silent", *silent)).code == 0
    agent = read(tmp_path / "silent/agent_a.json")
    assert agent["session_1_relationship_reflection_turns"][0]["injected"] is False
    assert not any(line["injected"] for line in agent["session_1"])


def test_several_conversations_have_a_folder_each(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server, run = openai_server(brain), tmp_path / "run"
    more = ["--personas", "siblings", "flatmates", "--dialogues", 2, "--sessions", 1, "--turns", 2]
    done = naisei(*flags(server, run, *more))
    assert done.code == 0 and done.result["n"] == 4
    folders = sorted(path.name for path in (run / "dialogues").iterdir())
    assert folders == ["flatmates-1", "flatmates-2", "siblings-1", "siblings-2"]
    assert read(run / "dialogues/flatmates-1/agent_b.json")["name"] == "Jonas"
    first = {path: path.read_bytes() for path in (run / "dialogues").rglob("*.json")}
    out = naisei("relationship", "export", run, "--out", tmp_path / "again")
    assert out.code == 0 and len(out.out.splitlines()) == len(first) == 8
    for path, data in first.items():
        assert (tmp_path / "again" / path.relative_to(run)).read_bytes() == data


def test_the_three_conditions_in_one_command(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server, root = openai_server(brain), tmp_path / "abl"
    model = f"openai-compatible:test@{server.url}"
    given = ["relationship", "ablate", "--model", model, "--embedder", "ngram", "--turns", 3]
    given += ["--sessions", 1, "--dialogues", 2, "--run-dir", root, "--json", "--quiet"]
    done = naisei(*given)
    assert done.code == 0, done.err
    metrics = done.result["metrics"]
    assert [metrics[name]["injected_rate"] > 0 for name in ("none", "no-inject", "inject")] == [
        False,
        False,
        True,
    ]
    assert metrics["none"]["Power.a_to_b"] is None
    assert metrics["no-inject"]["Power.a_to_b"] is not None
    assert len(done.result["comparison"]["differences"]) >= 3
    calls = server.calls
    assert naisei(*given).result["metrics"] == metrics and server.calls == calls
    runs = [root / name for name in ("none", "no-inject", "inject")]
    compared = naisei("runs", "compare", *runs, "--json")
    assert compared.code == 0 and len(json.loads(compared.out)["differences"]) >= 3
    assert (root / "study.html").exists()
    told = [json.dumps(r["messages"], ensure_ascii=False) for r in server.requests]
    first = [t for t in told if "会話の始まり" in t and t.count('"role"') == 2]
    assert len(first) == 6 and len(set(first)) == 1, "the conditions begin alike"


def test_the_pairs_that_ship(naisei: Naisei, tmp_path: Path) -> None:
    listed = naisei("relationship", "personas")
    assert listed.code == 0 and "engineers" in listed.out and "nightbus" in listed.out
    (tmp_path / "own.toml").write_text(naisei("relationship", "personas", "engineers").out, "utf-8")
    (tmp_path / "m.jsonl").write_text('{"reply": "「はい。」"}\n', "utf-8")
    run = ["relationship", "run", "--model", "scripted:m.jsonl", "--personas", "own.toml"]
    done = naisei(*run, "--turns", 2, "--sessions", 1, "--run-dir", "run")
    assert done.code == 0 and "倉田 美和: はい。" in done.out
    assert naisei("relationship", "personas", "nobody").code == 2
    own = tmp_path / "own.toml"
    own.write_text(own.read_text("utf-8").replace("入社11年目", "入社12年目"), "utf-8")
    changed = naisei(*run, "--turns", 2, "--sessions", 1, "--run-dir", "run")
    assert changed.code == 2 and "changed since" in changed.err


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("倉田 美和: おはよう。", "おはよう。"),
        ("倉田：「おはよう。」", "おはよう。"),
        ("「おはよう」と「おやすみ」", "「おはよう」と「おやすみ」"),
        ("おはよう。\n三浦 拓海: おはようございます。", "おはよう。"),
        ("三浦: と書いてあった。", "三浦: と書いてあった。"),
    ],
)
def test_what_is_not_speech_is_taken_off(reply: str, line: str) -> None:
    from naisei.relationship.messages import spoken_text

    assert spoken_text(reply, "倉田 美和", "三浦 拓海") == line


def test_the_requests_of_both_directions_leave_together(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server = openai_server(brain, latency=0.3)
    given = ["--relationship-reflection", "--sessions", "1", "--turns", "1", "--embedder", "ngram"]
    model = f"openai-compatible:test@{server.url}"
    done = naisei(
        "relationship", "run", *given, "--model", model, "--run-dir", tmp_path / "run", "--quiet"
    )
    assert done.code == 0, done.err
    assert server.calls == 5 and server.peak == 2


def test_a_run_of_own_personas_is_resumed_from_any_folder(
    openai_server: Serve, naisei: Naisei, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = 'schema = "naisei.pair.v1"\nid = "own"\ntitle = "t"\n'
    one += '[a]\nname = "堀"\npersona = "院長"\n[b]\nname = "田代"\npersona = "新人"\n'
    (tmp_path / "own.toml").write_text(one, "utf-8")
    monkeypatch.chdir(tmp_path)
    model = f"openai-compatible:test@{openai_server(brain).url}"
    given = ["--model", model, "--sessions", "1", "--turns", "6", "--max-tokens", "900"]
    first = naisei(
        "relationship", "run", "--personas", "own.toml", *given, "--run-dir", "run", "--quiet"
    )
    assert first.code == 3, first.err
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    assert naisei("runs", "resume", tmp_path / "run", "--quiet").code == 0
    kept = json.loads((tmp_path / "run" / "agent_a.json").read_text("utf-8"))
    assert len(kept["session_1"]) == 6


RATED: tuple[object, ...] = ("--relationship-reflection-every-turn", "--sessions", 2, "--turns", 5)
RATED += ("--importance", "model", "--importance-every", 3)


def test_what_there_is_of_an_unfinished_conversation_can_be_exported(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server, run = openai_server(brain), tmp_path / "run"
    done = naisei(*flags(server, run, *RATED), "--max-tokens", 9000)
    assert done.code == 3 and done.result["n_pending"] == 1
    out = naisei("relationship", "export", run, "--out", tmp_path / "part")
    assert out.code == 0, out.err
    part = json.loads((tmp_path / "part" / "agent_a.json").read_text("utf-8"))
    assert 0 < len(part["session_1"]) <= 5
    assert naisei("runs", "resume", run, "--json", "--quiet").code == 0
    full = json.loads((run / "agent_a.json").read_text("utf-8"))
    assert full["session_1"][: len(part["session_1"])] == part["session_1"]
    assert len(full["session_2"]) == 5
    assert naisei(*flags(openai_server(brain), tmp_path / "whole", *RATED)).code == 0
    for name in ("agent_a.json", "agent_b.json", "results.jsonl"):
        assert (run / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    before = {path.name: path.read_bytes() for path in run.glob("*.json*")}
    assert naisei("relationship", "export", run).code == 0
    assert {path.name: path.read_bytes() for path in run.glob("*.json*")} == before


def test_the_demonstration_runs_without_a_model(naisei: Naisei, tmp_path: Path) -> None:
    done = naisei("relationship", "demo", "--run-dir", "demo")
    assert done.code == 0, done.err
    assert "from a script" in done.out and "from speech alone" in done.out
    turns = read(tmp_path / "demo/relationship/agent_a.json")
    assert len(turns["session_2_relationship_reflection_turns"]) == 6
    assert (tmp_path / "demo/relationship/relationship.png").stat().st_size > 10_000
