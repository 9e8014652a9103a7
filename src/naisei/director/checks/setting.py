"""`setting`: facts that a line must not contradict. Source: the specification, §3."""

from __future__ import annotations

import re

from naisei.core import Check, Status
from naisei.director.checks.found import EVIDENCE, PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Fact
from naisei.japanese.assertion_scope import excuse

__all__ = ["SettingCheck"]

_PASSED = PASSED["setting"]

#: So many matches of a line are weighed; one without an excuse is enough.
_WEIGHED = 32


class SettingCheck:
    """RETRY where an expression contradicts a fact and nothing excuses it."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self._facts = [
            (
                fact,
                re.compile("|".join(map(re.escape, fact.only_with))) if fact.only_with else None,
                re.compile("|".join(f"(?:{pattern})" for pattern in fact.contradicted_by)),
            )
            for fact in facts
        ]
        every = [text for fact in facts for text in fact.only_with]
        #: Finds nothing in a line that needs no look: most lines.
        self.sign = re.compile("|".join(map(re.escape, every)) or r"(?!)").search
        if not all(fact.only_with for fact in facts):
            self.sign = re.compile("").search

    def __call__(self, line: Line) -> Check:
        for fact, hints, pattern in self._facts:
            if hints and hints.search(line.body) is None:
                continue
            if spans := self._contradictions(line, fact, pattern):
                ja, en = fact.fact, fact.fact_en or fact.fact
                return found(
                    line,
                    "setting",
                    Status.RETRY,
                    (f"設定に反しています: {ja}。", f"This contradicts the setting: {en}."),
                    (
                        f"「{ja}」という前提で言い直してください。",
                        f"Say it again on the premise that {en}.",
                    ),
                    spans,
                )
        return _PASSED

    def _contradictions(self, line: Line, fact: Fact, pattern: re.Pattern[str]) -> list[str]:
        spans: list[str] = []
        for n, match in enumerate(pattern.finditer(line.body)):
            if n < _WEIGHED and excuse(line.body, *match.span(), fact.unless, fact.others):
                continue
            spans.append(line.evidence(*match.span()))
            if len(spans) == EVIDENCE:
                break
        return spans
