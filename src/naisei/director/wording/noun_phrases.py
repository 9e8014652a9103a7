"""Noun phrases that can name a topic, and markers of a change of topic.

Uses Sudachi; for the director's state of a talk and its calibrated checks.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib.resources import files

from naisei.japanese.morph import Token, tokens

#: Pronouns, time words, adverbs and empty nouns, which are not topics by themselves.
HOLLOW = frozenset(
    (files("naisei.director.wording") / "hollow.txt").read_text(encoding="utf-8").split()
)
#: Markers of a new topic; excludes 「そういえば」, which continues the current one.
_TURN = re.compile(
    r"(?:^|[。！？…、\n\s])(?:ところで|話は変わ|話変わ|話を変え|それはそうと|それはともかく|話は違|関係(?:は)?ない(?:けど|話|です)"
    r"|全然違う話|(?:全然)?別の話|さて、|では次|じゃあ次|次の(?:話題|お便り)|話(?:を|は)(?:戻|移))"
)


def turns(text: str) -> tuple[int, int] | None:
    """The span of a turn marker (「ところで」) in a folded line, or `None`."""
    found = _TURN.search(text)
    return found.span() if found else None


def noun_phrases(text: str, excluded: Collection[str] = ()) -> tuple[str, ...]:
    """The noun phrases of a folded line that can name a topic, in order, each once.

    A phrase is a run of nouns with の between them and affixes (「友達の引っ越し先」). Pronouns and
    demonstratives, adverbials (毎月, 今日), numbers, empty nouns and names in `excluded` do not
    count.

    >>> noun_phrases("毎月、友達の引っ越し先はどこにする？")
    ('友達の引っ越し先',)
    """
    found: dict[str, None] = {}
    run: list[Token] = []
    for word in (*tokens(text), None):
        if word is not None and (
            _nominal(word, run) or (run and word.surface == "の" and word.pos == "助詞")
        ):
            run.append(word)
            continue
        while run and (run[-1].surface in ("の", "話") or _alone(run)):
            run.pop()
        while run and (_adverbial(run[0]) or run[0].surface in ("の", *excluded)):
            run.pop(0)
        phrase = "".join(w.surface for w in run)
        solid = any(w.pos == "名詞" and w.detail != "数詞" for w in run) and (
            len(phrase) > 1 or phrase > "ー"
        )
        if solid and phrase not in HOLLOW and phrase not in excluded:
            found[phrase] = None
        run = []
    return tuple(found)


def _nominal(word: Token, run: list[Token]) -> bool:
    if word.pos == "名詞":
        return word.detail != "助動詞語幹"
    return bool(run) and word.pos == "接尾辞" and word.detail == "名詞的"


def _alone(run: list[Token]) -> bool:
    """Whether the last word has no meaning by itself and no noun precedes it (unlike
    引っ越し先)."""
    return (_adverbial(run[-1]) or run[-1].form in HOLLOW) and (
        len(run) == 1 or run[-2].surface == "の"
    )


def _adverbial(word: Token) -> bool:
    return word.kind in ("副詞可能", "助数詞可能") or word.detail == "数詞"


def new_topic(text: str, excluded: Collection[str] = ()) -> str:
    """The new topic of a line, after its turn marker if it has one, or ""."""
    marker = turns(text)
    said = noun_phrases(text[marker[1] :] if marker else text, excluded)
    return said[0] if said else ""
