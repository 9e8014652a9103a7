"""A text game's house as the world: acts go through the commands that the game lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.talking import done, last, lines, questions, talked
from commandline import Naisei
from naisei.agent import opening
from naisei.agent.opening import TalkConfig
from naisei.agent.persona import load_persona
from naisei.core import Act, Observation, Where
from textgame.toy_house import ToyHouse


class _Toy(ToyHouse):
    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        self.perform(effect, where)

    def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Iterator[TalkConfig]:
    """Of a robot in the toy house; each game opened is a new one."""
    monkeypatch.setattr(opening, "playable", lambda path, pool: path)
    monkeypatch.setattr(opening, "GameHandler", lambda path, pool: _Toy())
    robot = load_persona("robot").model_copy(update={"world": "house.z8"})
    yield TalkConfig(persona=robot)


def test_commands_of_the_game_are_what_can_be_done(config: TalkConfig, tmp_path: Path) -> None:
    says = ["take the mug from the bench", "go east", "put the mug on the shelf"]
    events = talked(config, says, tmp_path)
    assert "Things lie about" in lines(events)[0], "where it begins is told"
    commands = ["take mug from bench", "go east", "put mug on shelf"]
    assert [command for command in done(events) if command] == commands
    assert questions(events) == []
    assert "You take the mug" in lines(events)[1]
    seen = [event.result for event in events if event.kind == "act"][-1]
    assert "Kitchen" in seen["info"]["rooms"]  # type: ignore[index,call-overload,operator]


def test_a_wish_that_leaves_it_open_is_asked_about(config: TalkConfig, tmp_path: Path) -> None:
    events = talked(config, ["mug か coat を取って", "coat"], tmp_path)
    assert len(questions(events)) == 1
    assert done(events)[-1] == "take coat from bench"


def test_it_goes_on_where_it_was_left(config: TalkConfig, tmp_path: Path) -> None:
    before = talked(config, ["take the mug from the bench"], tmp_path)
    after = talked(config, ["go east", "put the mug on the shelf"], tmp_path, past=before)
    assert done(after) == ["go east", "put mug on shelf"]
    assert last(after)["done"]["deed"]


def test_a_game_that_is_not_there_is_named(naisei: Naisei, tmp_path: Path) -> None:
    told = naisei("talk", "--world", tmp_path / "none.z8", "--run-dir", tmp_path / "run")
    assert told.code == 2 and "none.z8" in told.err
    assert not (tmp_path / "run").exists()
