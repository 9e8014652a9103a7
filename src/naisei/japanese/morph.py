"""Morphemes of Japanese text from SudachiPy, and its normal form."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import jaconv

from naisei.lengths import cached_text
from naisei.plugins import needs_extra

if TYPE_CHECKING:
    from sudachipy import Morpheme

_MARKS = str.maketrans(
    {
        "，": "、",
        ",": "、",
        "．": "。",
        "?": "？",
        "!": "！",
        "･": "・",
        "﹖": "？",
        "﹗": "！",
        "〝": "「",
        "〟": "」",
        "『": "「",
        "』": "」",
        "\u200b": "",
        "\ufeff": "",
    }
)
_ENGLISH_MARKS = str.maketrans({"？": "?", "！": "!", "、": ",", "。": ".", "’": "'", "‘": "'"})
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff！？])\s+|\s+(?=[\u3000-\u30ff\u3400-\u9fff！？])"
)
_LONG = re.compile(r"(?<=[ぁ-んァ-ヶ])[〜～~]+")
_STOP = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff])\.(?![a-zA-Z0-9])")
_REPEATED = re.compile(r"([！？。、…])\1+")


def is_japanese(text: str) -> bool:
    """Whether the text contains kana or kanji."""
    return _JAPANESE.search(text) is not None


@cached_text(65536)
def normalise(text: str) -> str:
    """Return NFKC, full-width kana, unified marks, no spaces inside Japanese.

    Japanese text gets 。、？！ and long vowels as ー; English text gets . , ? ! and plain
    apostrophes. Case is kept. Idempotent.
    """
    folded = unicodedata.normalize("NFKC", jaconv.h2z(text, kana=True))
    if not is_japanese(folded):
        return _SPACE.sub(" ", folded.translate(_ENGLISH_MARKS)).strip()
    folded = _STOP.sub("。", _LONG.sub("ー", folded)).translate(_MARKS)
    folded = _BETWEEN.sub("", _SPACE.sub(" ", folded))
    return _REPEATED.sub(r"\1", folded).strip()


_local = threading.local()
_lock = threading.Lock()
_dictionary: Any = None

#: Characters analysed at once. Up to _SURE they always fit: NFKC, which Sudachi applies, expands
#: one (U+FDFA) to up to 33 bytes.
_PIECE, _SURE = 12_000, 1_400
#: Sudachi's byte limits: raw text, and normalised text.
_GIVEN, _NORMALISED = 49_149, 65_535
#: Where a longer text may be cut, best first.
_ENDS = tuple(
    map(re.compile, (r"[。！？!?]+[」』）)]*|\n+", r"[、,;；]|\s+", r"[ぁ-ん](?![ぁ-ん])"))
)


class Token(NamedTuple):
    """One word. lemma: dictionary form (飲む). form: Sudachi's normalised form (のど → 喉).

    pos: part of speech (名詞, 動詞, 形容詞, 助詞, …); detail: its next level (格助詞, …).
    start, end: offsets in the normalised text. kind: the level below (人名, サ変可能, …);
    inflection: form of an inflected word (命令形, 終止形-一般, …); both `*` if there is none.
    """

    surface: str
    lemma: str
    form: str
    pos: str
    detail: str
    start: int
    end: int
    kind: str = "*"
    inflection: str = "*"

    @property
    def content(self) -> bool:
        """Whether it is a content word: not a particle, auxiliary, mark or space."""
        return self.pos not in _FUNCTION


_FUNCTION = frozenset({"助詞", "助動詞", "補助記号", "空白", "記号", "接頭辞"})


@cached_text(32768)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of `normalise(text)`, in order, as short units (mode A), whatever its length.
    An empty text gives an empty tuple."""
    return tuple(
        Token(
            m.surface(),
            m.dictionary_form(),
            m.normalized_form(),
            (said := m.part_of_speech())[0],
            said[1],
            base + m.begin(),
            base + m.end(),
            said[2],
            said[5],
        )
        for base, m in morphemes(normalise(text))
    )


def morphemes(text: str, mode: Literal["A", "C"] = "A") -> Iterator[tuple[int, Morpheme]]:
    """Yield (offset of its part, Sudachi's morpheme) for a text as written, including white space.

    mode: short units (A) or long ones (C). Long texts are analysed in parts, cut at sentence ends
    if possible. An unpaired surrogate is read as `?`.
    """
    tokenizer = _tokenizer(mode)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    for base, piece in _sudachi_spans(text):
        for morpheme in tokenizer.tokenize(piece):
            yield base, morpheme


def _sudachi_spans(text: str) -> Iterator[tuple[int, str]]:
    """Parts short enough for Sudachi, with their offsets."""
    at = 0
    while at < len(text):
        room = min(_PIECE, len(text) - at)
        while not _fits(text[at : at + room]):
            room //= 2
        if at + room < len(text):
            room = _end(text, at, room)
        yield at, text[at : at + room]
        at += room


def _fits(piece: str) -> bool:
    if len(piece) <= _SURE:
        return True
    normal = unicodedata.normalize("NFKC", piece).lower()
    return len(piece.encode()) <= _GIVEN and len(normal.encode()) <= _NORMALISED


def _end(text: str, at: int, room: int) -> int:
    """End of the next part: the last good cut in the second half of the allowed length."""
    for ends in _ENDS:
        if found := [match.end() for match in ends.finditer(text, at + room // 2, at + room)]:
            return found[-1] - at
    return room


def _tokenizer(mode: Literal["A", "C"]) -> Any:
    """This thread's tokenizer: threads cannot share one, but all share the dictionary."""
    global _dictionary
    made: dict[str, Any] = _local.__dict__
    if mode not in made:
        with needs_extra():
            from sudachipy import Dictionary, SplitMode

        with _lock:
            if _dictionary is None:
                _dictionary = Dictionary(dict="small")
            made[mode] = _dictionary.tokenizer(mode=SplitMode.A if mode == "A" else SplitMode.C)
    return made[mode]


_SUFFIXES = ("ing", "ed", "es", "s")
_LATIN = re.compile(r"([a-z]+)")


@cached_text(65536)
def lemmas(text: str) -> tuple[str, ...]:
    """Content words in order, each in Sudachi's normalised form.

    Particles, auxiliaries, punctuation and honorific prefixes are left out; English words
    are lower-cased and cut to a rough stem. An empty text gives an empty tuple.
    """
    found: list[str] = []
    # Sudachi normalises English words to katakana, so they are extracted first.
    for piece in _LATIN.split(unicodedata.normalize("NFKC", text).lower()):
        if _LATIN.fullmatch(piece):
            found.append(_stem(piece))
        else:
            found += [t.form for t in tokens(piece) if t.content]
    return tuple(found)


def _stem(word: str) -> str:
    """Strip English inflection roughly: enough to match a cue list against a text."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word.rstrip("e") or word


class _PlacedWord(Protocol):
    """A word with its part of speech (名詞, 助詞, …) and dictionary form."""

    @property
    def surface(self) -> str: ...
    @property
    def pos(self) -> str: ...
    @property
    def lemma(self) -> str: ...


_LEANING = frozenset({"助詞", "助動詞", "接尾辞"})
_OPENING = frozenset("「『（(［[｛{〈《【〔“‘")
_NOUNS = frozenset({"名詞", "接尾辞", "代名詞"})
_JOINED = frozenset({"名詞", "形状詞"})
_LIGHT = frozenset({"する", "できる", "出来る", "いたす", "致す", "なさる", "くださる", "下さる"})
_AUXILIARY = frozenset(
    re.findall(
        r"\w+",
        """いる 居る ある 有る おる おく 置く しまう くる 来る いく 行く みる 見る くださる 下さる
        もらう 貰う いただく 頂く くれる あげる やる ほしい 欲しい""",
    )
)
_MUST = frozenset(["なる", "いける", "ない", "無い"])
_LINKS = frozenset("・-‐－/／_.:：&＆+")


def phrase_starts(words: Sequence[_PlacedWord]) -> list[bool]:
    """For each word of one sentence, whether it begins a phrase.

    Compound nouns and する-verbs are one phrase; so are て-forms with what follows them
    (食べている, 使ってはいけない). Brackets belong to the text they enclose, 、 to the text it
    ends.
    """
    return [_starts(words, i) for i in range(len(words))]


def _starts(words: Sequence[_PlacedWord], i: int) -> bool:
    word = words[i]
    if i == 0:
        return True
    before = words[i - 1]
    if word.pos in _LEANING or before.pos == "接頭辞" or before.surface in _OPENING:
        return False
    if word.pos in ("補助記号", "記号"):
        return word.surface in _OPENING
    if before.surface in _LINKS:
        return False
    # 使いやすい is an adjective.
    adjective = before.pos == "接尾辞" and before.lemma.endswith("い")
    if word.pos in _JOINED and before.pos in _NOUNS and not adjective:
        return False
    if word.lemma in _LIGHT and before.pos in _NOUNS:
        return False
    if word.pos in ("動詞", "形容詞"):
        te = before.surface in ("て", "で", "ちゃ", "じゃ")
        if word.lemma in _AUXILIARY and te:
            return False
        linked = (i > 1 and words[i - 2].surface in ("て", "で", "なけれ")) or before.lemma in _MUST
        if word.lemma in _MUST and before.pos in ("助詞", "助動詞") and linked:
            return False
        if word.lemma in ("ない", "無い") and before.surface in ("は", "も") and linked:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Word:
    """start, end: offsets in the text. pos: part of speech (名詞, 助詞, …). lemma: dictionary
    form."""

    surface: str
    start: int
    end: int
    pos: str
    lemma: str


def words(text: str) -> list[Word]:
    """The words of a text, in order, white space left out.

    >>> [(w.surface, w.start) for w in words("ＡＢＣ を読む")]
    [('ＡＢＣ', 0), ('を', 4), ('読む', 5)]
    """
    found: list[Word] = []
    for base, m in morphemes(text):
        surface, start = m.surface(), base + m.begin()
        if surface.strip():
            pos, lemma = m.part_of_speech()[0], m.dictionary_form()
            found.append(Word(surface, start, start + len(surface), pos, lemma))
    return found
