"""A provider, a memory, an agent and a data set from another package, in one run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from commandline import Alone
from e2e.helpers import lines
from servers.openai_server import OpenAIServer

PLUGIN = '''
from naisei.clarify.agent import AgentFactory
from naisei.clarify.data.loader import Loaded
from naisei.clarify.schemas import Action, ActionSet, Clarify, Execute, Instance, Scene
from naisei.core import Chat, user
from naisei.models.base import ChatReply

ACTIONS = ActionSet(
    name="kitchen",
    actions=(
        Action(id=1, text="お湯を沸かす"),
        Action(id=2, text="皿を洗う"),
        Action(id=3, text="窓を開ける"),
    ),
)


def load(argument, *, split, seed, actions):
    def one(n):
        return Instance(id=f"k{n}", scene=Scene(id=f"k{n}", utterance=f"{argument}{n}"), gold=n)

    return Loaded(tuple(one(n) for n in (1, 2, 3)), ACTIONS, (), "all")


class Careful:
    """Asks once, then does what its model says, never the same thing twice."""

    name = "careful"

    def decide(self, view):
        if view.may_ask and not view.asked:
            return Clarify(question="のどが渇いていますか？", guess=1)
        said = yield from Chat("agent", [user(f"{view.scene.utterance} memo:{view.memo}")])
        left = view.allowed
        return Execute(action=left[len(said) % len(left)])


def agent(context):
    return Careful()


class Broken:
    name = "broken"

    def decide(self, view):
        return {}["sofa"]


broken = AgentFactory(lambda context: Broken(), model_free=True)


class Reflex:
    name = "reflex"

    def __init__(self, context):
        pass

    def decide(self, view):
        return Execute(action=view.allowed[0])
        yield


reflex = AgentFactory(Reflex, model_free=True)


class Diary:
    name = "diary"
    prompt = "reflexion.v4"
    reflects = True

    def __init__(self):
        self.pages = []

    def recall(self):
        return " / ".join(self.pages)

    def previous(self):
        return ""

    def add(self, item):
        self.pages.append(str(item))


class Lost(Diary):
    name = "lost"
    prompt = "reflexion.v2"


class Echo:
    offline = True

    def __init__(self, name):
        self.name = f"echo:{name}"

    async def complete(self, request):
        text = f"{self.name} {len(request.messages)}"
        return ChatReply(text, input_tokens=2, output_tokens=1, model=self.name)

    async def aclose(self):
        pass


def provider(name, settings):
    return Echo(name)
'''

ENTRIES = """
[naisei.agents]
careful = naisei_e2e_plugin:agent
reflex = naisei_e2e_plugin:reflex
broken = naisei_e2e_plugin:broken
[naisei.memories]
diary = naisei_e2e_plugin:Diary
lost = naisei_e2e_plugin:Lost
[naisei.providers]
echo = naisei_e2e_plugin:provider
[naisei.datasets]
kitchen = naisei_e2e_plugin:load
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A package as an installer leaves it: a module, and metadata with entry points."""
    folder = tmp_path / "site"
    info = folder / "naisei_e2e_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "naisei_e2e_plugin.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: naisei-e2e-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    return folder


def test_all_four_in_one_run(alone: Alone, site: Path) -> None:
    path = os.pathsep.join([str(site), *(p for p in sys.path if p)])
    flags = ["--agent", "careful", "--memory", "diary", "--model", "echo:small"]
    flags += ["--data", "kitchen:ふう", "--run-dir", "run", "--json"]
    done = alone("clarify", "run", *flags, PYTHONPATH=path)
    assert done.code == 0, done.err
    assert done.result["n"] == 3 and done.result["metrics"]["pass@3"] == 1.0
    assert set(done.result["tokens"]) == {"agent", "reflector"}
    found = {row["instance"]: row["result"] for row in lines(Path("run/results.jsonl"))}
    assert set(found) == {"k1", "k2", "k3"}
    assert all(trial["turns"] for row in found.values() for trial in row["trials"])
    failed = [row for row in found.values() if len(row["trials"]) == 3]
    assert failed and failed[0]["memo"] == "echo:small 2 / echo:small 2"
    config = json.loads(Path("run/config.json").read_text(encoding="utf-8"))["config"]
    assert (config["agent"], config["memory"]) == ("careful", "diary")

    again = alone("runs", "resume", "run", "--json", PYTHONPATH=path)
    assert again.code == 0 and again.result == done.result


def test_a_factory_says_that_its_agent_needs_no_model(alone: Alone, site: Path) -> None:
    name = "reflex"
    path = os.pathsep.join([str(site), *(p for p in sys.path if p)])
    flags = ["--data", "kitchen:ふう", "--json", "--quiet", "--agent", name]
    done = alone("clarify", "run", *flags, "--agent", "random", "--model", "m:m", PYTHONPATH=path)
    assert done.code == 0, done.err
    assert set(done.result["runs"]) == {name, "random"}  # no memory in the label
    assert done.result["metrics"][name]["pass@3"] == 1.0
    done = alone("clarify", "ablate", *flags, PYTHONPATH=path)
    assert done.code == 0 and list(done.result["runs"]) == ["full", "no-clarify"], done.err


def test_a_bug_of_a_plugin_names_the_plugin(alone: Alone, site: Path) -> None:
    path = os.pathsep.join([str(site), *(p for p in sys.path if p)])
    command = "clarify run --agent broken --data kitchen:ふう --run-dir run"
    done = alone(*command.split(), PYTHONPATH=path)
    assert done.code == 1
    for word in ("naisei-e2e-plugin", "naisei_e2e_plugin:", "KeyError", "sofa"):
        assert word in done.err


@pytest.mark.parametrize(
    "command",
    [
        "clarify run --agent careful --memory lost --data kitchen:ふう",
        "clarify ablate --agent careful --memory lost --data kitchen:ふう",
        "clarify chat --agent careful --memory lost",
        "textgame run --games nowhere --agent llm --agent-option memory=lost --tries 2",
    ],
)
def test_a_prompt_that_is_not_there_is_told_before_the_first_call(
    alone: Alone, site: Path, command: str
) -> None:
    path = os.pathsep.join([str(site), *(p for p in sys.path if p)])
    with OpenAIServer() as server:
        model = ["--model", "openai-compatible:m", "--base-url", server.url]
        done = alone(*command.split(), *model, PYTHONPATH=path)
        assert (done.code, server.calls) == (2, 0), done.err
    assert "reflexion.v2" in done.err and "reflexion.v4" in done.err and "memory" in done.err
    assert not Path("runs").exists()


def test_without_the_package_the_names_are_unknown(alone: Alone) -> None:
    done = alone("clarify", "run", "--agent", "careful", "--model", "echo:small")
    assert done.code == 2 and "careful" in done.err and "naisei.agents" in done.err
