"""Ours pass the kits of memories, environments, embedders, providers and systems; broken ones do
not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from naisei.clarify.config import ClarifyConfig
from naisei.clarify.system import SYSTEM
from naisei.core import Act, Handler, Observation, Where
from naisei.memory import Memory, memory
from naisei.models.base import ChatModel, Embedder
from naisei.models.embedders import open_embedder
from naisei.models.registry import open_model
from naisei.system.config import Config
from naisei.system.declare import System
from naisei.testing import EmbedderKit, EnvironmentKit, MemoryKit, ProviderKit, SystemKit


class TestTur(MemoryKit):
    def memory(self) -> Memory:
        return memory("tur")


class TestReflexion(MemoryKit):
    def memory(self) -> Memory:
        return memory("reflexion")


class TestNone(MemoryKit):
    def memory(self) -> Memory:
        return memory("none")


class _Counter(Handler):
    """Adds up; done at ten."""

    def __init__(self) -> None:
        self.total = 0

    def perform(self, act: Act, where: Where) -> Observation:
        self.total += act.action
        return Observation(text=str(self.total), reward=float(act.action), done=self.total >= 10)

    def restore(self, act: Act, result: Observation, where: Where) -> None:
        self.perform(act, where)


class TestCounter(EnvironmentKit):
    def environment(self) -> Handler:
        return _Counter()

    def actions(self) -> Sequence[Any]:
        return [1, 4, 3]


class TestFast(EmbedderKit):
    def embedder(self) -> Embedder:
        return open_embedder("fast")


class TestScripted(ProviderKit):
    @pytest.fixture(autouse=True)
    def _script(self, tmp_path: Path) -> None:
        self.script = tmp_path / "rules.jsonl"
        rules = '{"schema": "", "reply": "はい"}\n{"fill": {}}\n'
        self.script.write_text(rules, encoding="utf-8")

    def model(self) -> ChatModel:
        return open_model(f"scripted:{self.script}")


class TestClarify(SystemKit):
    def system(self) -> System:
        return SYSTEM

    def config(self) -> Config:
        return ClarifyConfig(agent="bayes", limit=3)


def test_a_memory_that_changes_when_it_is_asked_fails() -> None:
    class Fading:
        name, prompt, reflects = "fading", "p", True

        def __init__(self) -> None:
            self.notes: list[JsonValue] = []

        def recall(self) -> str:
            return str(self.notes.pop()) if self.notes else ""

        def previous(self) -> str:
            return ""

        def add(self, item: JsonValue) -> None:
            self.notes.append(item)

    class Mine(MemoryKit):
        def memory(self) -> Memory:
            return Fading()

    assert "test_recall_has_no_effect" in Mine().failures()


def test_an_environment_that_cannot_be_restored_fails() -> None:
    class Forgetful(_Counter):
        def restore(self, act: Act, result: Observation, where: Where) -> None:
            """Leaves it in its first state."""

    class Mine(TestCounter):
        def environment(self) -> Handler:
            return Forgetful()

    assert [*Mine().failures()] == ["test_replay_restores_its_state"]


def test_an_embedder_whose_vectors_are_not_of_length_1_fails() -> None:
    class Long(EmbedderKit):
        def embedder(self) -> Embedder:
            made: Any = open_embedder("fast")

            class Doubled:
                name, dim = "doubled", made.dim

                def embed(self, texts: list[str], kind: Any = "query") -> Any:
                    return made.embed(texts, kind) * 2

            return Doubled()

    assert "test_one_unit_vector_per_text" in Long().failures()
