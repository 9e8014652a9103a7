"""As much English as the checks need: words, cut to a rough stem."""

from __future__ import annotations

import re
from functools import lru_cache

from naisei.japanese.normal import normalise

__all__ = ["stem", "words"]

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_IRREGULAR = {
    "ate": "eat",
    "brought": "bring",
    "cold": "cold",
    "did": "do",
    "done": "done",
    "drank": "drink",
    "drunk": "drunk",
    "going": "go",
    "gone": "gone",
    "got": "get",
    "used": "use",
    "using": "use",
    "messy": "messy",
    "movies": "movie",
    "wiping": "wipe",
    "baking": "bake",
    "charging": "charge",
    "preparing": "prepare",
    "going to": "go",
    "thing": "thing",
    "things": "thing",
    "something": "something",
    "anything": "anything",
    "bring": "bring",
    "during": "during",
    "evening": "evening",
    "morning": "morning",
}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """`cooking` → `cook`, `snacks` → `snack`. Rough: for matching one word list to another."""
    if word in _IRREGULAR or "'" in word:
        return _IRREGULAR.get(word, word)
    for suffix, back in (
        ("ies", "y"),
        ("ing", ""),
        ("ied", "y"),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
    ):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            base = word[: -len(suffix)] + back
            if suffix == "es" and not base.endswith(("s", "x", "z", "ch", "sh", "o")):
                base += "e"
            if (
                suffix in ("ing", "ed")
                and len(base) > 3
                and base[-1] == base[-2]
                and base[-1] not in "ls"
            ):
                base = base[:-1]
            return base
    return word


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """The words of an English text in order, lower-cased and stemmed. `don't` stays whole."""
    return tuple(stem(w) for w in _WORD.findall(normalise(text).lower()))
