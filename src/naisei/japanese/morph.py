"""Words of a Japanese text: surface, dictionary form, normalised form, part of speech.

Sudachi with its small dictionary, short units (mode A) unless told otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from naisei.japanese.normal import normalise

if TYPE_CHECKING:
    from sudachipy import Tokenizer

__all__ = ["Token", "sudachi", "tokens"]

_lock = Lock()


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


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from sudachipy import Dictionary, SplitMode

    return Dictionary(dict="small").tokenizer(mode=SplitMode.A)


@lru_cache(maxsize=32768)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of `normalise(text)`, in order. An empty text gives an empty tuple."""
    # One tokenizer object may not be used by two threads at once.
    with _lock:
        return tuple(
            Token(
                m.surface(),
                m.dictionary_form(),
                m.normalized_form(),
                (said := m.part_of_speech())[0],
                said[1],
                m.begin(),
                m.end(),
                said[2],
                said[5],
            )
            for m in _tokenizer().tokenize(normalise(text))
        )


def sudachi(text: str) -> list[tuple[str, int, str, str]]:
    """(surface, start, part of speech, dictionary form) of each piece of a text as it is
    written; white space is among them. At most 12,000 characters."""
    with _lock:
        return [
            (m.surface(), m.begin(), m.part_of_speech()[0], m.dictionary_form())
            for m in _tokenizer().tokenize(text)
        ]
