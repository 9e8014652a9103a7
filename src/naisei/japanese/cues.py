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
_CLAUSE_START = r"(?<![^\s。！？、…〜ー♪☆「」（）!?,.])"
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
        self._doubts = [tuple(cue.doubtful_after) for cue in listed]
        self._pattern = re.compile("|".join(f"({_expression(cue)})" for cue in listed) or r"(?!)")
        # A search for a few bare words is several times as fast as one with conditions.
        self._bare = re.compile("|".join(re.escape(cue.text) for cue in listed) or r"(?!)")

    def all(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of the cues, in order."""
        first = self._bare.search(text)
        if first is None:
            return
        left = DOUBTS
        for found in self._pattern.finditer(text, first.start()):
            start, end = found.span()
            before = self._doubts[found.lastindex - 1] if found.lastindex else ()
            if before and left and text.endswith(before, 0, start):
                left -= 1
                if not stands_alone(text, start, end):
                    continue
            yield start, end

    def first(self, text: str) -> tuple[int, int] | None:
        """The first span, or `None`."""
        bare = self._bare.search(text)
        if bare is None:
            return None
        found = self._pattern.search(text, bare.start())
        if found is None:
            return None
        if not self._doubts[(found.lastindex or 1) - 1]:
            return found.span()
        return next(self.all(text), None)


def _expression(cue: CueSpec) -> str:
    parts = [_CLAUSE_START] if cue.at == "clause-start" else []
    by_length: dict[int, list[str]] = defaultdict(list)
    for text in cue.not_after:
        by_length[len(text)].append(re.escape(text))
    # A class of characters is looked up at once, alternatives one after the other. What
    # must not stand before is looked at last, where the cue itself already stands.
    parts.append(re.escape(cue.text))
    for length, texts in by_length.items():
        before = f"[{''.join(texts)}]" if length == 1 else f"(?:{'|'.join(texts)})"
        parts.append(f"(?<!{before}{re.escape(cue.text)})")
    if cue.not_before:
        parts.append(f"(?!{'|'.join(map(re.escape, cue.not_before))})")
    if cue.at == "clause-end":
        parts.append(_CLAUSE_END)
    return "".join(parts)
