"""How long what people type, post or put into files may be: the one table of limits.

Everything that is tokenised, embedded or shown to a model is measured against it before any work
is done with it. Characters, unless said otherwise. What may be set for a server (`max_message`,
`max_upload`, …) has its default here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from naisei.core import InputError
from naisei.lang import say

#: What a person says at once: a request, a question, an answer, a message of a chat.
MESSAGE = 4_000
#: A line of a dialogue that is checked, rated or talked about; models write some of them.
LINE = 20_000
#: A field of a form, or an option: a topic, a place, what somebody holds.
FIELD = 500
#: A description in words: a persona, a character, a scene with its surroundings.
PROFILE = 20_000
#: A document that is pasted into a page.
PASTED = 300_000
#: Bytes of a request without files, and of an uploaded document.
BODY, UPLOAD = 1_000_000, 20_000_000
#: Bytes of a file of text that somebody names: data, settings, a dialogue.
TEXT_FILE = 200_000_000
#: Bytes of a file of text that is read where it is asked for; larger ones, and all PDF and office
#: files, are read in a process of their own (`naisei.sandbox`).
SMALL_FILE = 64_000
#: Of that process: seconds of processor time for a file, bytes of memory, bytes of what it found.
PARSE_SECONDS, PARSE_MEMORY, PARSE_OUTPUT = 10.0, 500_000_000, 100_000_000
#: Bytes of what a model's endpoint answers, unpacked: as a whole, and as a stream of pieces with
#: what is around each. Characters of the text in it, without what was thought aloud. Its time is
#: `ModelSettings.timeout`.
REPLY, REPLY_STREAM, REPLY_TEXT = 4_000_000, 64_000_000, 200_000
#: Of a server: seconds for the head of a request, connections on which none has come yet.
HEADERS_SECONDS, HEADERS_WAITING = 10.0, 500
#: Wrong tokens from one address within so many seconds; then none is looked at for as long.
GUESSES, GUESS_SECONDS = 10, 60.0
#: Conversations that the web pages keep: of one visitor, of all; and days without anybody looking
#: after which one is removed. A visitor's cookie lasts as long: nobody can come back to it then.
KEPT_OF_ONE, KEPT_IN_ALL, KEPT_DAYS = 500, 20_000, 365
#: Values within values of a JSON or TOML text of others.
JSON_DEPTH = 100


T = TypeVar("T")
#: Characters of a text that is remembered with thousands of others; of longer ones, the last few.
_REMEMBERED, _FEW = 300, 16


def cached_text(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """`functools.lru_cache` for a function of one text, with bounded memory: long texts do not
    stay. most: texts that are remembered."""

    def remembering(function: Callable[[str], T]) -> Callable[[str], T]:
        many, few = lru_cache(most)(function), lru_cache(_FEW)(function)

        @wraps(function)
        def remembered(text: str) -> T:
            return many(text) if len(text) <= _REMEMBERED else few(text)

        def forget() -> None:
            many.cache_clear()
            few.cache_clear()

        vars(remembered)["cache_clear"] = forget  # as `lru_cache` has it
        return remembered

    return remembering


def too_long(text: str, most: int) -> str:
    """What to tell a person about a text of more than `most` characters; empty if it fits."""
    if len(text) <= most:
        return ""
    return say(
        f"{len(text):,} 文字あり、長すぎます ({most:,} 文字まで)",
        f"is too long: {len(text):,} characters (at most {most:,})",
    )


def bounded(text: str, most: int, *, place: str) -> str:
    """The text.

    Raises:
        InputError: it is longer than `most` characters.
    """
    if told := too_long(text, most):
        shorter = say("短くするか、分けてください", "shorten it, or give it in parts")
        raise InputError(told, place=place, remedy=shorter)
    return text
