"""The compound nouns that a question is about, and whether a passage mentions them.

A compound is not its parts: neither 一般社員 nor 旅行保険 names 社員旅行.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from naisei.core import Evidence
from naisei.japanese.morph import Token, is_japanese, tokens
from naisei.japanese.query_analysis import is_general, is_stopword
from naisei.japanese.sentences import search_tokens, synonyms
from naisei.lengths import cached_text

#: The minimum nearness for a passage to be about a thing under another name.
MEANT = 0.58
#: Words for persons and activities that occur in any document and name nothing by themselves.
_NO_NAME = frozenset(
    [
        "人",
        "者",
        "会社",
        "自分",
        "本人",
        "場合",
        "時",
        "後",
        "前",
        "中",
        "以内",
        "以上",
        "以下",
        "分",
    ]
)
_DOES = frozenset({"為る", "出来る", "致す", "為さる"})


@cached_text(2048)
def things(query: str) -> tuple[str, ...]:
    """Return the compounds that a Japanese question names, in order, as written; general ones
    (料金, 期限) only if there is no other.

    >>> things("食堂のメニューは"), things("駐車場は福岡で借りられますか")
    (('食堂', 'メニュー'), ('駐車場',))
    """
    if not is_japanese(query):
        return ()
    found = list(dict.fromkeys(_compounds(tokens(query))))
    own = [words for words in found if not all(is_general(t.form) for t in words)]
    # Rules for flights need not name 福岡.
    own = [words for words in own if not all(t.kind == "地名" for t in words)] or own
    return tuple(dict.fromkeys("".join(t.surface for t in words) for words in own or found))


def _compounds(said: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    held: list[Token] = []
    for at, token in enumerate([*said, None]):
        if token is not None and _noun(token) and (held or token.pos != "接尾辞"):
            held.append(token)
            continue
        # 補助される is an action, not a name.
        does = token is not None and token.form in _DOES and held and held[-1].kind == "サ変可能"
        while held and _names_nothing(held[0].form):
            held = held[1:]
        if held and not (does and at and len(held) == 1) and sum(len(t.surface) for t in held) > 1:
            yield tuple(held)
        held = []


def _names_nothing(form: str) -> bool:
    return form in _NO_NAME or form.startswith("何") or is_stopword(form)


#: Counters and times (当日) are not part of a name.
_NO_PART = ("助数詞", "助数詞可能", "副詞可能")


def _noun(token: Token) -> bool:
    if token.pos == "接尾辞":
        return token.detail == "名詞的" and token.kind not in _NO_PART
    return token.pos == "名詞" and token.detail != "数詞" and token.kind not in _NO_PART


_SPACE = re.compile(r"\s+")


def place_of(hit: Evidence) -> str:
    """Title and headings of a hit as one text."""
    return " ".join(headings_of(hit))


def headings_of(hit: Evidence) -> list[str]:
    """Title and headings of a hit, each once."""
    headings = hit.meta.get("headings")
    named = [str(h) for h in headings] if isinstance(headings, list) else []
    return list(dict.fromkeys([str(hit.meta.get("title") or ""), *named]))


def names(thing: str, hit: Evidence) -> bool:
    """Whether a hit, with its title and headings, mentions a thing: literally, by a synonym for the
    whole, or by a heading with its head noun (通勤方法 for バイク通勤) above a text with the rest.
    """
    place = place_of(hit)
    if mentions(thing, f"{place}\n{hit.text}"):
        return True
    parts = [t.form for t in tokens(thing)]
    return len(parts) == 2 and parts[1] in _words(place) and parts[0] in _words(hit.text)


def mentions(thing: str, text: str) -> bool:
    """Whether a text mentions a thing, literally or by a synonym for the whole; a part does not
    count."""
    plain, words = _SPACE.sub("", text), search_tokens(thing)
    if thing in plain or (len(set(words)) == 1 and words[0] in _words(text)):
        return True
    others = [o for form, group in synonyms(words).items() if {*form} == {*words} for o in group]
    return any("".join(other) in plain for other in others if not {*other} < {*words})


@cached_text(512)
def _words(text: str) -> frozenset[str]:
    return frozenset(search_tokens(text))
