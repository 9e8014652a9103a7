"""Full-text search over the episodes of all runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.listing import RunEntry
from naisei.runs.log import RunLog

#: Effects that are in memory at once, and characters around a find.
_AT_ONCE, _AROUND = 500, 60
#: Numbers are not searched.
_EFFECTS = (
    "SELECT seq, episode, path, kind, request, result FROM events"
    " WHERE seq > ? AND kind != 'embed' ORDER BY seq LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """An effect that holds the text. run: its folder. kind: of the effect. excerpt: the match in
    context, on one line."""

    run: Path
    episode: str
    step: str
    kind: str
    excerpt: str

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "run": str(self.run)}


@dataclass(slots=True)
class Search:
    """Iterate it for the hits, run by run. prompts: search prompts, too, not only lines, answers,
    actions and memories. Case and character width are ignored.

    runs, effects: how many were searched so far. unread: runs that could not be, and why.
    """

    text: str
    places: Sequence[RunEntry]
    prompts: bool = False
    runs: int = 0
    effects: int = 0
    unread: dict[Path, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Hit]:
        wanted = _folded(self.text)
        for place in self.places:
            try:
                if place.broken:
                    raise InputError(place.broken)
                with RunDirectory.look(place.path, check=False) as directory:
                    for episode, step, kind, text in self._texts(directory.log):
                        if wanted in (folded := _folded(text)):
                            around = _around(folded, folded.index(wanted), len(wanted))
                            yield Hit(place.path, episode, step, kind, around)
            except InputError as error:
                self.unread[place.path] = error.message
            else:
                self.runs += 1

    def _texts(self, log: RunLog) -> Iterator[tuple[str, str, str, str]]:
        last = -1
        while rows := log.select(_EFFECTS, (last, _AT_ONCE)):
            last = rows[-1][0]
            for _, episode, step, kind, request, result in rows:
                self.effects += 1
                told = [result] if kind == "chat" and not self.prompts else [request, result]
                texts = (t for part in told if part for t in _strings(log.unpacked(part)))
                yield episode, step, kind, "\n".join(texts)

    def describe(self) -> str:
        """The scope of the search, in a sentence."""
        unread = "".join(f"; {path}: {why}" for path, why in self.unread.items())
        where = (
            say("プロンプトを含む", "prompts included")
            if self.prompts
            else say("プロンプトを除く", "without prompts")
        )
        return say(
            f"実行 {self.runs} 個、やりとり {self.effects:,} 件を調べました ({where})",
            f"searched {self.runs} runs, {self.effects:,} effects ({where})",
        ) + (say("。読めない実行", "; not read") + unread if unread else "")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _around(text: str, at: int, length: int) -> str:
    start, end = max(0, at - _AROUND), at + length + _AROUND
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if type(value) is list else ():
        yield from _strings(each)
