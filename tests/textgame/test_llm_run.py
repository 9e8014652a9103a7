"""The language-model player from the command line: a loopback endpoint, a stand-in engine."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei, Start
from naisei.core import Act, Where
from naisei.textgame.engine import GameHandler, ProcessPool
from naisei.textgame.schemas import START
from servers.openai_server import OpenAIServer
from textgame.conftest import FakeSet
from waiting import PATIENCE

Serve = Callable[..., OpenAIServer]


def brain(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Goes east only where a memo says so; the reflector says so after the second try."""
    said = messages[0]["content"]
    if "You look back" in said:
        return "- go east" if "a first note" in messages[1]["content"] else "- a first note"
    action = "go east" if "- go east" in said.split("Action history")[0] else "look"
    if schema is None:
        return f"Consideration: east?\nNext action: {action}."
    fields = {"consideration": "east?", "action": action}
    return json.dumps({name: fields[name] for name in schema["properties"]})


def first_listed(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """A zero-shot player: the first command of the newest list."""
    assert schema is None
    return str(messages[-1]["content"]).split("Available actions:\n")[1].splitlines()[0]


def flags(fake: FakeSet, server: OpenAIServer, where: str, *more: str) -> list[str]:
    model = f"openai-compatible:test@{server.url}"
    out = ["textgame", "run", "--agent", "llm", "--model", model, "--games", str(fake.folder)]
    return [*out, "--max-steps", "5", "--run-dir", where, "--quiet", "--json", *more]


REFLECTIVE = ("--tries", "4", "--agent-option", "memory=tur", "--limit", "2")


def test_tries_of_one_game_with_a_memo_between_them(
    fake: FakeSet, naisei: Naisei, openai_server: Serve
) -> None:
    server = openai_server(brain)
    done = naisei(*flags(fake, server, "run", *REFLECTIVE))
    assert done.code == 0, done.err
    found = done.result["metrics"]
    assert [found[f"pass@{k}"] for k in (1, 2, 3, 4)] == [0, 0, 1, 1]
    assert [found[f"best_score@{k}"] for k in (1, 2, 3, 4)] == [0, 0, 1, 1]
    assert (found["won"], found["repairs"], found["unmatched"]) == (1, 0, 0)
    assert server.calls == 2 * (3 * 5 + 2)
    assert done.result["tokens"]["reflector"]["calls"] == 4
    game = fake.asked[0][0]
    commands = [command for name, _, command in fake.asked if name == game]
    assert commands == 2 * [START, *5 * ["look"]] + [START, *5 * ["go east"]]
    shown = naisei("runs", "show", "run")
    assert shown.code == 0
    assert "- go east" in Path("run/results.jsonl").read_text()


def test_a_killed_run_goes_on_within_a_later_try(
    fake: FakeSet, naisei: Naisei, start: Start, openai_server: Serve
) -> None:
    server = openai_server(brain)
    whole = naisei(*flags(fake, server, "whole", *REFLECTIVE))
    assert whole.code == 0, whole.err
    calls = server.calls
    server.holds = calls + 8
    process = start(*flags(fake, server, "cut", *REFLECTIVE, "--concurrency", "1"))
    server.reached(calls + 9, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    server.left()
    server.holds = None
    came = len(fake.asked)
    resumed = naisei("runs", "resume", "cut", "--quiet", "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.result["metrics"] == whole.result["metrics"]
    # At most the call in flight is made again.
    assert server.calls - 2 * calls in (0, 1)
    # Only the try that was cut is driven again, not those before it.
    game = fake.asked[came - 1][0]
    starts = [c for name, _, c in fake.asked[came:] if name == game and c == START]
    assert len(starts) == 2


@pytest.mark.parametrize("reply", ["schema", "template"])
def test_one_try_calls_no_reflector(
    fake: FakeSet, naisei: Naisei, openai_server: Serve, reply: str
) -> None:
    server = openai_server(brain)
    model = f"openai-compatible:test@{server.url}"
    more = ("--limit", "1", "--agent-option", f"reply={reply}")
    arguments = [a for a in flags(fake, server, "run", *more) if a not in ("--model", model)]
    done = naisei(*arguments, "--player-model", model)
    assert done.code == 0, done.err
    assert server.calls == 5
    assert done.result["metrics"]["timed_out"] == 1
    assert (done.result["metrics"]["repairs"], done.result["metrics"]["unmatched"]) == (0, 0)


def test_replies_that_name_no_command_are_counted_and_do_no_harm(
    fake: FakeSet, naisei: Naisei, openai_server: Serve
) -> None:
    server = openai_server(lambda messages, schema: "Next action: fly away")
    done = naisei(*flags(fake, server, "run", "--limit", "1", "--agent-option", "reply=template"))
    assert done.code == 0, done.err
    assert (done.result["metrics"]["repairs"], done.result["metrics"]["unmatched"]) == (5, 5)
    assert {command for _, _, command in fake.asked} == {START, "look"}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--agent-option", "memory=tur"), "--tries"),
        (("--agent-option", "memory=elephant", "--tries", "2"), "elephant"),
        (("--agent-option", "example=medium"), "example"),
        (("--agent-option", "wings=yes"), "known: prompt"),
    ],
)
def test_settings_that_cannot_be_are_told_in_one_message(
    fake: FakeSet, naisei: Naisei, openai_server: Serve, more: tuple[str, ...], says: str
) -> None:
    done = naisei(*flags(fake, openai_server(brain), "run", *more))
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert not Path("run").exists()


def test_without_a_model_there_is_one_message(fake: FakeSet, naisei: Naisei) -> None:
    for command in (("run", "--agent", "llm"), ("ablate",)):
        done = naisei("textgame", *command, "--games", str(fake.folder))
        assert done.code == 2
        assert "--model" in done.err


def test_table_6_2_is_one_command(fake: FakeSet, naisei: Naisei, openai_server: Serve) -> None:
    server, other = openai_server(first_listed), openai_server(first_listed)
    arguments = ["textgame", "ablate", "--games", str(fake.folder), "--limit", "2", "--quiet"]
    arguments += ["--max-steps", "2", "--run-dir", "study", "--filter", "thesis", "--json"]
    arguments += ["--rows", "dialogue,navigator,other-dialogue,other-navigator"]
    arguments += ["--model", f"openai-compatible:test@{server.url}"]
    done = naisei(*arguments, "--other-model", f"openai-compatible:test@{other.url}")
    assert done.code == 0, done.err
    rows = ["dialogue", "navigator", "other-dialogue", "other-navigator"]
    assert list(done.result["metrics"]) == rows
    assert (server.calls, other.calls) == (8, 8)
    assert all("Available actions" in json.dumps(body) for body in server.requests)
    assert "Difference from dialogue" in Path("study/study.md").read_text()
    assert naisei(*arguments).code == 2  # without the other model


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--rows", "full,sideways"), "known: full"),
        (("--rows", "other-model"), "--other-model"),
        (("--agent-option", "thinking=no"), "no-cot"),
    ],
)
def test_rows_that_cannot_be_are_told(
    fake: FakeSet, naisei: Naisei, openai_server: Serve, more: tuple[str, ...], says: str
) -> None:
    model = f"openai-compatible:test@{openai_server(brain).url}"
    done = naisei("textgame", "ablate", "--games", str(fake.folder), "--model", model, *more)
    assert done.code == 2
    assert says in done.err


def test_a_crash_in_a_later_try_drives_that_try_alone_again(fake: FakeSet) -> None:
    pool, where = ProcessPool(), Where("g0", 1)
    handler = GameHandler(fake.folder / "g0.z8", pool)
    first, second = (START, "go east", "look"), (START, "go east")
    for command in (*first, *second):
        handler.perform(Act(command), where)
    fake.fault("g0.crash-2")
    seen = [handler.perform(Act(command), where) for command in ("go east", "look")]
    pool.close()
    assert [o.reward for o in seen] == [1, 0] and not list(fake.faults.iterdir())
    asked = [command for _, _, command in fake.asked]
    assert asked == [*first, *second, *second, "go east", "look"]
