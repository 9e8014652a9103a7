"""A line prepared for the checks: its spoken part, folded, masked, split into sentences.

Each form is computed once. Also builds the `Check` that a rule returns: one shared PASS, or a
status with evidence, reason and suggestion. Source: the retry-judgement specification, §§2, 6.1, 8.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from naisei.core import Check, Status
from naisei.director.spoken import speech
from naisei.director.verdict import CHECK_NAMES
from naisei.japanese.folding import Origin, fold, mask, mend_marks
from naisei.japanese.sentences import count_sentences, utterance_sentences
from naisei.lang import Language, language

_PASS, _RETRY = Status.PASS, Status.RETRY


class PreparedLine:
    """One line as the checks see it: body, masked and spans have the same positions.

    given: the original line. text: the line after the fixes in `mends`. body: its spoken part,
    folded. masked: the body with quotations and parentheses masked. count: the number of sentences.
    """

    __slots__ = (
        "_language",
        "_origin",
        "_sentences",
        "_speech",
        "body",
        "count",
        "given",
        "masked",
        "mends",
        "text",
    )

    def __init__(self, given: str, own: tuple[str, ...] = ()) -> None:
        self.given = given
        mends, self._speech = speech(given, own)
        self.text = mend_marks(self._speech)
        self.mends = mends if self.text == self._speech else (*mends, "marks")
        self.body = body = fold(self._speech)
        self.masked = mask(body)
        self.count = count_sentences(self.masked)
        self._language: int | None = None
        self._origin: Origin | None = None
        self._sentences: list[tuple[int, int]] | None = None

    @property
    def language(self) -> int:
        """The user's language, read once per line: 0 for Japanese, 1 for English."""
        if self._language is None:
            self._language = 0 if language() == "ja" else 1
        return self._language

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """Spans of the sentences."""
        if self._sentences is None:
            self._sentences = utterance_sentences(self.masked)
        return self._sentences

    def evidence(self, start: int, end: int) -> str:
        """The original words for a span of the body."""
        if self.body is self._speech:
            return self._speech[start:end]
        if self._origin is None:
            self._origin = Origin(self._speech)
        return self._origin.span(start, end)

    def head(self, size: int) -> PreparedLine:
        """The first `size` characters of the spoken part."""
        if len(self._speech) <= size:
            return self
        head = PreparedLine(self._speech[:size])
        head.given = self.given
        return head

    def speech_parts(self, span: str) -> list[str]:
        """The span's words in the original line, split where something was removed; unchanged if
        the original lacks them (escaped JSON)."""
        if self._speech is self.given or span in self.given or span not in self._speech:
            return [span]
        found, at = [], 0
        while at < len(span):
            ends = range(at + 1, len(span) + 1)
            # If a prefix matches, its prefixes match too.
            size = bisect_left(ends, True, key=lambda end: span[at:end] not in self.given)
            found.append(span[at : at + size].strip())
            at += size or 1
        return [piece for piece in found if piece] or [span]


def quoted(spans: Iterable[str], spoken: Language) -> str:
    """Spans in the quotation marks of a language, joined."""
    if spoken == "ja":
        return "".join(f"「{span}」" for span in spans)
    return ", ".join(f'"{span}"' for span in spans)


def outcome(checks: Sequence[Check], mends: Sequence[str]) -> Status:
    """The worst status of the checks; MODIFY if all pass and something was fixed."""
    statuses = {check.status for check in checks}
    if _RETRY in statuses:
        return _RETRY
    if Status.WARN in statuses:
        return Status.WARN
    return Status.MODIFY if mends else _PASS


#: One shared PASS object per check.
PASSED = {name: Check(name=name, status=_PASS) for name in CHECK_NAMES}
#: Maximum number of reported spans, and characters per span.
EVIDENCE, _LONGEST = 8, 120


def finding(
    line: PreparedLine,
    name: str,
    status: Status,
    reason: tuple[str, str],
    suggestion: tuple[str, str],
    evidence: Sequence[str],
) -> Check:
    """A failed check; each span is reported once, at most `EVIDENCE` spans.

    reason, suggestion: in Japanese and English; the user's language is used.
    """
    at = line.language
    pieces = [piece for span in evidence if span for piece in line.speech_parts(span[:_LONGEST])]
    spans = tuple(dict.fromkeys(pieces))[:EVIDENCE]
    return Check(
        name=name,
        status=status,
        reason=reason[at],
        suggestion=suggestion[at],
        evidence=spans,
    )
