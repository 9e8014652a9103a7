"""Search for words and endings that count only where they stand as what is meant."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from naisei.japanese.boundaries import stands_alone

__all__ = ["CueSearch", "CueSpec"]

#: What may follow a clause-final ending: marks, the end, particles that quote or go on.
_CLAUSE_END = (
    r"(?=$|[\s。！？、…〜ー♪☆★♡♥」）「（!?,.]|[ぁぇえあー]+(?:$|[\s。！？、…〜♪]|って|と)"
    r"|って|っと|と(?:[思考言いか感]|。|、|$)|けど|けれど|しれ|知れ|しん|だ(?:[よねけし]|な[ぁあー。、！]|って|から)"
    r"|です|でしょ|[ねよ](?:$|[ねぇえー。！？、…〜♪\s])|な(?:$|[ぁあー。！？、…])|し[、。ー]|w|笑)"
)
#: No clause begins right after one of these.
_WITHIN = r"[^\s。！？、…〜ー♪☆「」（）!?,.]"
#: Words are looked up for so many doubtful places a line at most; more count as they stand.
DOUBTS = 32


@dataclass(frozen=True, slots=True)
class CueSpec:
    """See `naisei.director.profile.Cue`, of which this is the part about text."""

    text: str
    at: str = "any"
    not_after: tuple[str, ...] = ()
    not_before: tuple[str, ...] = ()
    doubtful_after: tuple[str, ...] = ()


class CueSearch:
    """All cues of one list as one expression. Linear in the length of the text."""

    def __init__(self, cues: Iterable[CueSpec]) -> None:
        listed = sorted(cues, key=lambda cue: -len(cue.text))
        #: What makes a cue doubtful, by the number of the empty group that ends it.
        self._doubts = ((), *(tuple(cue.doubtful_after) for cue in listed if cue.doubtful_after))
        self._pattern = re.compile("|".join(map(_expression, listed)) or r"(?!)")
        #: Finds nothing in a text without any; doubtful ones count as found.
        self.sign = self._pattern.search

    def all(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of the cues, in order."""
        return (found.span() for found in self._certain(text))

    def _certain(self, text: str) -> Iterator[re.Match[str]]:
        left = DOUBTS
        for found in self._pattern.finditer(text):
            start, end = found.span()
            before = self._doubts[found.lastindex or 0]
            if before and left and text.endswith(before, 0, start):
                left -= 1
                if not stands_alone(text, start, end):
                    continue
            yield found

    def first(self, text: str) -> re.Match[str] | None:
        """The first one, or `None`."""
        found = self._pattern.search(text)
        if found is None or found.lastindex is None:
            return found
        return next(self._certain(text), None)


def _expression(cue: CueSpec) -> str:
    """The cue first, its conditions after it.

    An expression whose alternatives all begin with a character is searched by those
    characters, several times as fast as one that begins with conditions. A class of
    characters is looked up at once, alternatives one after the other.
    """
    text = re.escape(cue.text)
    parts = [text]
    if cue.at == "clause-start":
        parts.append(f"(?<!{_WITHIN}{text})")
    by_length: dict[int, list[str]] = defaultdict(list)
    for before in cue.not_after:
        by_length[len(before)].append(re.escape(before))
    for length, texts in by_length.items():
        none = f"[{''.join(texts)}]" if length == 1 else f"(?:{'|'.join(texts)})"
        parts.append(f"(?<!{none}{text})")
    if cue.not_before:
        parts.append(f"(?!{'|'.join(map(re.escape, cue.not_before))})")
    if cue.at == "clause-end":
        parts.append(_CLAUSE_END)
    if cue.doubtful_after:
        parts.append("()")
    return "".join(parts)
