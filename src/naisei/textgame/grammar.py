"""The words of a games engine as data: what another engine says, in the words that players read.

Players that plan read TextWorld's words (`naisei.textgame.texts`). A grammar is a table of how
another engine puts the same; with one, a player plays that engine's games as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from naisei.core import Flow
from naisei.textgame.player import Follows, Player
from naisei.textgame.schemas import Decision, View


class _Rule(BaseModel):
    """A pattern and what stands for it, with its groups (`\\1`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    theirs: str
    ours: str = ""


class _Command(_Rule):
    """Of a whole command. when, unless: what the room's text must have, or must not."""

    when: str = ""
    unless: str = ""


class Grammar(BaseModel):
    """The wording of one engine. sign: a candidate by which it is known. instead: for a command of
    ours that is no candidate of theirs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sign: str
    commands: tuple[_Command, ...] = ()
    instead: tuple[_Rule, ...] = ()
    texts: tuple[_Rule, ...] = ()

    def view(self, seen: View) -> tuple[View, dict[str, str]]:
        """The view in our words, and command of ours → command of theirs."""
        given: dict[str, str] = {}
        for command in seen.candidates:
            if (ours := self._command(command, seen.description)) is not None:
                given.setdefault(ours, command)
        told = {
            "description": self._text(seen.description),
            "inventory": self._text(seen.inventory),
            "feedback": self._text(seen.feedback),
            "candidates": tuple(given),
        }
        return seen.model_copy(update=told), given

    def command(self, ours: str, given: dict[str, str]) -> str:
        """Theirs for a command of ours; as it is, where there is nothing like it."""
        if ours in given:
            return given[ours]
        for rule in self.instead:
            if m := re.fullmatch(rule.ours, ours):
                wanted = re.compile(_filled(rule.theirs, m))
                for theirs in given.values():
                    if wanted.fullmatch(theirs):
                        return theirs
        return ours

    def _command(self, theirs: str, room: str) -> str | None:
        for rule in self.commands:
            if m := re.fullmatch(rule.theirs, theirs):
                there = [
                    bool(re.search(_filled(pattern, m), room, re.I)) if pattern else wanted
                    for pattern, wanted in ((rule.when, True), (rule.unless, False))
                ]
                if there == [True, False]:
                    return m.expand(rule.ours) if rule.ours else None
        return theirs

    def _text(self, text: str) -> str:
        for rule in self.texts:
            text = re.sub(rule.theirs, rule.ours, text, flags=re.M)
        return text


def _filled(pattern: str, m: re.Match[str]) -> str:
    """A pattern with the groups of a match in the places of `\\1`, …; they stand for themselves."""
    return re.sub(r"\\(\d)", lambda number: re.escape(m[int(number[1])]), pattern)


@cache
def grammars() -> tuple[Grammar, ...]:
    """The engines that are known beside TextWorld."""
    folder = files("naisei") / "textgame" / "grammars"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(Grammar.model_validate(tomllib.loads(f.read_text("utf-8"))) for f in found)


class Reads:
    """A player of TextWorld's words at any engine whose grammar is known."""

    def __init__(self, make: Callable[[], Player]) -> None:
        self._player = make()
        self._given: dict[str, str] = {}

    def decide(self, view: View) -> Flow[Decision]:
        """As the player would, in the engine's words."""
        grammar = next((g for g in grammars() if g.sign in view.candidates), None)
        if grammar is None:
            return (yield from self._player.decide(view))
        told, self._given = grammar.view(view)
        found = yield from self._player.decide(told)
        if not found.action:
            return found
        return found.model_copy(update={"action": grammar.command(found.action, self._given)})

    def did(self, action: str) -> bool:
        """Another command was given than the one decided for; whether it can go on from there."""
        ours = next((ours for ours, theirs in self._given.items() if theirs == action), action)
        return isinstance(self._player, Follows) and self._player.did(ours)
