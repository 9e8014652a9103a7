"""Splits text into sentences and search words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from naisei.japanese.morph import morphemes, normalise

# Sentences of a text, unchanged; sentences of an utterance; lines that are headings.
#
# Only retrieval uses headings and only the director uses utterances; both parse Japanese.

_END = re.compile(r"[^。！？\n]*(?:[。！？]+|\n|$)")
_END_EN = re.compile(r"(?<=[.!?])\s+")
_OPEN, _CLOSE = "「（(", "」）)"


def sentences(text: str) -> tuple[str, ...]:
    """Return sentences in order, with their marks; quotations 「…。…」 are not split. Empty text
    gives ().

    >>> sentences("眠いの？ それとも、のどが渇いた？")
    ('眠いの？', 'それとも、のどが渇いた？')
    """
    folded = normalise(text)
    if re.search(r"[\u3040-\u30ff\u3400-\u9fff]", folded) is None:
        return tuple(s for s in _END_EN.split(folded) if s)
    found: list[str] = []
    depth, held = 0, ""
    for piece in _END.findall(folded):
        held += piece
        depth += sum(piece.count(c) for c in _OPEN) - sum(piece.count(c) for c in _CLOSE)
        if depth <= 0:
            if held.strip():
                found.append(held.strip())
            depth, held = 0, ""
    if held.strip():
        found.append(held.strip())
    return tuple(found)


_END_spans = re.compile(
    r"(?<=[。！？!?])(?![。！？!?」』）)])|(?<=\n)|(?<=[.])(?=\s)"
    # ． ends a sentence in texts with ，．, and is a decimal point between digits.
    r"|(?<=[\u3040-\u30ff\u3400-\u9fff）」]．)(?![0-9０-９」』）)])"
)


def sentence_spans(text: str) -> list[str]:
    """The sentences of a text, unchanged; marks and line breaks stay with the sentence they end.

    >>> sentence_spans("はい。「寝た。」と言う。Yes. No.")
    ['はい。', '「寝た。」と言う。', 'Yes.', ' No.']
    >>> sentence_spans("1. 申し出る。2. 待つ。")
    ['1. 申し出る。', '2. 待つ。']
    >>> sentence_spans("See 28 U.S.C. § 455 and Fed. R. Civ. P. 60. It holds from 6 a.m. on.")
    ['See 28 U.S.C. § 455 and Fed. R. Civ. P. 60.', ' It holds from 6 a.m. on.']
    >>> sentence_spans("職員（嘱託を除く。以下同じ。）の定年は、60歳とする。")
    ['職員（嘱託を除く。以下同じ。）の定年は、60歳とする。']
    """
    found: list[str] = []
    held, depth = "", 0
    for piece in filter(None, _END_spans.split(text)):
        if held and depth == 0 and not _goes_on(held[-_TAIL:], piece):
            found.append(held)
            held = ""
        held += piece
        opened = sum(map(piece.count, _OPEN)) - sum(map(piece.count, _CLOSE))
        # A bracket without a closing one on its line has no effect.
        depth = 0 if piece.endswith("\n") else max(0, depth + opened)
    return [*found, held] if held else found


_REFERS = re.compile(
    r"\s*(?:この|その|これ|それ|同|ここ|そこ|当該|また|さらに|次に|以[後降](?:は|の|に|、)|上記|前記|こうした|そうした)"
)


def refers_back(sentence: str) -> bool:
    """Whether it begins with a word that refers to the previous sentence.

    >>> refers_back("その後は1年ごとに増える。"), refers_back("毎年増える。")
    (True, False)
    """
    return _REFERS.match(sentence) is not None


def _goes_on(before: str, after: str) -> bool:
    """Whether the point between these does not end a sentence: after a list number, within an
    abbreviation (U.S.C. §), or before a lower-case letter."""
    if before[-1:] not in (".", "．"):
        return False
    if _NUMBERED.search(before) or _ABBREVIATED.search(before):
        return True
    return _SMALL.match(after) is not None or bool(_COUNTED.search(before) and _DIGIT.match(after))


#: Number of characters examined at the end of a sentence.
_TAIL = 16
_NUMBERED = re.compile(r"(?:^|\n)\s*[0-9０-９]{1,2}[.．]$")
_ABBREVIATED = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Fed|Civ|Crim|vs|cf|e\.g|i\.e)\.$")
_COUNTED = re.compile(r"\b(?:Sec|Art|Nos?|Figs?|Eq|Ch|Vol|pp?)\.$", re.I)
_SMALL, _DIGIT = re.compile(r"\s+[a-z§&]"), re.compile(r"\s+[0-9]")
_PIECE = re.compile(r"[^。！？\n]+[。！？]*")
#: Marks that do not make a sentence.
_DECORATION = " \t…、・〜ー♪☆★♡♥」）,.。！？"
#: A part from its first character that is not decoration.
_SAID = re.compile(rf"[^{_DECORATION}\n][^。！？\n]*")


def count_sentences(masked: str) -> int:
    """The number of `utterance_sentences`, faster than listing them."""
    return len(_SAID.findall(masked))


def sentences_from(masked: str, number: int) -> tuple[int, int]:
    """Span from the sentence with this number, counted from 0, to the end of the last one.

    If there is no such sentence, the span is empty at the end of the text.
    """
    found = _from(number).match(masked)
    return found.span(1) if found else (len(masked), len(masked))


@lru_cache(maxsize=16)
def _from(number: int) -> re.Pattern[str]:
    """A pattern for `number` sentences and the rest.

    One expression instead of a list of all sentences. Possessive quantifiers (`*+`) keep it linear
    and prevent reading one sentence as two.
    """
    return re.compile(
        rf"(?:[{_DECORATION}\n]*+{_SAID.pattern}+){{{number}}}(?:[{_DECORATION}\n]*[。！？\n])?"
        rf"((?s:.*){_SAID.pattern}[。！？]*)"
    )


def utterance_sentences(masked: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a folded line whose quotations are masked.

    A sentence ends at a run of 。！？, at a line break without a mark, and at the end of the text.
    Marks belong to their sentence. Parts that contain only marks are not sentences.
    """
    return [m.span() for m in _PIECE.finditer(masked) if m[0].strip(_DECORATION)]


_NUMBER = r"[0-9〇一二三四五六七八九十百]+"
_LEVELS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(rf"^第{_NUMBER}(?:編|部)(?:\s|$|[^のにはをが])"), 1),
    (re.compile(rf"^第{_NUMBER}章(?:\s|$|[^のにはをが])"), 2),
    (re.compile(rf"^第{_NUMBER}節(?:\s|$|[^のにはをが])"), 3),
    (re.compile(rf"^第{_NUMBER}条(?:の{_NUMBER})?\s*(?:[((].*|$)"), 4),
    (re.compile(r"^【[^】]+】$|^≪[^≫]+≫$|^〈[^〉]+〉$|^<[^>]+>$|^\[[^\]]+\]$"), 3),
    (re.compile(r"^[■◆□◇●▼▽★☆]\s*\S"), 3),
    (re.compile(r"^[0-9]+\.[0-9]+\.[0-9]+\.?\s+\S"), 5),
    (re.compile(r"^[0-9]+\.[0-9]+\.?\s+\S"), 4),
    (re.compile(r"^[0-9]+\.\s*\S"), 3),
    # A number followed by a space, as in office documents: １ 目的. 「3 回以上」 is a quantity, and
    # a longer line is the first of a numbered paragraph: ２ 前項の規定にかかわらず…
    (
        re.compile(
            r"^[0-9]{1,2}\s+(?![0-9]|[年月日回人件円個分時歳名つ階台点冊枚本泊週か以])[^\s、][^、]{0,19}$"
        ),
        3,
    ),
    (re.compile(r"^Q[0-9]*[.:：．)]\s*\S"), 5),
)
#: A statement ends like this or is longer than a heading.
_SENTENCE = re.compile(
    r"[。、,;；]$|(?:です|ます|ません|でした|ました|ください|すること|である)。?$"
)
_LONGEST = 40


def outline_level(line: str) -> int | None:
    """1 (outermost) to 5 for a heading line; None for any other.

    >>> outline_level("第３条（年次有給休暇）"), outline_level("第3条の規定により、支給する。")
    (4, None)
    >>> outline_level("１　目的"), outline_level("２　病気休暇が１週間を超える場合には、医師の")
    (3, None)
    """
    folded = unicodedata.normalize("NFKC", line).strip()
    if len(folded) > _LONGEST or _SENTENCE.search(folded):
        return None
    return next((level for pattern, level in _LEVELS if pattern.search(folded)), None)


# Search words of a text, for both the index and queries.
#
# Sharing one function makes spellings match: 「引越し」 and 「引越」. A synonym list pairs everyday
# words with the terms of work rules (ボーナス and 賞与, 辞める and 退職). It was written for this
# project, in general Japanese office language, not that of one company.

#: Cached search forms by dictionary entry.
_known: dict[int | str, tuple[str, ...]] = {}
_KNOWN = 200_000
_LONG = re.compile(r"(?<=[ァ-ヺー])[〜～~−‐‑–—―─-](?=[ァ-ヺ]|(?![0-9A-Za-z]))")
_LATIN = re.compile(r"[a-z0-9][a-z0-9+#]*(?:[._/&'-][a-z0-9+#]+)*")
_PARTS = re.compile(r"[a-z]+|[0-9]+")
#: A product code: letters and digits in one word.
_CODE = re.compile(r"(?<![a-z0-9-])(?=[a-z0-9-]*[a-z])(?=[a-z0-9-]*[0-9])[a-z0-9]+(?:-[a-z0-9]+)*")
_DROPPED = frozenset({"助詞", "助動詞", "補助記号", "空白", "記号"})
#: Words that occur in every document and every question.
_STOP = frozenset(
    re.findall(
        r"\S+",
        """為る 有る 居る 成る 出来る 下さる 頂く 致す 御座る 仰る 遣る 呉れる 貰う 置く 事 物 時 為
        所 訳 筈 様 此れ 其れ 其の 此の 何れ 何の 言う 又 及び 或いは 若しくは 又は 等 御 無い の ん
        よう する 教える 知る 此方 其方 何方 何 何時 何処 誰 幾ら 幾つ いくら いつ どこ どう どんな
        どの どれ 如何 何故 なぜ こと もの ところ そう で だ です ます ちょっと 一寸 すみません""",
    )
)
_ENGLISH_STOP = frozenset(
    re.findall(
        r"\S+",
        """a an and are as at be by can do does for from have how i if in is it me my of on or our
        many much please shall should that the their there this to was we what when where which who
        will with would you your""",
    )
)


def search_tokens(text: str) -> list[str]:
    """Content words in order, with repetitions; a compound is followed by its parts.

    Japanese words in Sudachi's normalised form; English words folded to lower case and cut to
    a rough stem; numbers in ASCII digits without grouping commas. Never raises; an empty text
    gives an empty list.
    """
    folded = _LONG.sub("ー", unicodedata.normalize("NFKC", text)).casefold()
    found: list[str] = []
    for _, m in morphemes(folded.replace("\0", " "), "C"):
        entry = m.word_id() if not m.is_oov() else m.surface()
        words = _known.get(entry)
        if words is None:
            if len(_known) >= _KNOWN:
                _known.clear()
            words = _known[entry] = _forms(m)
        found += words
    return found + codes(folded)


def codes(text: str) -> list[str]:
    """Product codes, normalised for comparison.

    >>> codes("RK-10A と ＲＫ１０Ｂ")
    ['rk10a', 'rk10b']
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [m[0].replace("-", "") for m in _CODE.finditer(folded)]


def _forms(m: Any) -> tuple[str, ...]:
    """The search forms of one word."""
    pos = m.part_of_speech()
    if pos[0] in _DROPPED and pos[1] != "文字":
        return ()
    surface, form = m.surface(), m.normalized_form().casefold()
    if surface.isascii():
        return _latin(surface, form)
    if form in _STOP:
        return ()
    from sudachipy import SplitMode

    parts = m.split(SplitMode.A, add_single=False)
    return (form, *(part.normalized_form().casefold() for part in parts))


def _latin(surface: str, form: str) -> tuple[str, ...]:
    """Forms of an English word or a number; `form`, Sudachi's, may be its katakana word."""
    if surface in _ENGLISH_STOP:
        return ()  # whose katakana form is as uninformative: ハウ
    found: list[str] = []
    for word in _LATIN.findall(surface):
        if word in _ENGLISH_STOP:
            continue
        found.append(_stem(word))
        parts = _PARTS.findall(word)
        if len(parts) > 1:
            found += [_stem(part) for part in parts]
    if not form.isascii() or (form.isdigit() and form != surface):
        found.append(form)
    return tuple(found)


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            return word[: -len(suffix)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


#: The search words of a word: several for a compound.
Form = tuple[str, ...]


def synonyms(words: Iterable[str]) -> dict[Form, tuple[Form, ...]]:
    """Listed words that these search words contain, each with the others of its groups.

    >>> synonyms(["ボーナス"])
    {('ボーナス',): (('賞与',),)}
    """
    asked = dict.fromkeys(words)
    return {
        form: others
        for word in asked
        for form, others in _groups().get(word, {}).items()
        if all(part in asked for part in form)
    }


def related(words: Iterable[str]) -> dict[str, float]:
    """Synonyms of these search words with weights: 1, or less for a part of a compound (1 / the
    number of its parts).

    >>> related(["ボーナス"])
    {'賞与': 1.0}
    """
    asked = dict.fromkeys(words)
    found: dict[str, float] = {}
    for others in synonyms(asked).values():
        for other in others:
            for part in other:
                if part not in asked:
                    found[part] = max(1 / len(other), found.get(part, 0.0))
    return found


def known_words() -> tuple[str, ...]:
    """The first search words of all synonyms."""
    return tuple(_groups())


_SYNONYMS, _ENGLISH = ("work_synonyms.txt", "everyday_synonyms.txt"), "english_words.txt"


@cache
def _groups() -> dict[str, dict[Form, tuple[Form, ...]]]:
    """First search word of a form → forms → the others of their groups. Compounds have synonyms
    only as a whole."""
    here = files("naisei.japanese")
    text = "\n".join((here / name).read_text(encoding="utf-8") for name in _SYNONYMS)
    found: dict[str, dict[Form, tuple[Form, ...]]] = {}
    for line in text.splitlines():
        group = [] if line.startswith("#") else line.split()
        forms = dict.fromkeys(tuple(dict.fromkeys(search_tokens(word))) for word in group)
        for form in filter(None, forms):
            others = found.setdefault(form[0], {})
            more = [other for other in forms if other and other != form]
            others[form] = tuple(dict.fromkeys([*others.get(form, ()), *more]))
    for line in (here / _ENGLISH).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            word, *named = line.split()
            form = tuple(dict.fromkeys(search_tokens(word.replace("-", " "))))
            found.setdefault(form[0], {})[form] = tuple(tuple(search_tokens(n)) for n in named)
    return found
