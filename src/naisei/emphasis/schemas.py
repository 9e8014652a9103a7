"""Documents with emphasised words, and the tagger protocol.

The task: for every word of an article, given its title, whether it is set in bold
(thesis, section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Token(NamedTuple):
    """One word.

    start, end: character offsets in the text of its block (paragraph), not of its sentence.
    pos: part of speech (名詞, 動詞, …); lemma: dictionary form.
    label: whether it is emphasised. None: it cannot be (inline code, the text of a link); it is
    context only, and is never trained on, counted or marked.
    """

    surface: str
    start: int
    end: int
    pos: str
    lemma: str
    label: bool | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. Tokens are in order; white space between words is not a token.

    block: number of its paragraph, list item or cell in the document, from 0.
    index: number of the sentence in the document, from 0.
    """

    text: str
    tokens: tuple[Token, ...]
    block: int
    index: int

    @property
    def labels(self) -> tuple[bool, ...]:
        """Labels per token; False for tokens that cannot be emphasised."""
        return tuple(bool(token.label) for token in self.tokens)

    @property
    def counted(self) -> tuple[bool, ...]:
        """Whether each token is trained on and scored."""
        return tuple(token.label is not None for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Article:
    """One document. `sentences`: its running text; headings, tables and code
    are left out.

    id: unique within a corpus, such as `handbook/travel.md`. title: "" if it has none.
    writer: who set the emphasis. domain: its subject. Both "" if unknown.
    """

    id: str
    title: str
    sentences: tuple[Sentence, ...]
    writer: str = ""
    domain: str = ""

    @property
    def text(self) -> str:
        """The running text without the title; equal for copies under other names."""
        return "\n".join(sentence.text for sentence in self.sentences)


@runtime_checkable
class Tagger(Protocol):
    """Predicts for each word whether it would be emphasised. Trained elsewhere; immutable."""

    @property
    def name(self) -> str:
        """A registered name with a version, such as `rule.v1`."""
        ...

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        """Per sentence, an array (tokens,) of probabilities of emphasis, 0 to 1."""
        ...

    def labels(self, article: Article) -> list[list[bool]]:
        """The decoded label of each token, per sentence."""
        ...


#: Parts of speech of words that can be emphasised alone.
CONTENT = frozenset(
    ["名詞", "動詞", "形容詞", "形状詞", "副詞", "代名詞", "感動詞", "連体詞"]
)  # fmt: skip


class Span(NamedTuple):
    """Words first … last - 1 of a sentence."""

    sentence: int
    first: int
    last: int


Key = TypeVar("Key")


def grouped_tokens(sentence: Sentence, keys: Sequence[Key]) -> Iterator[tuple[str, Key | None]]:
    """Yield the whole text in order as (text, key). keys: one per token. Adjacent words with the
    same key form one group; text between two groups has the key None."""
    at = 0
    first = sentence.tokens[0].start if sentence.tokens else 0
    for key, group in groupby(zip(sentence.tokens, keys, strict=True), lambda pair: pair[1]):
        tokens = [token for token, _ in group]
        start, end = tokens[0].start - first, tokens[-1].end - first
        if start > at:
            yield sentence.text[at:start], None
        yield sentence.text[start:end], key
        at = end
    if at < len(sentence.text):
        yield sentence.text[at:], None
