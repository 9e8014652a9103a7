"""Word lists by class (`speech_words.toml`), found by dictionary or normalised form."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from naisei.japanese.morph import tokens
from naisei.japanese.spoken import Sentence

__all__ = ["WordList"]


class WordList:
    """The words of some classes together. A word of several parts is found as written."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @property
    def words(self) -> frozenset[str]:
        """Words of a single part, each in every form in which it is found."""
        return _compiled(self._names)[0]

    def find(self, sentence: Sentence) -> list[str]:
        """Words of the list in a sentence, as said, in order; a place counts once."""
        single, several = _compiled(self._names)
        spans = [m.span() for m in several.finditer(sentence.text)]
        for w in sentence.words:
            if (w.lemma in single or w.form in single) and not any(
                a <= w.start < b for a, b in spans
            ):
                spans.append((w.start, w.end))
        return [sentence.text[a:b] for a, b in sorted(spans)]


@lru_cache(maxsize=1)
def _lists() -> dict[str, str]:
    text = (files("naisei.japanese") / "speech_words.toml").read_text(encoding="utf-8")
    return {name: str(value) for name, value in tomllib.loads(text).items()}


@lru_cache(maxsize=16)
def _compiled(names: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    single: set[str] = set()
    several: list[str] = []
    for word in " ".join(_lists()[name] for name in names).split():
        found = tokens(word)
        if len(found) == 1:
            single |= {word, found[0].lemma, found[0].form}
        else:
            several.append(word)
    pattern = "|".join(map(re.escape, sorted(several, key=len, reverse=True))) or r"(?!)"
    return frozenset(single), re.compile(pattern)
