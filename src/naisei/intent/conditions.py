"""Detects which kind of person an answer depends on: 市内・市外, 常勤・非常勤, 学部・大学院,
会員・一般.

It asks once, and only if the passages differ between kinds and the person's kind is unknown from
the question, answers, profile and memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from naisei.intent.alignment import CLAUSE, denies
from naisei.intent.dialogue import Dialogue
from naisei.intent.evidence import SearchResult
from naisei.intent.extraction import quotes
from naisei.intent.person_kinds import PersonKind, person_kinds
from naisei.intent.things import place_of
from naisei.japanese.content_preservation import quantities
from naisei.japanese.morph import normalise
from naisei.japanese.sentences import sentence_spans
from naisei.retrieval.chunking import Span, cells_of, spans

#: Questions about all kinds: who may, what the difference is.
_OF_ALL = re.compile(
    "違い|違う|それぞれ|一覧|誰|だれ|どなた|対象|比較|全員|みんな|種類|区分|一般に|"
    r"\b(?:who|whom|whose|difference|each|everyone|compare|eligible)\b",
    re.I,
)
_ALIKE = re.compile(
    "差(?:は|が)?(?:ない|なく|ありません|なし)|問わず|関わらず|かかわらず|同じ|共通|いずれも|どちらも|"
    r"\b(?:regardless|alike|both|the same)\b",
    re.I,
)
#: More kinds than these are a list, not a choice.
_MOST = 6


class Condition(BaseModel):
    """kinds: (field, kind) of those that the passages tell apart; options: the same as the
    passages write them, in the same order."""

    model_config = ConfigDict(frozen=True)

    kinds: tuple[tuple[str, int], ...]
    options: tuple[str, ...]

    @property
    def fields(self) -> set[str]:
        """The fields concerned; several if 学部生 is listed with 教員."""
        return {field for field, _ in self.kinds}

    def of(self, told: Iterable[str]) -> tuple[str, str] | None:
        """The newest statement that decides the kind, and its option."""
        for text in told:
            for named in person_kinds(text):
                if (at := (named.field, named.kind)) in self.kinds:
                    return text, self.options[self.kinds.index(at)]
        return None


def condition(query: str, found: SearchResult, said: Sequence[str]) -> Condition | None:
    """The condition of the answer; `None` without one, or if `said` names a kind of that field."""
    if _OF_ALL.search(query) or not found.hits:
        return None
    settled = {named.field for text in (query, *said) for named in person_kinds(text)}
    best = quotes(query, found, most=1)[0]
    hit = found.hits[best.hit]
    units = spans(hit.text)
    quoted = [unit for unit in units if unit.written in best.text]
    branches = [
        *_columns(quoted),
        *_rows(units, quoted),
        *_clauses(quoted),
        *_heading_conditions(found),
    ]
    for branch in branches:
        if not branch.fields & settled:
            return branch
    return None


def kind_chosen(dialogue: Dialogue) -> bool:
    """Whether the last question back asked for a kind of person."""
    options = dialogue.exchanges[-1].options if dialogue.exchanges else ()
    return bool(options) and all(
        any(named.written == normalise(option) for named in person_kinds(option))
        for option in options
    )


def _of(branches: Sequence[tuple[PersonKind, str]]) -> list[Condition]:
    """A condition if two or more kinds differ. branches: (kind, its rule)."""
    held: dict[tuple[str, int], tuple[str, set[str]]] = {}
    for named, what in branches:
        kind = held.setdefault((named.field, named.kind), (named.written, set()))
        kind[1].add("".join(what.split()))
    differ = {frozenset(whats) for _, whats in held.values()}
    if not 2 <= len(held) <= _MOST or len(differ) < 2:
        return []
    return [Condition(kinds=tuple(held), options=tuple(word for word, _ in held.values()))]


def _columns(quoted: Sequence[Span]) -> list[Condition]:
    """Conditions from columns named after kinds, in the answering row."""
    row = next((unit for unit in quoted if unit.header), None)
    if row is None:
        return []
    names, cells = cells_of(row.header), cells_of(row.written)
    if len(names) != len(cells):
        return []
    pairs = zip(names[1:], cells[1:], strict=True)
    return _of([(kinds[0], cell) for name, cell in pairs if (kinds := person_kinds(name))])


def _rows(units: Sequence[Span], quoted: Sequence[Span]) -> list[Condition]:
    """Conditions from rows whose first cells differ only in the kind they name."""
    named: dict[tuple[str, str], list[tuple[PersonKind, str, Span]]] = {}
    for unit in units:
        if not unit.header:
            continue
        cells = cells_of(unit.written)
        keys = cells[: 1 if person_kinds(cells[0]) else 2]
        for kind in person_kinds(" ".join(keys))[:1]:
            rest = "".join(" ".join(keys).replace(kind.written, "").split())
            values = " ".join(cells[len(keys) :])
            named.setdefault((unit.header, rest), []).append((kind, values, unit))
    found = []
    for rows in named.values():
        if any(unit in quoted for _, _, unit in rows):
            found += _of([(kind, values) for kind, values, _ in rows])
    return found


def _clauses(quoted: Sequence[Span]) -> list[Condition]:
    """Conditions from clauses and list items that name one kind each and differ in quantity or in
    yes or no."""
    branches: list[tuple[PersonKind, str]] = []
    for unit in quoted:
        if unit.header:
            continue
        for sentence in sentence_spans(unit.written):
            if _ALIKE.search(sentence):
                continue
            for clause in CLAUSE.split(sentence):
                kinds = person_kinds(clause)
                values = sorted(str(value) for value in quantities(clause))
                if len({kind.kind for kind in kinds}) == 1 and (values or denies(clause)):
                    branches.append((kinds[0], f"{values} {bool(denies(clause))}"))
    fields = dict.fromkeys(named.field for named, _ in branches)
    return [c for f in fields for c in _of([b for b in branches if b[0].field == f])]


def _heading_conditions(found: SearchResult) -> list[Condition]:
    """Conditions from passages whose headings differ only in the kind they name."""
    first = place_of(found.hits[0])
    kinds = person_kinds(first)
    if len({kind.kind for kind in kinds}) != 1:
        return []
    branches = []
    for hit in found.hits:
        named = person_kinds(place_of(hit))
        if (
            not hit.meta.get("superseded_by")
            and named
            and _bare(place_of(hit), named) == _bare(first, kinds)
        ):
            branches.append((named[0], hit.text))
    return _of(branches)


def _bare(place: str, kinds: Sequence[PersonKind]) -> str:
    for kind in kinds:
        place = place.replace(kind.written, "")
    return "".join(place.split())
