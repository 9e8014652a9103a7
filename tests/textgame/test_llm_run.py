"""The language-model player from the command line: a loopback endpoint, a stand-in engine."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei, Start
from naisei.core import Act, InstrumentFailure, Where
from naisei.textgame.engine import GameHandler
from naisei.textgame.schemas import START, View
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


def test_sampling_reaches_the_endpoint_and_is_part_of_the_run(
    fake: FakeSet, naisei: Naisei, openai_server: Serve
) -> None:
    server = openai_server(brain)
    more = ("--limit", "1", "--temperature", "0.3", "--max-output-tokens", "77")
    assert naisei(*flags(fake, server, "run", *more)).code == 0
    assert {body["temperature"] for body in server.requests} == {0.3}
    assert "77" in json.dumps(server.requests[0])
    frozen = json.loads(Path("run/config.json").read_text())["config"]
    assert frozen["sampling"]["player"] == {"seed": 0, "temperature": 0.3, "max_tokens": 77}


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


def test_an_endpoint_that_breaks_down_leaves_the_game_unscored(
    fake: FakeSet, naisei: Naisei, openai_server: Serve
) -> None:
    server = openai_server(lambda messages, schema: '{"consideration": 1}')
    done = naisei(*flags(fake, server, "run", "--limit", "1"))
    assert (done.result["n"], done.result["n_unscored"]) == (0, 1)
    assert done.result["metrics"]["normalized_score"] is None


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


ROWS = ["full", "other-model", "no-cot", "no-one-shot", "no-fa", "easy-one-shot"]


@pytest.mark.slow
def test_tables_3_2_and_3_3_are_one_command(
    fake: FakeSet, naisei: Naisei, openai_server: Serve
) -> None:
    server, other = openai_server(brain), openai_server(brain)
    arguments = ["textgame", "ablate", "--games", str(fake.folder), "--limit", "2", "--quiet"]
    arguments += ["--max-steps", "2", "--run-dir", "study", "--agent-option", "task=tidying"]
    arguments += ["--model", f"openai-compatible:test@{server.url}"]
    arguments += ["--other-model", f"openai-compatible:test@{other.url}", "--json"]
    done = naisei(*arguments)
    assert done.code == 0, done.err
    assert list(done.result["metrics"]) == ROWS
    assert (done.result["n"], done.result["n_unscored"]) == (12, 0)
    assert (server.calls, other.calls) == (5 * 4, 4)
    seen = [json.dumps(body) for body in server.requests]
    assert sum("step by step" not in body for body in seen) == 4
    assert sum("Example walkthrough" not in body for body in seen) == 4
    assert sum("right place" not in body for body in seen) == 8
    assert sum("Action 9:" in body for body in seen) == 12

    tables = [read(p) for p in sorted(Path("study").glob("*.csv"))]
    assert {f"command of {row}" for row in ROWS} <= {line[0] for line in tables[0]}
    results = next(t for t in tables if t[0][:3] == ["metric", "configuration", "value"])
    for metric in ("normalized_score", "won"):
        assert [line[1] for line in results if line[0] == metric] == ROWS

    again = naisei(*arguments)
    assert again.result["metrics"] == done.result["metrics"]
    assert (server.calls, other.calls) == (20, 4)


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


def read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


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


class Interpreter:
    """Stands in for an interpreter process; crashes once at the command `boom`."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def open(self, path: Path) -> View:
        self.pool.asked.append(START)
        self.score = 0
        return View(feedback="begin", max_score=9)

    def step(self, command: str) -> View:
        self.pool.asked.append(command)
        if command == "boom" and not self.pool.crashed:
            self.pool.crashed = True
            raise InstrumentFailure("it crashed")
        self.score += 1
        return View(feedback=f"{command} {self.score}", score=self.score, max_score=9)


class Pool:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.crashed = False

    def borrow(self) -> Interpreter:
        return Interpreter(self)

    def give_back(self, process: Interpreter) -> None:
        pass


def test_a_crash_in_a_later_try_drives_that_try_alone_again(fake: FakeSet) -> None:
    pool = Pool()
    handler = GameHandler(fake.folder / "g0.z8", pool)  # type: ignore[arg-type]
    where = Where("g0", 1)
    seen = [handler.perform(Act(a), where) for a in (START, "a", "b", START, "c", "boom", "d")]
    assert [o.reward for o in seen] == [0, 1, 1, 0, 1, 1, 1]
    assert pool.asked == [START, "a", "b", START, "c", "boom", START, "c", "boom", "d"]
