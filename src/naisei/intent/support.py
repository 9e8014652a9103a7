"""Whether a sentence of an answer is borne out by the passages that it cites, without a model.

What is held against them, in this order: numbers, amounts and dates (by value: 1万5千円 is
15,000円); the row, column or clause that each stands in; limits (以内, 未満, 上限); what is denied
or said to be needed, free, possible; conditions that are dropped (に限り, を除く) and words that
widen (どなたでも); names; and how much of its words the passages hold. A sentence that claims
nothing (sympathy, an offer of help) is not checked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from naisei.core import Evidence
from naisei.intent.evidence import place_of
from naisei.japanese.content_preservation import Quantity, denied, missing, quantities
from naisei.japanese.polarity import opposed
from naisei.japanese.query_analysis import hollow
from naisei.japanese.sentences import related, search_tokens
from naisei.lang import Language
from naisei.retrieval.chunking import cells_of, spans

__all__ = ["MIN_OVERLAP", "claims", "unsupported"]

#: Share of a sentence's content words that the passages must hold.
MIN_OVERLAP = 0.3

_COURTESY = re.compile(
    "お大事に|ご不明|お気軽|遠慮なく|おつら|つらい(?:思い|お気持ち)|お辛|大変でし|大変です|ご心配|心配(?:です|でし|かと)|不安(?:です|かと|に)|"
    "(?:以下|次|下記)の(?:とおり|通り)|ご案内(?:し|いたし|申し)|お答え(?:し|いたし)|お伝え(?:し|いたし)|ご説明(?:し|いたし)|参考に(?:な|して)|"
    "ありがとう|お役に立|ご安心|抱え込ま|お困り|いかがで|お聞かせ|お知らせください|お尋ね(?:の件|いただ)|ご質問|よろしく|"
    "驚かれ|お察し|お待ち(?:し|ください)|まとめ(?:ると|ます|ました)|ほかに(?:も)?|他に(?:も)?(?:気になる|知りたい)|確認できて|承知|かしこまり|"
    "ですね。?$|ますね。?$|ましょう。?$|(?:こと|か)と(?:思い|存じ)ます|おかけして(?:おり|い)|無理をなさら|無理(?:は|を)しない|焦らず|落ち着いて|ゆっくり|おめでとう|残念です|申し訳|すみません|恐れ入り|お手伝い|"
    r"sorry|glad|hope this|feel free|let me know|thank",
    re.I,
)
_CLAIM = re.compile(
    "でき(?:ます|ません|ない)|必要(?:です|が|は)|不要|対象|無料|有料|かかります|受けられ|もらえ|支給|禁止|義務|認め|限り|除[きく]|まで(?:に|です|の)"
)


def claims(sentence: str) -> bool:
    """Whether it says something that could be borne out."""
    if quantities(sentence):
        return True
    if not any(not hollow(w) for w in search_tokens(sentence)):
        return False
    return _COURTESY.search(sentence) is None or _CLAIM.search(sentence) is not None


def unsupported(
    sentence: str, sources: Sequence[Evidence], language: Language, *, question: str = ""
) -> str:
    """Why a sentence is not borne out; empty if it is, or claims nothing.

    question: names in it need not stand in the sources.
    """
    if not claims(sentence):
        return ""
    ja = language == "ja"
    if not sources:
        return "出典がない" if ja else "no source is cited"
    places = "\n".join(f"{place_of(s)}\n{s.meta.get('date') or ''}" for s in sources)
    texts = "\n".join(s.text for s in sources)
    everything = f"{places}\n{texts}\n{question}"
    if gone := [q for q in missing(sentence, everything) if not _told_otherwise(q, everything)]:
        named = "、".join(q.value + q.unit for q in gone)
        return f"出典にない数値: {named}" if ja else f"not in the sources: {named}"
    pieces = [piece for source in sources for piece in _pieces(source.text)]
    for ja_why, en_why, found in (
        ("別の行・列・箇所の値", "the value of another row, column or clause", _swapped),
        ("別の行・列の内容", "what another row or column says", _across),
        ("上限・範囲が違う", "another limit or range", _limits),
        ("出典と可否・要否が逆", "the sources say the opposite", _opposite),
        ("出典にない否定", "denied only here", _denied),
        ("条件が落ちている", "a condition is missing", _widened),
        ("出典にない名称", "a name that is not in the sources", _names),
    ):
        if what := found(sentence, pieces, texts if found is _across else everything):
            return f"{ja_why}: {what}" if ja else f"{en_why}: {what}"
    words = {w for w in search_tokens(sentence) if not hollow(w)}
    there = set(search_tokens(everything))
    if words:
        share = sum(bool({w, *related([w])} & there) for w in words) / len(words)
        if share < MIN_OVERLAP:
            return (
                f"出典と重なる語が少ない（{share:.0%}）"
                if ja
                else f"few of its words are in the sources ({share:.0%})"
            )
    return ""


def _told_otherwise(value: Quantity, text: str) -> bool:
    """Whether a number counts things that the text names, or stands there in another unit."""
    if value.unit in ("", "つ", "個", "人") and value.value in ("1", "2", "3", "4", "5", "0.5"):
        return True
    held = quantities(text)
    number = float(value.value)
    same = {
        "日": ("週", number / 7),
        "週": ("日", number * 7),
        "か月": ("年", number / 12),
        "年": ("か月", number * 12),
        "時": ("時", number + 12),
        "割": ("%", number * 10),
        "%": ("割", number / 10),
    }
    unit, other = same.get(value.unit, ("", -1.0))
    return Quantity(f"{other:.10g}", unit) in held


class _Piece(NamedTuple):
    """A clause, or a cell with its row's key and its column's name. whole: the sentence or row."""

    text: str
    words: frozenset[str]
    values: frozenset[Quantity]
    whole: str


_CLAUSE = re.compile(r"(?<![0-9０-９])[、,]|[、,](?![0-9０-９])|[;；／]|(?<=[^0-9])/(?=[^0-9])")


@lru_cache(maxsize=512)
def _pieces(text: str) -> tuple[_Piece, ...]:
    found: list[_Piece] = []
    for unit in spans(text):
        if unit.header:
            found += _cells(unit.header, unit.written, unit.said)
            continue
        before: frozenset[str] = frozenset()
        for clause in _CLAUSE.split(unit.written):
            words = frozenset(search_tokens(clause))
            values = quantities(clause)
            # What a clause leaves unsaid stands in those before it.
            found.append(
                _Piece(clause, words if len(words) > 2 else words | before, values, unit.written)
            )
            before = words if not values else before
    return tuple(found)


def _cells(header: str, row: str, said: str) -> Iterator[_Piece]:
    names, cells = cells_of(header), cells_of(row)
    if len(names) != len(cells):
        yield _Piece(said, frozenset(search_tokens(said)), quantities(said), said)
        return
    keys = [n for n, cell in enumerate(cells) if n == 0 or not quantities(cell)]
    for name, cell in zip(names, cells, strict=True):
        key = " ".join(f"{names[k]} {cells[k]}" for k in keys)
        text = f"{key} {name} {cell}"
        # A column may tell the unit for all of its cells: 料金（円）.
        values = quantities(cell) | (
            quantities(cell + unit[1]) if (unit := _UNIT.search(name)) else frozenset()
        )
        yield _Piece(text, frozenset(search_tokens(text)), values, said)


_UNIT = re.compile("[(（](円|日|年|か月|時間|分|人|件|回|個|点|冊|歳|%|kg|km|cm|m)[)）]")


def _swapped(sentence: str, pieces: Sequence[_Piece], _: str) -> str:
    """A value that stands with other words than those of the sentence, which stand with another
    value of the same unit."""
    clauses = [c for c in _CLAUSE.split(sentence) if c.strip()]
    whole = quantities(sentence)
    for value in sorted(whole, key=lambda q: (q.value, q.unit)):
        own = [p for p in pieces if _holds(p.values, value)]
        if not own:
            continue
        rivals = [
            p
            for p in pieces
            if not _holds(p.values, value)
            and any(q.unit == value.unit and q not in whole for q in p.values)
        ]
        if not rivals:
            continue
        alone = sum(q.unit == value.unit for q in whole) == 1
        said = (
            sentence
            if alone
            else next((c for c in clauses if _holds(quantities(c), value)), sentence)
        )
        words = {w for w in search_tokens(said) if not hollow(w)} - {value.value}
        words |= set(related(words))
        best = max(own, key=lambda p: len(words & p.words))
        for rival in rivals:
            theirs, ours = rival.words - best.words, best.words - rival.words
            if len(words & theirs) > len(words & ours):
                return value.value + value.unit
    return ""


def _across(sentence: str, _: Sequence[_Piece], text: str) -> str:
    """What stands in another row or column than the one that the sentence names."""
    values = quantities(sentence)
    tables: dict[str, list[list[str]]] = {}
    prose: set[str] = set()
    for unit in spans(text):
        if unit.header:
            tables.setdefault(unit.header, []).append(cells_of(unit.written))
        else:
            prose |= set(search_tokens(unit.written))
    for header, rows in tables.items():
        names = cells_of(header)
        rows = [
            row for row in rows if len(row) == len(names) and not set("".join(row)) <= set("-: ")
        ]
        across = [list(column) for column in zip(names, *rows, strict=True)][1:]
        outside = (
            prose | set(search_tokens(header)) | {w for row in rows for w in search_tokens(row[0])}
        )
        for lines in (rows, across):
            if what := _elsewhere(lines, sentence, values, outside):
                return what
    return ""


def _elsewhere(
    lines: Sequence[Sequence[str]],
    said: str,
    values: Set[Quantity],
    outside: set[str],
) -> str:
    """lines: rows or columns, their name first. Where the sentence names one of them alone: the
    value or cell that only others have; empty if there is none."""
    words = {w for w in search_tokens(said) if not hollow(w)}
    keys = [set(search_tokens(line[0])) for line in lines]
    unique = [
        {w for w in key if sum(w in other for other in keys) == 1 and not w.isdigit()}
        for key in keys
    ]
    matched = [len(own & words) for own in unique]
    if max(matched, default=0) == 0 or sum(m > 0 for m in matched) != 1:
        return ""
    at = matched.index(max(matched))
    bodies = [" ".join(line[1:]) for line in lines]
    own = quantities(f"{lines[at][0]} {bodies[at]}")
    for value in values:
        alone = sum(q.unit == value.unit for q in values) == 1
        held = [n for n, body in enumerate(bodies) if _holds(quantities(body), value)]
        if alone and held and not _holds(own, value) and value.value not in outside:
            return value.value + value.unit
    for line in (other for other in lines if other is not lines[at]):
        for ours, theirs in zip(lines[at][1:], line[1:], strict=True):
            named = _MARKS.sub("", theirs)
            told = len(named) >= 2 and named in said and _MARKS.sub("", ours) not in said
            if told and not quantities(theirs) and not set(search_tokens(theirs)) <= outside:
                return theirs
    return ""


_MARKS = re.compile(r"[\s（(].*|[。、]")


def _holds(values: Iterable[Quantity], wanted: Quantity) -> bool:
    return any(q.value == wanted.value and (q.unit == wanted.unit or not q.unit) for q in values)


_NUMBER = r"[0-9]+(?:[,.][0-9]+)*(?:万|千|億)?[^0-9、。|]{0,4}?"
_MOST = "上限|最大|最高|まで|以内|限度|以下|未満|限り|最長"
_RANGES = (
    ("以上", "以下|未満|以内"),
    ("以下", "以上|未満|超え"),
    ("未満", "以上|以下|超え"),
    ("以内", "以上|以降|経過後"),
    ("前", "後"),
    ("後", "前"),
    ("以降", "以前|まで"),
    ("午前", "午後"),
    ("午後", "午前"),
)


def _limits(sentence: str, pieces: Sequence[_Piece], _: str) -> str:
    folded = _plain(sentence)
    for value in quantities(sentence):
        own = [_plain(p.whole) for p in pieces if _holds(p.values, value)]
        if not own or not value.value.isdigit() or len(value.value) > 7:
            continue
        here = _beside(folded, value)
        there = [_beside(text, value) for text in own]
        if not here or not all(there):
            continue
        for mark, opposite in _RANGES:
            stands = any(re.search(mark, t) for t in there)
            if re.search(mark, here) and not stands and all(re.search(opposite, t) for t in there):
                return f"{value.value}{value.unit}{mark}"
        least = all(re.search("上限|最大|最高|限度", t) for t in there)
        if least and not re.search(_MOST, folded):
            return f"{value.value}{value.unit}（上限）"
    return ""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace(",", "")


def _beside(text: str, value: Quantity) -> str:
    """The value in a text with a few letters around it; empty if it is written otherwise."""
    found = re.search(
        rf"(?<![0-9]).{{0,8}}(?<![0-9]){re.escape(value.value)}(?![0-9]).{{0,8}}", text
    )
    return found[0] if found else ""


def _opposite(sentence: str, pieces: Sequence[_Piece], _: str) -> str:
    return opposed(sentence, _aligned(sentence, pieces))


def _aligned(sentence: str, pieces: Sequence[_Piece], most: int = 1) -> list[str]:
    """The sentences or rows of the passages that share most words with this one."""
    words = {w for w in search_tokens(sentence) if not hollow(w)}
    words |= set(related(words))
    wholes = dict.fromkeys(p.whole for p in pieces)
    shared = {w: len(words & set(search_tokens(w))) for w in wholes}
    top = max(shared.values(), default=0)
    ranked = [w for w in shared if top and shared[w] == top]
    return ranked[: most + 1]


def _denied(sentence: str, pieces: Sequence[_Piece], text: str) -> str:
    here, units = denied(sentence), _aligned(sentence, pieces)
    plain = "\n".join(units)
    if turned := [w for w in here if w[-1] in _VERB and w in text and w not in denied(text)]:
        return turned[0]
    words = set(search_tokens(sentence))
    dropped = [w for u in units for w in denied(u) if w in words and w not in here]
    both = set(search_tokens(plain))
    return next((w for w in dropped if len(units) == 1 and w in both), "")


_VERB = "うくぐすつぬぶむる"
_WIDER = re.compile(
    "誰でも|だれでも|どなたでも|すべての?|全ての?|全員|いつでも|必ず|何度でも|何回でも|どこでも|一律|常に|24時間|無条件|例外なく|"
    "に関係なく|にかかわらず|制限(?:は|なく)|無制限|自動的に|全額|どれでも|いくらでも|いくつでも"
)
_ONLY = re.compile("に限[りるっ]|のみ|だけ(?!で(?:なく|は))|限定|以外|を除[くき]|対象外")
_UNLESS = re.compile(
    "限[りるっ定]|のみ|だけ|以外|除[くきい]|対象外|場合|ただし|但し|条件|とき|なら|であれば|ば、|方(?:は|が)|一部|原則|とは限"
)


def _widened(sentence: str, pieces: Sequence[_Piece], text: str) -> str:
    plain = _plain(sentence)
    wide = [m[0] for m in _WIDER.finditer(plain)]
    folded = _plain(text)
    if gone := [w for w in wide if w.rstrip("の") not in folded]:
        return gone[0]
    if _UNLESS.search(plain):
        return ""
    words = set(search_tokens(sentence))
    for unit in _aligned(sentence, pieces)[:1]:
        for clause in _CLAUSE.split(_plain(unit)):
            if (mark := _ONLY.search(clause)) is None:
                continue
            named = {w for w in search_tokens(clause[: mark.start()])[-4:] if not hollow(w)}
            if named and not named & words:
                return clause.strip()[:30]
    return ""


_NAMED = re.compile(r"[A-Za-z][A-Za-z0-9-]{2,}")


def _names(sentence: str, _: Sequence[_Piece], text: str) -> str:
    folded = _plain(text).lower()
    there = set(search_tokens(text))
    for m in _NAMED.finditer(_plain(sentence)):
        own = set(search_tokens(m[0]))
        if m[0].lower() not in folded and not ({*own, *related(own)} & there):
            return m[0]
    return ""
