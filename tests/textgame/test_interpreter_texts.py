"""Description and inventory are what the game tells unasked, or what it answers when asked."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from naisei.textgame.engine import child


class Engine:
    """As textworld's: the inner part asks for both texts, if it is told to."""

    def __init__(self, infos: SimpleNamespace, *, tells: bool) -> None:
        self.request_infos, self.tells, self.asked = infos, tells, 0

    @property
    def unwrapped(self) -> Engine:
        return self

    def _gather_infos(self) -> None:
        self.state = SimpleNamespace(description="", inventory="")
        for text in ("description", "inventory"):
            if getattr(self.request_infos, text):
                self.asked += 1
                setattr(self.state, text, f"asked for {text}")

    def reset(self) -> SimpleNamespace:
        self._gather_infos()
        if self.tells:
            self.state.description, self.state.inventory = "told", "told"
        return self.state


def opened(monkeypatch: pytest.MonkeyPatch, *, tells: bool) -> tuple[Engine, Any]:
    textworld: Any = ModuleType("textworld")
    textworld.EnvInfos = lambda **wanted: SimpleNamespace(**wanted)
    textworld.start = lambda path, infos: Engine(infos, tells=tells)
    monkeypatch.setitem(sys.modules, "textworld", textworld)
    game, state = child._open("any.z8")
    return game, state


def test_what_a_game_tells_unasked_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    game, state = opened(monkeypatch, tells=True)
    assert (state.description, state.inventory, game.asked) == ("told", "told", 0)
    assert game.request_infos.description
    assert game.request_infos.inventory


def test_a_game_that_tells_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    game, state = opened(monkeypatch, tells=False)
    assert (state.description, state.inventory) == ("asked for description", "asked for inventory")
    assert game.asked == 2
