"""Limits on the length of user input, in one table.

Text is checked before it is tokenised, embedded or sent to a model. Limits are in characters unless
noted. Server settings (`max_message`, `max_upload`, …) have their defaults here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from naisei.core import InputError
from naisei.lang import say

#: One message of a person: a request, a question, an answer, a chat message.
MESSAGE = 4_000
#: A line of a dialogue that is checked, rated or discussed; models write some of them.
LINE = 20_000
#: A field of a form, or an option: a topic, a place, a thing.
FIELD = 500
#: A description in words: a persona, a character, a scene with its surroundings.
PROFILE = 20_000
#: A document pasted into a page.
PASTED = 300_000
#: Bytes of a request without files, and of an uploaded document.
BODY, UPLOAD = 1_000_000, 20_000_000
#: Bytes of a named text file: data, settings, a dialogue.
TEXT_FILE = 200_000_000
#: Maximum bytes of a text file parsed in the main process; larger ones, and all PDF and office
#: files, are parsed in a separate process (`naisei.sandbox`).
SMALL_FILE = 64_000
#: Limits of that process: seconds of processor time per file, bytes of memory, bytes of output.
PARSE_SECONDS, PARSE_MEMORY, PARSE_OUTPUT = 10.0, 500_000_000, 100_000_000
#: Maximum bytes of an endpoint's decompressed reply, as a whole and as a stream of parts with their
#: envelopes; maximum characters of its text, without reasoning. `ModelSettings.timeout` limits its
#: time.
REPLY, REPLY_STREAM, REPLY_TEXT = 4_000_000, 64_000_000, 200_000
#: Server limits: seconds for the head of a request, connections still without one.
HEADERS_SECONDS, HEADERS_WAITING = 10.0, 500
#: Wrong tokens from one address within this many seconds; then all are rejected for as long.
GUESSES, GUESS_SECONDS = 10, 60.0
#: Stored conversations of the web pages: per visitor and in total; and days without use until
#: removal, also the lifetime of a visitor's cookie.
KEPT_OF_ONE, KEPT_IN_ALL, KEPT_DAYS = 500, 20_000, 365
#: Maximum nesting depth of untrusted JSON or TOML.
JSON_DEPTH = 100


T = TypeVar("T")
#: Maximum length of a text cached with thousands of others; of longer ones, only the last few.
_REMEMBERED, _FEW = 300, 16


def cached_text(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """`functools.lru_cache` for a function of one text, with bounded memory: few long texts are
    cached. most: number of cached texts."""

    def remembering(function: Callable[[str], T]) -> Callable[[str], T]:
        many, few = lru_cache(most)(function), lru_cache(_FEW)(function)

        @wraps(function)
        def remembered(text: str) -> T:
            return many(text) if len(text) <= _REMEMBERED else few(text)

        def forget() -> None:
            many.cache_clear()
            few.cache_clear()

        vars(remembered)["cache_clear"] = forget  # same as in `lru_cache`
        return remembered

    return remembering


def too_long(text: str, most: int) -> str:
    """The error message for a text of more than `most` characters; empty if it fits."""
    if len(text) <= most:
        return ""
    return say(
        f"{len(text):,} 文字あり、長すぎます ({most:,} 文字まで)",
        f"is too long: {len(text):,} characters (at most {most:,})",
    )


def bounded(text: str, most: int, *, place: str) -> str:
    """Return the text unchanged.

    Raises:
        InputError: it is longer than `most` characters.
    """
    if told := too_long(text, most):
        shorter = say("短くするか、分けてください", "shorten it, or give it in parts")
        raise InputError(told, place=place, remedy=shorter)
    return text
