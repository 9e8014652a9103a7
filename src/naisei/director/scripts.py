"""Lines to check, with their speakers mapped to characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from naisei.core import InputError
from naisei.director.character import Character, load_character, shipped
from naisei.lang import say
from naisei.lengths import LINE, bounded
from naisei.transcripts import Transcript, Turn


class Speakers:
    """The shipped characters, and additional ones.

    Args:
        given: ids, names or paths of profiles. The first speaks unnamed lines; a profile replaces
            the shipped character with the same id or name.
        skip_others: skip lines of unknown speakers instead of raising an error.

    Raises:
        InputError: a character cannot be loaded.
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

    def find(self, name: str, place: str) -> Character | None:
        """The character of this name; `None` if the speaker is skipped.

        Raises:
            InputError: the speaker is unknown or missing.
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


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One line to check. number: its first row in the file, from 1.

    speaker: as written, empty if the file names none. character: `None` for a skipped speaker.
    history: from the file, `None` if absent. talk: number of its conversation in the file, from 0;
    `None` for independent rows of a table or of JSON.
    """

    number: int
    speaker: str
    character: Character | None
    text: str
    history: tuple[str, ...] | None = None
    talk: int | None = None

    @property
    def who(self) -> Character:
        """The speaker of a line that is not skipped."""
        assert self.character is not None
        return self.character


#: Formats whose rows need not be consecutive.
_ALONE = ("table", "json")


def lines_of(found: Sequence[Transcript], place: str, speakers: Speakers) -> list[ScriptLine]:
    """The lines of a file's conversations.

    Raises:
        InputError: a row is unusable; names the row and a remedy.
    """
    return [
        _line(turn, None if one.form in _ALONE and len(found) == 1 else talk, place, speakers)
        for talk, one in enumerate(found)
        for turn in one.turns
    ]


def _line(turn: Turn, talk: int | None, place: str, speakers: Speakers) -> ScriptLine:
    where = f"{place}:{turn.number}"
    for text in (turn.text, *(turn.history or ())):
        bounded(text, LINE, place=where)
    character = speakers.find(turn.speaker, where)
    return ScriptLine(turn.number, turn.speaker, character, turn.text, turn.history, talk)
