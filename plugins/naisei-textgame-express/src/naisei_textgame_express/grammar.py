"""Translates TextWorldExpress's texts into TextWorld's.

Players read TextWorld's texts (`naisei.textgame.texts`); the rules are in `grammar.toml`.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from naisei.textgame.schemas import View


class _Rule(BaseModel):
    """A pattern and its replacement, which may use groups (`\\1`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    theirs: str
    ours: str = ""


class _Command(_Rule):
    """A rule for a whole command. when, unless: patterns that the room's text must or must not
    match."""

    when: str = ""
    unless: str = ""


class Grammar(BaseModel):
    """The rules. instead: for TextWorld commands without an equivalent candidate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    commands: tuple[_Command, ...] = ()
    instead: tuple[_Rule, ...] = ()
    texts: tuple[_Rule, ...] = ()

    def view(self, view: View) -> tuple[View, dict[str, str]]:
        """The view in TextWorld's words, and TextWorld command → engine's command."""
        theirs_by_ours: dict[str, str] = {}
        for command in view.candidates:
            if (ours := self._command(command, view.description)) is not None:
                theirs_by_ours.setdefault(ours, command)
        changes = {
            "description": self._text(view.description),
            "inventory": self._text(view.inventory),
            "feedback": self._text(view.feedback),
            "candidates": tuple(theirs_by_ours),
        }
        return view.model_copy(update=changes), theirs_by_ours

    def command(self, ours: str, theirs_by_ours: dict[str, str]) -> str:
        """The engine's command for a TextWorld command; unchanged if there is none."""
        if ours in theirs_by_ours:
            return theirs_by_ours[ours]
        for rule in self.instead:
            if m := re.fullmatch(rule.ours, ours):
                pattern = re.compile(_filled(rule.theirs, m))
                for theirs in theirs_by_ours.values():
                    if pattern.fullmatch(theirs):
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
    """Insert the escaped groups of a match for `\\1`, … in a pattern."""
    return re.sub(r"\\(\d)", lambda number: re.escape(m[int(number[1])]), pattern)


@cache
def grammar() -> Grammar:
    """The rules of `grammar.toml`."""
    source = files("naisei_textgame_express") / "grammar.toml"
    return Grammar.model_validate(tomllib.loads(source.read_text("utf-8")))
