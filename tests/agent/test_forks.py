"""A talk forked at any of its lines goes on from there; what fails is told in the user's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.talking import done as acted
from agent.talking import recorded_events
from commandline import Naisei

SAYS = ("おはよう", "お腹が空いたな", "バナナ", "ありがとう")


def acts(run: Path) -> list[str]:
    return acted(recorded_events(run))


def test_a_talk_is_forked_at_every_line(naisei: Naisei, tmp_path: Path) -> None:
    run = tmp_path / "run"
    env = {"NAISEI_DATA": str(tmp_path)}
    assert naisei("talk", "--run-dir", run, stdin="\n".join(SAYS) + "\n", **env).code == 0
    events = recorded_events(run)
    asked = [e.where.step for e in events if e.kind == "ask"][: len(SAYS)]
    assert [e.result for e in events if e.kind == "ask"] == [*SAYS]
    for number, step in enumerate(asked):
        fork = tmp_path / f"fork-{number}"
        done = naisei("runs", "fork", run, "--step", step, "--run-dir", fork)
        assert done.code == 0 and str(fork) in done.out
        talk = naisei("talk", "--run-dir", fork, stdin="リモコンを持ってきて\n", **env)
        assert talk.code == 0
        heard = [e.result for e in recorded_events(fork) if e.kind == "ask"]
        assert heard == [*SAYS[:number], "リモコンを持ってきて"]
        assert acts(fork)[-1] == "リモコンを持ってくる"


def test_another_answer_is_given_at_once(naisei: Naisei, tmp_path: Path) -> None:
    run, fork, env = tmp_path / "run", tmp_path / "fork", {"NAISEI_DATA": str(tmp_path)}
    naisei("talk", "--run-dir", run, stdin="\n".join(SAYS[1:3]) + "\n", **env)
    step = [e.where.step for e in recorded_events(run) if e.kind == "ask"][1]
    given = ("runs", "fork", run, "--step", step, "--run-dir", fork)
    assert naisei(*given, "--answer", "お菓子").code == 0
    naisei("talk", "--run-dir", fork, stdin="", **env)
    assert (acts(run), acts(fork)) == (["バナナを持ってくる"], ["お菓子を持ってくる"])


@pytest.mark.parametrize(
    "more", [("--step", "999"), ("--step", "0", "--model", "speaker=echo:small")]
)
def test_what_cannot_be_forked_is_refused(
    more: tuple[str, ...], naisei: Naisei, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    naisei("talk", "--run-dir", run, stdin="おはよう\n", NAISEI_DATA=str(tmp_path))
    done = naisei("runs", "fork", run, *more, "--run-dir", tmp_path / "fork")
    assert done.code == 2 and more[-2] in done.err
    assert not (tmp_path / "fork").exists()


@pytest.mark.parametrize(("language", "word"), [("ja", "つながりません"), ("en", "reached")])
def test_a_dead_endpoint_is_told_in_the_users_language(
    language: str, word: str, naisei: Naisei, tmp_path: Path
) -> None:
    dead = "openai-compatible:x@http://127.0.0.1:9/v1"
    env = {"NAISEI_DATA": str(tmp_path), "NAISEI_LANG": language}
    given = ("--lang", language, "talk", "--model", dead, "--run-dir", tmp_path / "run")
    done = naisei(*given, stdin="やあ\n", **env)
    assert done.code != 0 and word in done.err
    assert not done.out.count("Traceback")


def test_what_is_known_of_somebody_is_shown_and_erased(naisei: Naisei, tmp_path: Path) -> None:
    env, hana = {"NAISEI_DATA": str(tmp_path)}, ("--user", "hana")
    run = ("--run-dir", tmp_path / "run")
    naisei("talk", "--remember", *hana, *run, stdin="明日は運動会なんだ\n", **env)
    assert "運動会" in naisei("talk", "memory", *hana, **env).out
    assert "運動会" not in naisei("talk", "memory", "--user", "taro", **env).out
    naisei("talk", "memory", *hana, "--forget", **env)
    assert "運動会" not in naisei("talk", "memory", *hana, **env).out
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and run[1] not in path.parents]
    assert not any("運動会" in path.read_text("utf-8") for path in kept)


def test_any_conversation_is_forked(naisei: Naisei, tmp_path: Path) -> None:
    run, fork, env = tmp_path / "run", tmp_path / "fork", {"NAISEI_DATA": str(tmp_path)}
    chat = ("clarify", "chat", "--run-dir")
    naisei(*chat, run, stdin="リモコンを取ってきて\nはい\n", **env)
    assert naisei("runs", "fork", run, "--step", "0", "--run-dir", fork).code == 0
    naisei(*chat, fork, stdin="グラスを持ってきて\nはい\n", **env)
    assert next(e.result for e in recorded_events(fork) if e.kind == "ask") == "グラスを持ってきて"
    assert next(e.result for e in recorded_events(run) if e.kind == "ask") == "リモコンを取ってきて"
