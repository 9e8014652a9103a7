"""Who speaks in a script: names to characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from naisei.core import InputError
from naisei.director.character import load_character, shipped
from naisei.director.profile import Character
from naisei.lang import say

__all__ = ["Speakers"]


class Speakers:
    """The shipped characters, and those given on top.

    Args:
        given: ids, names or paths of profiles. The first speaks the lines that name nobody; one
            of the id or name of a shipped character takes its place.
        skip_others: a speaker that is not known is nobody to be checked, instead of an error.

    Raises:
        InputError: a character that cannot be loaded.
    """

    def __init__(self, given: Sequence[str | Path] = (), *, skip_others: bool = False) -> None:
        mine = [load_character(name) for name in given]
        self._unnamed = mine[0] if mine else None
        self._skip_others = skip_others
        self._known = {
            name: character
            for character in (*shipped(), *mine)
            for name in (character.id, *character.names)
        }
        names = sorted(self._known, key=len, reverse=True)
        self._quote = re.compile(rf"\s*({'|'.join(map(re.escape, names))})(?=[「『])")

    def knows(self, name: str) -> bool:
        return name in self._known

    def find(self, name: str, place: str) -> Character | None:
        """The character of this name; `None` for one who is passed over.

        Raises:
            InputError: an unknown speaker, or none where none is given.
        """
        if not name:
            if self._unnamed is not None:
                return self._unnamed
            raise InputError(
                say("話者がわかりません", "no speaker is named"),
                place=place,
                remedy=say(
                    "行を名前で始める (やな: …) か、話者を渡すか、--character で指定してください",
                    "begin the line with a name (やな: …), give a speaker, or say who speaks "
                    "by --character",
                ),
            )
        if (found := self._known.get(name) or self._known.get(name.strip().lower())) is not None:
            return found
        if self._skip_others:
            return None
        known = ", ".join(dict.fromkeys(c.id for c in self._known.values()))
        raise InputError(
            say(f"{name!r} という話者はいません", f"unknown speaker {name!r}"),
            place=place,
            remedy=say(
                f"使えるもの: {known} とその名前。--character FILE でプロファイルを足せます。"
                "--skip-others でほかの話者を飛ばせます",
                f"known: {known} and their names; --character FILE adds a profile, "
                "--skip-others passes over everybody else",
            ),
        )

    def before_quote(self, row: str) -> tuple[str, int]:
        """A known name straight before 「, and where the quotation begins; else `("", 0)`."""
        found = self._quote.match(row)
        return (found[1], found.end()) if found is not None else ("", 0)
