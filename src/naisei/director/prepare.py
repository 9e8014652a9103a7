"""A line prepared for the checks: folded, freed of script format, masked, cut in sentences.

Each form is computed once. With it the `Check` that a rule returns: one shared PASS, or a status
with evidence, reason and suggestion. Source: the retry-judgement specification, §§2, 6.1, 8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from naisei.core import Check, Status
from naisei.director.verdict import CHECK_NAMES
from naisei.japanese.folding import Origin, fold, mask, wrapped
from naisei.japanese.sentences import count_sentences, utterance_sentences
from naisei.lang import language

_PASS = Status.PASS
#: So many wrappers inside each other are taken off.
_DEPTH = 2


class PreparedLine:
    """One line as the checks see it. All forms have the same length and positions.

    given: as it came. body: folded, blank rows at both ends cut off, and the signs of script
    format (a wrapper 「…」 round the whole line or round every row, a speaker's label)
    replaced by spaces. masked: the body with quotations and parentheses filled. count: how
    many sentences it has. label: whether a speaker's name stands before the words; wrapped:
    how many rows were wrapped. worst: the worst status that a check has found so far.
    """

    __slots__ = (
        "_cut",
        "_folded",
        "_origin",
        "_sentences",
        "_spoken",
        "body",
        "count",
        "given",
        "label",
        "masked",
        "worst",
        "wrapped",
    )

    def __init__(self, given: str, names: tuple[str, ...] = ()) -> None:
        self.given = given
        self._folded = body = fold(given)
        self._cut = 0
        if (trimmed := body.strip()) is not body:
            self._cut = len(body) - len(body.lstrip()) if trimmed else 0
            body = trimmed
        self.label, self.wrapped = False, 0
        if "「" in body or "：" in body or ":" in body:
            body = self._freed(body, names)
        self.body = body
        self.masked = mask(body)
        self.count = count_sentences(self.masked)
        self.worst = _PASS
        self._spoken: int | None = None
        self._origin: Origin | None = None
        self._sentences: list[tuple[int, int]] | None = None

    @property
    def spoken(self) -> int:
        """0 for Japanese, 1 for English; asked for once a line, as it is in the environment."""
        if self._spoken is None:
            self._spoken = 0 if language() == "ja" else 1
        return self._spoken

    @property
    def untouched(self) -> bool:
        """Whether the body is the given text, character for character."""
        return self._folded is self.given and self.body is self.given

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """Spans of the sentences."""
        if self._sentences is None:
            self._sentences = utterance_sentences(self.masked)
        return self._sentences

    def evidence(self, start: int, end: int) -> str:
        """The given text behind a span of the body."""
        start, end = start + self._cut, end + self._cut
        if self._folded is self.given:
            return self.given[start:end]
        if self._origin is None:
            self._origin = Origin(self.given)
        return self._origin.span(start, end)

    def _freed(self, body: str, names: tuple[str, ...]) -> str:
        rows = body.split("\n")
        label = _label(names)
        whole = _spaced(body, label)
        if whole is not None:
            self.label = body.lstrip()[:1] != "「"
            self.wrapped = 1
            return whole
        freed = [_spaced(row, label) if row.strip() else row for row in rows]
        if len(rows) > 1 and all(row is not None for row in freed):
            self.label = any(not row.lstrip().startswith("「") for row in rows if row.strip())
            self.wrapped = sum(1 for row in rows if "「" in row)
            return "\n".join(row or "" for row in freed)
        return body


@lru_cache(maxsize=64)
def _label(names: tuple[str, ...]) -> re.Pattern[str]:
    """A speaker's name with a colon, or straight before 「."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(rf"\s*[【\[]?(?:{known})[】\]]?\s*(?:[：:]|(?=「))\s*")


def _spaced(text: str, label: re.Pattern[str]) -> str | None:
    """The text with label and wrappers as spaces; `None` if it has neither."""
    found = label.match(text)
    start = found.end() if found else 0
    inner, end = text[start:], len(text)
    taken = start > 0
    for _ in range(_DEPTH):
        bare = inner.strip()
        if not wrapped(bare):
            break
        start += len(inner) - len(inner.lstrip()) + 1
        end -= len(inner) - len(inner.rstrip()) + 1
        inner, taken = text[start:end], True
    return " " * start + inner + " " * (len(text) - end) if taken else None


#: One object for each check that found nothing.
PASSED = {name: Check(name=name, status=Status.PASS) for name in CHECK_NAMES}
#: So many matched spans are reported, each cut to so many characters.
EVIDENCE, _LONGEST = 8, 120
#: So long is a word at most.
_WORD = 8
_RETRY = Status.RETRY


def found(
    line: PreparedLine,
    name: str,
    status: Status,
    reason: tuple[str, str],
    suggestion: tuple[str, str],
    evidence: Sequence[str],
) -> Check:
    """A check that found something; the same span is reported once, at most `EVIDENCE` spans.

    reason, suggestion: in Japanese and in English; the user's language is taken.
    """
    if line.worst is not _RETRY:
        line.worst = status
    spoken = line.spoken
    if len(evidence) == 1 and evidence[0]:
        spans: tuple[str, ...] = (evidence[0][:_LONGEST],)
        if len(spans[0]) <= _WORD:
            return _kept(name, status is _RETRY, reason[spoken], suggestion[spoken], spans)
    else:
        spans = tuple(dict.fromkeys([span[:_LONGEST] for span in evidence if span]))[:EVIDENCE]
    return _made(name, status is _RETRY, reason[spoken], suggestion[spoken], spans)


def _made(
    name: str, rejected: bool, reason: str, suggestion: str, evidence: tuple[str, ...]
) -> Check:
    return Check(
        name=name,
        status=_RETRY if rejected else Status.WARN,
        reason=reason,
        suggestion=suggestion,
        evidence=evidence,
    )


#: A single word is found again and again in a script; a sentence is not.
_kept = lru_cache(maxsize=4096)(_made)
