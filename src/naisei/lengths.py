"""Limits on the length of user input, in one table.

Text is checked before it is tokenised, embedded or sent to a model. In characters unless noted.
Settings of a server (`max_message`, `max_upload`, …) has its default here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from naisei.core import InputError
from naisei.lang import say

#: One message of a person: a request, a question, an answer, a message of a chat.
MESSAGE = 4_000
#: A line of a dialogue that is checked, rated or talked about; models write some of them.
LINE = 20_000
#: A field of a form, or an option: a topic, a place, a thing.
FIELD = 500
#: A description in words: a persona, a character, a scene with its surroundings.
PROFILE = 20_000
#: A document that is pasted into a page.
PASTED = 300_000
#: Bytes of a request without files, and of an uploaded document.
BODY, UPLOAD = 1_000_000, 20_000_000
#: Bytes of a named text file: data, settings, a dialogue.
TEXT_FILE = 200_000_000
#: Bytes of a file of text that is read where it is asked for; larger ones, and all PDF and office
#: files, are read in a process of their own (`naisei.sandbox`).
SMALL_FILE = 64_000
#: Of that process: seconds of processor time for a file, bytes of memory, bytes of what it found.
PARSE_SECONDS, PARSE_MEMORY, PARSE_OUTPUT = 10.0, 500_000_000, 100_000_000
#: Bytes of an endpoint's reply, unpacked: as a whole, and as a stream of pieces with what is around
#: each. Characters of the text in it, without what was thought aloud. Its time is
#: `ModelSettings.timeout`.
REPLY, REPLY_STREAM, REPLY_TEXT = 4_000_000, 64_000_000, 200_000
#: Of a server: seconds for the head of a request, connections on which none has come yet.
HEADERS_SECONDS, HEADERS_WAITING = 10.0, 500
#: Wrong tokens from one address within so many seconds; then none is looked at for as long.
GUESSES, GUESS_SECONDS = 10, 60.0
#: Stored conversations of the web pages: per visitor, in all; and days of disuse until removal,
#: also the life of a visitor's cookie.
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
    """The message for a text of more than `most` characters; empty if it fits."""
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
