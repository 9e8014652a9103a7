"""Words of a Japanese text: surface, dictionary form, normalised form, part of speech.

Sudachi with its small dictionary. Nothing else in the tree calls it: what it cannot take (a text
above 49,149 bytes, half a surrogate pair, one tokenizer in two threads) is dealt with here.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from naisei.japanese.normal import normalise

if TYPE_CHECKING:
    from sudachipy import Morpheme

__all__ = ["Token", "morphemes", "tokens"]

_local = threading.local()
_lock = threading.Lock()
_dictionary: Any = None

#: Characters that are analysed at once. Up to _SURE they fit whatever they are: NFKC, which Sudachi
#: applies, makes up to 33 bytes of one (U+FDFA).
_PIECE, _SURE = 12_000, 1_400
#: Bytes that Sudachi takes: of a text as it is given, and as it has normalised it.
_GIVEN, _NORMALISED = 49_149, 65_535
#: Where a longer text may be cut, the best first.
_ENDS = tuple(
    map(re.compile, (r"[。！？!?]+[」』）)]*|\n+", r"[、,;；]|\s+", r"[ぁ-ん](?![ぁ-ん])"))
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word. lemma: dictionary form (飲む). form: Sudachi's normalised form (のど → 喉).

    pos: part of speech (名詞, 動詞, 形容詞, 助詞, …); detail: its next level (格助詞, …).
    start, end: offsets in the normalised text. kind: the level below (人名, サ変可能, …);
    inflection: of a word that inflects (命令形, 終止形-一般, …); both `*` where there is none.
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
        """Whether it carries meaning of its own: no particle, auxiliary, mark or space."""
        return self.pos not in _FUNCTION


_FUNCTION = frozenset({"助詞", "助動詞", "補助記号", "空白", "記号", "接頭辞"})


@lru_cache(maxsize=32768)
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
    """(offset of its piece, Sudachi's morpheme) of a text as it is written, white space too.

    mode: short units (A) or long ones (C). A text of any length: one that Sudachi would refuse is
    analysed in pieces, cut at the ends of sentences where there are any. Half a surrogate pair
    is read as `?`.
    """
    tokenizer = _tokenizer(mode)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    for base, piece in _pieces(text):
        for morpheme in tokenizer.tokenize(piece):
            yield base, morpheme


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Stretches that Sudachi takes, with their offsets; a text that it takes is one."""
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
    """How much of the room is taken: up to the last good place to cut in its second half."""
    for ends in _ENDS:
        if found := [match.end() for match in ends.finditer(text, at + room // 2, at + room)]:
            return found[-1] - at
    return room


def _tokenizer(mode: Literal["A", "C"]) -> Any:
    """This thread's tokenizer: two threads may not share one, but all share the dictionary."""
    global _dictionary
    made: dict[str, Any] = _local.__dict__
    if mode not in made:
        from sudachipy import Dictionary, SplitMode

        with _lock:
            if _dictionary is None:
                _dictionary = Dictionary(dict="small")
            made[mode] = _dictionary.tokenizer(mode=SplitMode.A if mode == "A" else SplitMode.C)
    return made[mode]
