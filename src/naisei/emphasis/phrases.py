"""Extends marks to whole phrases, for readability."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from naisei.emphasis.metrics import spans
from naisei.emphasis.schemas import CONTENT, Sentence, Token
from naisei.japanese.morph import phrase_starts

_LEANING = ("助詞", "助動詞")
_CLOSES = frozenset("。．！？!?:：")
#: Case particles, excluded from the mark.
_CASES = frozenset(["が", "は", "を", "に", "へ", "で", "と", "の", "も", "や"])
_NOUNS = frozenset(["名詞", "代名詞", "接尾辞", "形状詞", "補助記号", "記号"])
#: Most words that a mark may add to include a matching bracket.
_REACH = 12


def whole_phrases(sentence: Sentence, chosen: Sequence[bool]) -> list[bool]:
    """Per word: whether it is in a phrase (文節) with a chosen content word.

    A phrase with bold words is left out as a whole; so is one with code or a link, unless
    words on both sides of these are chosen too. A mark contains punctuation only if it is chosen
    and lies between two of its phrases or closes it. A mark contains both brackets of a pair or
    neither. No mark ends with a case particle after a noun.
    """
    tokens = sentence.tokens
    out = [False] * len(tokens)
    free = [token.label is False for token in tokens]
    for first, last in spans(chosen):
        inner = [i for i in range(first, last) if free[i]]
        for i in range(inner[0], inner[-1]) if inner else ():
            free[i] |= tokens[i].label is None
    parting = [_parts(tokens, i) for i in range(len(tokens))]
    for first, last in pairwise([*_edges(tokens, parting), len(tokens)]):
        own = range(first, last)
        taken = any(chosen[i] and tokens[i].pos in CONTENT for i in own)
        # A conjunction, or a particle after a space, within the chosen words.
        taken = taken or (first > 0 and out[first - 1] and all(chosen[first : last + 1]))
        out[first:last] = [taken and all(free[i] for i in own)] * (last - first)
    for i in range(1, len(tokens)):
        if parting[i] and chosen[i] and free[i]:
            out[i] = out[i - 1] and (tokens[i].surface in _CLOSES or any(out[i + 1 : i + 2]))
    _balance(tokens, out)
    for first, last in spans(out):
        end = _end(tokens, chosen, first, last)
        out[end:last] = [False] * (last - end)
        while first < end and tokens[first].pos in _LEANING:
            out[first] = False
            first += 1
    return out


def _edges(tokens: Sequence[Token], parting: Sequence[bool]) -> list[int]:
    """Phrase starts, also after spaces and separators."""
    return [
        i
        for i, starts in enumerate(phrase_starts(tokens))
        if starts
        or parting[i]
        or parting[i - 1]
        or (tokens[i].surface in ("+", "-") and not tokens[i - 1].surface[-1].isascii())
        or (tokens[i].start > tokens[i - 1].end and tokens[i].pos not in _LEANING)
    ]


def _parts(tokens: Sequence[Token], i: int) -> bool:
    """Whether a token is punctuation between phrases: no bracket, and not in a Latin word."""
    token = tokens[i]
    if token.pos not in ("補助記号", "記号") or _side(token) or token.surface == "・":
        return False
    if token.surface not in "-./_+#'’&" or i + 1 == len(tokens):
        return True
    before, after = tokens[i - 1] if i else token, tokens[i + 1]
    latin = before.end == token.start and before.surface[-1].isascii()
    return not (
        token.end == after.start
        and after.surface[0].isascii()
        and (latin or after.surface[0].isdigit())
    )


def _balance(tokens: Sequence[Token], out: list[bool]) -> None:
    """Extend marks to a near matching bracket; otherwise exclude the bracket."""
    pairs = bracket_pairs(tokens)
    for first, last in pairs:
        if out[first] != out[last] and last - first <= _REACH:
            inside = range(first, last + 1)
            if all(tokens[i].label is False for i in inside):
                out[first : last + 1] = [True] * len(inside)
    mates = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    for i, token in enumerate(tokens):
        if out[i] and _side(token) and (i not in mates or not out[mates[i]]):
            out[i] = False
    # Between two included brackets everything is included; otherwise a mark would contain only one.
    for first, last in pairs:
        if out[first] and out[last] and not all(out[first:last]):
            out[first] = out[last] = False


def bracket_pairs(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Positions of bracket pairs, inner ones first."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for i, token in enumerate(tokens):
        side = _side(token)
        if side > 0:
            opened.append(i)
        elif side < 0 and opened:
            found.append((opened.pop(), i))
    return found


def _side(token: Token) -> int:
    """1: opens a bracket; -1: closes one; else 0."""
    if len(token.surface) != 1:
        return 0
    category = unicodedata.category(token.surface)
    return (category in ("Ps", "Pi")) - (category in ("Pe", "Pf"))


def _end(tokens: Sequence[Token], chosen: Sequence[bool], first: int, last: int) -> int:
    """The end of a mark: excludes case particles after a noun, other unchosen words after it, and
    the と of a quotation."""
    if last - first > 1 and tokens[last - 1].pos == "助詞" and tokens[last - 1].surface == "と":
        last -= 1
    end = last
    while (
        end > first
        and tokens[end - 1].pos in _LEANING
        and (not chosen[end - 1] or tokens[end - 1].surface in _CASES)
    ):
        end -= 1
    return end if end > first and tokens[end - 1].pos in _NOUNS else last
