"""Quotes from the hits: just the row, list item, article or sentences that answer.

Sentences and rows are ranked by their own cosine with the question, by how many of its words they
hold, and by whether they hold what its form asks for (an amount for いくら). A row goes with the
header of its table, a list item with the line above its list, a sentence with its exceptions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set

from pydantic import BaseModel, ConfigDict

from naisei.core import Evidence
from naisei.intent.alignment import in_range, ranges
from naisei.intent.effects import Weights
from naisei.intent.evidence import SearchResult, cosines, nearness, share, substance
from naisei.intent.person_kinds import person_kinds
from naisei.intent.polarity import denies
from naisei.intent.things import headings_of, mentions, names, place_of, things
from naisei.japanese.content_preservation import Quantity, quantities
from naisei.japanese.query_analysis import answered_by, measured
from naisei.japanese.sentences import codes, search_tokens
from naisei.retrieval.chunking import Span, cells_of, spans

_ITEM = re.compile(
    r"^\s*(?:[-*+・●○◆■•※]|[0-9０-９]{1,2}[.．)）]\s|[(（][0-9０-９]{1,2}[)）]|[①-⑳])"
)
#: A sentence that restricts or continues the one before.
_NARROWS = re.compile(
    r"^\s*(?:[-*・※]\s*)?(?:※|ただし|但し|なお|また、?これ|この場合|その場合|ない場合|上記|except|however)",
    re.I,
)
_POINTS = re.compile(r"^\s*(?:この|その|これ|それ|同|ここ|そこ|当該|また|さらに|次に)")
_QUESTION = re.compile(r"(?:か[。？?]?|[？?])\s*$")
#: Questions that a whole list answers.
_SEVERAL = re.compile(
    "手順|流れ|手続き?[はをがの]|やり方|方法|どうやって|どうすれば|どうしたら|何が(?:必要|要)|必要(?:な(?:もの|物|書類)|書類)|"
    "持ち物|何を(?:持|すれば|したら|用意)|書類|種類|どんなもの|一覧|全部|何したら|steps|how do"
)
_WIDE, _LIST = 170, 420
_COSINE, _WORDS, _OWN, _RANK, _FORM, _RANGE = 1.0, 0.6, 0.2, 0.5, 0.3, 0.6
#: That its place or text names what the question does; that it holds for a case only that the
#: question does not put.
_NAMED, _CASE = 0.6, 0.25
#: That its column or heading calls it what is asked for (日数 of 何日).
_HEADS = 0.3
#: That it is the first rule below a heading that names what the question does.
_FIRST = 0.15
#: Another quote is given beside the first if it comes so near to it.
_NEAR, _MOST = 0.85, 2


class Quote(BaseModel):
    """hit: its index. text: the quote: lines of the chunk; for a table, the requested columns.
    answers: whether it has the requested form."""

    model_config = ConfigDict(frozen=True)

    hit: int
    text: str
    score: float
    answers: bool = True


def quotes(
    query: str, found: SearchResult, *, most: int = _MOST, needs: re.Pattern[str] | None = None
) -> list[Quote]:
    """The best passages of the hits, best first; empty where there are no hits. needs: what the
    sentence or row has to hold, where any of a hit's does."""
    words, weights = substance(query), found.weights
    current = [at for at, h in enumerate(found.hits) if not h.meta.get("superseded_by")]
    first = bool(found.hits) and bool(found.hits[0].meta.get("superseded_by"))
    usable = range(len(found.hits)) if first or not current else current
    made = [_quote(query, words, weights, at, found.hits[at], needs) for at in usable]
    # By place: what the person's profile prefers has been moved up.
    scores = sorted((found.hits[at].score for at in usable), reverse=True)
    top = max([*scores, 0.0]) or 1.0
    asked = things(query)
    about = {at: {thing for thing in asked if names(thing, found.hits[at])} for at in usable}
    ranked = sorted(
        (
            quote.model_copy(
                update={
                    "score": quote.score
                    + _RANK * score / top
                    + _NAMED * len(about[quote.hit]) / max(1, len(asked))
                }
            )
            for quote, score in zip(made, scores, strict=True)
        ),
        key=lambda q: -q.score,
    )
    kept: list[Quote] = []
    for quote in ranked:
        near = not kept or (
            quote.score >= _NEAR * kept[0].score and about[quote.hit] >= about[kept[0].hit]
        )
        if near and len(kept) < most and not any(within(quote.text, k.text) for k in kept):
            kept.append(quote)
    return kept


def within(one: str, other: str) -> bool:
    """Whether one of two texts holds the other, white space apart."""
    a, b = ("".join(text.split()) for text in (one, other))
    return a in b or b in a


def _quote(
    query: str,
    words: Sequence[str],
    weights: Weights,
    at: int,
    hit: Evidence,
    needs: re.Pattern[str] | None = None,
) -> Quote:
    units = spans(hit.text)
    if not units:
        return Quote(hit=at, text=hit.text.strip(), score=0.0)
    scores = _scores(query, words, weights, hit, units)
    if needs is not None:
        scores = [s - (needs.search(u.said) is None) for s, u in zip(scores, units, strict=True)]
    best = max(range(len(units)), key=lambda n: (scores[n], -n))
    text = _around(query, words, units, best, scores, hit.text)
    answers = answered_by(query, text) is not False
    return Quote(hit=at, text=text, score=scores[best], answers=answers)


def _scores(
    query: str, words: Sequence[str], weights: Weights, hit: Evidence, units: Sequence[Span]
) -> list[float]:
    near = cosines(hit)
    if len(near) != len(units):  # one sentence alone, or more than are told apart
        own_cosine = hit.meta.get("cosine")
        near = [own_cosine] * len(units) if isinstance(own_cosine, float) else []
    around = set(search_tokens(place_of(hit)))
    asked, asked_values = set(codes(query)), quantities(query)
    lines, denied = hit.text.split("\n"), _DENIED.search(query) is not None
    nouns = measured(query)
    headed = all(mentions(thing, place_of(hit)) for thing in things(query) or words)
    found: list[float] = []
    for n, unit in enumerate(units):
        lead = _lead(lines, unit.line)
        own = set(search_tokens(unit.said))
        value = _WORDS * share(words, weights.idf, own | around | set(search_tokens(lead)))
        value += _OWN * share(words, weights.idf, own)
        if near and weights.meaning:
            one = hit.model_copy(update={"meta": {"spans": [near[n]]}})
            value += _COSINE * nearness([one], weights)
        told = unit.said
        if _INTRODUCES.search(told):
            told = "\n".join([told, *lines[unit.line + 1 : _end(lines, unit.line)]])
        if answered_by(query, told):
            heads = (unit.header or unit.said, headings_of(hit)[-1])
            value += _FORM + _HEADS * sum(any(noun in head for noun in nouns) for head in heads)
        if asked_values:
            value += _RANGE * _ranged(asked_values, unit, lead)
        if (case := _ONLY_WHEN.search(unit.said)) and not set(search_tokens(case[1] or "")) & set(
            words
        ):
            value -= _CASE
        value -= _CASE * (_GOES_ON.search(unit.said) is not None)
        value += _CASE * (denied and denies(unit.said)) + _FIRST * (headed and unit.line == 0)
        named = set(codes(unit.written))
        if asked and named:
            value += 0.5 if asked & named else -0.5
        found.append(value)
    return found


#: The condition at the start of a sentence.
_ONLY_WHEN = re.compile(
    "^(.{2,40}?)(?:場合[はに、]|ときは|ときに|際は|に限り)|^(?:ただし|但し|なお)()"
)


#: 認めない副業: the question asks for a negated fact.
_DENIED = re.compile("ない(?=[一-龥ァ-ヶ])")
#: A rule that rests on the one before it.
_GOES_ON = re.compile("^.{0,16}(?:(?:前[0-9一二三]?|第[0-9一二三]+)[項号]|同項)")


def _ranged(values: Set[Quantity], unit: Span, lead: str) -> float:
    """Of the question's own quantities, the share that a row, item or sentence is said for, by
    itself or by the line that it stands under; less than 0 where it is said for others."""
    parts = cells_of(unit.written)[:3] if unit.header else [unit.written]
    held = [any(in_range(v, part) for part in [*parts, lead]) for v in values]
    if any(held) or unit.header:
        return sum(held) / len(held)
    apart = any(ranges(v, unit.written) for v in values)
    return -1.0 if apart else 0.0


def _lead(lines: Sequence[str], at: int) -> str:
    """The line that a row's table, or an item's list, stands under; empty if there is none."""
    table, deep = lines[at].lstrip().startswith("|"), _depth(lines[at])
    if not table and not _ITEM.match(lines[at]):
        return ""
    for line in reversed(lines[:at]):
        if line.lstrip().startswith("|"):
            continue
        above = table or not _ITEM.match(line) or _depth(line) < deep
        if above or (_INTRODUCES.search(line) and not _FULL.search(lines[at])):
            return line if len(line) <= _WIDE else ""
    return ""


#: A sentence that the items or rows after it fill; an item that is a case without what holds for
#: it; one that is a sentence.
_INTRODUCES = re.compile("次の|次に掲げる|以下の|下記|下の表|各号")
_BARE_CASE = re.compile("(?:場合|とき|時|者)[）)。]?$")
_FULL = re.compile("。[）)]?$")


def _end(lines: Sequence[str], at: int) -> int:
    """The line after what an item says: after the deeper items and rows below it, and where none
    is deeper after those that it introduces, or what holds in its case."""
    end = at + 1
    while end < len(lines) and _below(lines[end], _depth(lines[at])):
        end += 1
    if end > at + 1:
        return end
    if _BARE_CASE.search(lines[at]) and end < len(lines) and not _BARE_CASE.search(lines[end]):
        return end + 1
    while _INTRODUCES.search(lines[at]) and end < len(lines) and not _FULL.search(lines[end]):
        end += 1
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


#: A label with its value, as tables without a header and short lists are read.
_LABELLED = re.compile(r"^[^。：]{1,40}：\S")


def _around(
    query: str,
    words: Sequence[str],
    units: Sequence[Span],
    best: int,
    scores: Sequence[float],
    text: str,
) -> str:
    unit = units[best]
    lines = text.split("\n")
    if unit.header:
        above = _lead(lines, unit.line)
        mates = [
            n
            for n, other in enumerate(units)
            if other.header == unit.header and _lead(lines, other.line) == above
        ]
        # Where the question names no row of its own, those that fit as well are meant too.
        keyed = _named(words, units)
        least = 0.97 if best in keyed else 0.88
        rows = [n for n in mates if scores[n] >= least * scores[best]]
        whole = best not in keyed and sum(len(units[n].written) for n in rows) <= _LIST
        rows = rows if len(rows) <= 5 or whole else [best]
        table = [unit.header, *(units[n].written for n in rows)]
        if _SEVERAL.search(query) and sum(map(len, lines)) <= _LIST:
            table = [unit.header, *(u.written for u in units if u.header == unit.header)]
        note = units[best + 1] if best + 1 < len(units) else None
        after = [note.written] if note and not note.header and _NARROWS.match(note.written) else []
        lead = [above.strip()] if _ITEM.match(above) else []
        return "\n".join([*lead, *_columns(query, table), *after]).strip()
    if _LABELLED.match(lines[unit.line]) and not _SEVERAL.search(query):
        return lines[unit.line].strip()
    if _ITEM.match(lines[unit.line]):
        return _item(query, lines, unit.line)
    if len(text) <= _WIDE and not any(u.header for u in units):
        return text.strip()
    filled = lines[unit.line + 1 : _end(lines, unit.line)]
    if _INTRODUCES.search(unit.written) and filled and sum(map(len, filled)) <= _LIST:
        return "\n".join([unit.written, *filled]).strip()
    return _sentences(query, units, best)


def _keys(unit: Span) -> set[str]:
    """The words that name a row: of its first cell, and of the others without a quantity."""
    first, *others = cells_of(unit.written)
    return set(search_tokens(" ".join([first, *(c for c in others if not quantities(c))])))


def _named(words: Sequence[str], units: Sequence[Span]) -> set[int]:
    """The rows of which the question has a word that no other row of their table has."""
    keys = {n: _keys(unit) for n, unit in enumerate(units) if unit.header}
    counts = Counter((units[n].header, w) for n, key in keys.items() for w in key)
    return {
        n
        for n, key in keys.items()
        if any(counts[units[n].header, w] == 1 for w in key & set(words))
    }


def _columns(query: str, table: Sequence[str]) -> list[str]:
    """A table's rows without the columns of other models, or for other kinds of persons, than the
    one that is asked for."""
    rows = [cells_of(row) for row in table]
    if any(len(row) != len(rows[0]) for row in rows):
        return list(table)
    columns = [
        (set(codes(name)), {(k.field, k.kind) for k in person_kinds(name)}) for name in rows[0]
    ]
    models, kinds = set(codes(query)), {(k.field, k.kind) for k in person_kinds(query)}
    fields = {field for field, _ in kinds}
    dropped: set[int] = set()
    if any(models & named for named, _ in columns):
        dropped |= {n for n, (named, _) in enumerate(columns) if named and not models & named}
    if any(kinds & named for _, named in columns):
        dropped |= {
            n
            for n, (_, named) in enumerate(columns)
            if not kinds & named and fields & {field for field, _ in named}
        }
    if not dropped:
        return list(table)
    kept = [n for n in range(len(columns)) if n not in dropped]
    return ["| " + " | ".join(row[n] for n in kept) + " |" for row in rows]


def _item(query: str, lines: Sequence[str], at: int) -> str:
    """A list item with what stands below it and the line that its list stands under; the whole
    list where that is asked, or where it is short and the question is of no one item."""
    deep, first, last = _depth(lines[at]), at, at + 1
    lead = _lead(lines, at)
    while first > 0 and lines[first - 1] != lead and _below(lines[first - 1], deep - 1):
        first -= 1
    while last < len(lines) and _below(lines[last], deep - 1):
        last += 1
    whole = "\n".join([lead, *lines[first:last]]).strip()
    alone = any(in_range(v, lines[at]) for v in quantities(query))
    if (len(whole) <= _WIDE and not alone) or (_SEVERAL.search(query) and len(whole) <= _LIST):
        return whole
    end = _end(lines, at)
    while end < len(lines) and _NARROWS.match(lines[end]):
        end += 1
    while end > at + 1 and sum(map(len, lines[at:end])) > _LIST:
        end -= 1
    if _depth(lead) == deep and not lead.rstrip().endswith(_LEADS):
        lead = ""
    return "\n".join([lead, *lines[at:end]]).strip()


_LEADS = ("。", "：", ":", "す", "）", "、")


def _below(line: str, deep: int) -> bool:
    """Whether a line belongs to the items deeper than this: one of them, or a row of theirs."""
    if line.lstrip().startswith("|"):
        return True
    return bool(line) and _depth(line) > deep and (deep >= 0 or _ITEM.match(line) is not None)


def _sentences(query: str, units: Sequence[Span], best: int) -> str:
    """The sentence with those before it that it points to and its exceptions; unless it holds what
    the question's form asks for, with what of its paragraph still finds room."""

    def length(a: int, b: int) -> int:
        return sum(len(u.written) for u in units[a:b])

    start, end = best, best + 1
    while start > 0 and _POINTS.match(units[start].written) and not units[start - 1].header:
        start -= 1
    while end < len(units) and _NARROWS.match(units[end].written):
        end += 1
    if _QUESTION.search(units[best].written):
        # Of a list of questions, the answer.
        while end < len(units) and length(start + 1, end + 1) <= _WIDE:
            end += 1
    line = units[best].line if not answered_by(query, units[best].said) else -1
    while end < len(units) and units[end].line == line and length(start, end + 1) <= _WIDE:
        end += 1
    while start > 0 and units[start - 1].line == line and length(start - 1, end) <= _WIDE:
        start -= 1
    parts = [units[start].written]
    for before, unit in zip(units[start:], units[start + 1 : end], strict=False):
        parts += ["\n" if unit.line != before.line else "", unit.written]
    return "".join(parts).strip()


def excerpt(query: str, words: Sequence[str], units: Sequence[Span], at: int, text: str) -> str:
    """One of a text's sentences, items or rows with what belongs to it."""
    alone = [float(n == at) for n in range(len(units))]
    return _around(query, words, units, at, alone, text)


def best_passage(words: Sequence[str], idf: Mapping[str, float], text: str) -> str:
    """Of a chunk the row, item or sentences that hold most of the words."""
    hit = Evidence(id="", text=text, score=1.0)
    weights = Weights(idf=dict(idf))
    return _quote(" ".join(words), words, weights, 0, hit).text
