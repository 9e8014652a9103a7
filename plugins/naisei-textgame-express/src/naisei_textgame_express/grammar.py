"""The words of TextWorldExpress as data: what it says, in the words that players read.

Players read TextWorld's words (`naisei.textgame.texts`); `grammar.toml` is a table of how this
engine puts the same.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from naisei.textgame.schemas import View


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
    """instead: for a command of ours that is no candidate of theirs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
def grammar() -> Grammar:
    """The engine's words in TextWorld's."""
    source = files("naisei_textgame_express") / "grammar.toml"
    return Grammar.model_validate(tomllib.loads(source.read_text("utf-8")))
