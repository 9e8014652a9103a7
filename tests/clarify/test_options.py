"""Settings of agents and of endpoints, from the command line to where they act."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from both_languages import refused
from commandline import Naisei
from naisei.clarify.agent import AgentContext, build_agent
from naisei.clarify.system import RUN
from naisei.cli.flags import configurations
from naisei.cli.parameters import with_options
from naisei.core import InputError
from naisei.system.config import Options, flag
from servers.openai_server import OpenAIServer
from waiting import PATIENCE, naps


@pytest.mark.parametrize(
    ("agent", "given", "typed"),
    [
        ("bayes", ["weights=a=b.json"], {"weights": "a=b.json"}),
        ("llm", [" prompt = hybrid.v3 "], {"prompt": "hybrid.v3"}),
        ("llm", [], {}),
    ],
)
def test_settings_have_the_types_that_the_agent_declares(
    agent: str, given: list[str], typed: dict[str, Any]
) -> None:
    made = configurations(RUN, agent=[agent], agent_option=given, model=["scripted:x"])
    (config,) = made.values()
    assert config.agent_options == typed


def test_each_agent_of_a_run_gets_the_settings_that_it_knows() -> None:
    given = ["weights=w.json", "prompt=agent.v4"]
    made = configurations(RUN, agent=["bayes", "llm"], agent_option=given, model=["scripted:x"])
    found = {c.agent: c.agent_options for c in made.values()}
    assert found == {"bayes": {"weights": "w.json"}, "llm": {"prompt": "agent.v4"}}


@pytest.mark.parametrize(
    ("agent", "given", "said"),
    [
        ("bayes", ["weights"], "expected KEY=VALUE, not 'weights'"),
        ("bayes", ["=2"], "expected KEY=VALUE, not '=2'"),
        ("bayes", ["weights=1", "weights=2"], "'weights' is set twice"),
        ("bayes", ["weight=2"], "unknown setting 'weight'"),
        ("llm", ["prompt=agent.v9"], "no prompt 'agent.v9'"),
        ("random", ["depth=2"], "unknown setting 'depth'"),
    ],
)
def test_settings_that_cannot_be_used_are_one_message(
    agent: str, given: list[str], said: str
) -> None:
    error = refused(lambda: configurations(RUN, agent=[agent], agent_option=given))
    assert said in error.message
    assert error.place.startswith("--agent-option") and error.remedy


def test_a_program_cannot_give_an_unknown_setting_either() -> None:
    with pytest.raises(InputError, match="unknown setting 'depth'"):
        build_agent("random", AgentContext(actions=None, options={"depth": 2}))  # type: ignore[arg-type]


def test_on_the_command_line(naisei: Naisei, tmp_path: Path) -> None:
    flags = ["run", "--limit", 2, "--quiet", "--embedder", "ngram", "--run-dir", tmp_path / "r"]
    code, _, err = naisei("clarify", *flags, "--agent", "bayes", "--agent-option", "depth=x")
    assert code == 2 and "--agent-option" in err and "known: weights" in err
    assert "Traceback" not in err and not (tmp_path / "r").exists()
    option = ["--agent", "bayes", "--agent-option", "weights=ambigact40"]
    code, _, err = naisei("clarify", *flags, *option)
    assert code == 0, err
    frozen = json.loads((tmp_path / "r/config.json").read_text(encoding="utf-8"))
    assert frozen["config"]["agent_options"] == {"weights": "ambigact40"}


def test_structure_by_prompt_and_requests_per_minute(
    naisei: Naisei,
    openai_server: Callable[..., OpenAIServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited = naps(monkeypatch)

    def first(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        return json.dumps({"thought": "", "choice": "execute", "action": 1, "question": ""})

    server = openai_server(first)
    flags = ["clarify", "run", "--data", "ambigact40-open", "--limit", "3", "--quiet"]
    flags += ["--model", f"openai-compatible:test@{server.url}", "--memory", "none"]
    flags += ["--trials", "1", "--structured", "prompt", "--requests-per-minute", "0.006"]
    assert naisei(*flags, "--run-dir", tmp_path / "r").code == 0
    assert server.calls == 3
    assert all("response_format" not in request for request in server.requests)
    # One in 10,000 seconds, and the first at once.
    assert [s for s in waited if s > 1000] == pytest.approx([10_000, 20_000], abs=PATIENCE)
    code, _, err = naisei("clarify", "run", "--requests-per-minute", "0")
    assert code == 2 and "--requests-per-minute" in err
    code, _, err = naisei("clarify", "run", "--structured", "xml")
    assert code == 2 and "--structured" in err


def test_a_run_goes_on_at_another_endpoint(
    naisei: Naisei, openai_server: Callable[..., OpenAIServer], tmp_path: Path
) -> None:
    def act(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        return json.dumps({"thought": "", "choice": "execute", "action": 1, "question": ""})

    first, second = openai_server(act), openai_server(act)
    flags = ["--limit", "4", "--memory", "none", "--trials", "1", "-q", "--concurrency", "1"]
    flags += ["--model", "openai-compatible:test", "--base-url", first.url, "--max-tokens", "1"]
    assert naisei("clarify", "run", *flags, "--run-dir", tmp_path / "r").code == 3
    before = first.calls
    again = naisei("runs", "resume", tmp_path / "r", "-q", "--base-url", second.url)
    assert again.code == 0, again.err
    assert (first.calls, first.calls + second.calls) == (before, 4)


class Pair(Options):
    left: int = flag(1, "左", "Left.", ge=1)
    right: str | None = flag(None, "右", "Right.")


def test_a_model_of_options_is_its_flags() -> None:
    got: list[object] = []

    def command(name: Annotated[str, typer.Option()] = "n", *, pair: Pair) -> None:
        got.append((name, pair))

    app = typer.Typer()
    app.command()(with_options(command))
    call = get_command(app)
    for args in (["--left", "2", "--right", "r"], ["--name", "m"]):
        call.main(args, standalone_mode=False)
    assert got == [("n", Pair(left=2, right="r")), ("m", Pair())]
