"""How long what people type, post or put into files may be: the one table of limits.

Everything that is tokenised, embedded or shown to a model is measured against it before any work
is done with it. Characters, unless said otherwise. What may be set for a server (`max_message`,
`max_upload`, …) has its default here.
"""

from __future__ import annotations

from naisei.core import InputError
from naisei.lang import say

__all__ = [
    "BODY",
    "FIELD",
    "LINE",
    "MESSAGE",
    "PASTED",
    "PROFILE",
    "UPLOAD",
    "bounded",
    "too_long",
]

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


def too_long(text: str, most: int) -> str:
    """What to tell a person about a text of more than `most` characters; empty if it fits."""
    if len(text) <= most:
        return ""
    return say(
        f"{len(text):,} 文字あり、長すぎます ({most:,} 文字まで)",
        f"is too long: {len(text):,} characters (at most {most:,})",
    )


def bounded(text: str, most: int, *, place: str, remedy: str = "") -> str:
    """The text.

    Raises:
        InputError: it is longer than `most` characters.
    """
    if told := too_long(text, most):
        shorter = say("短くするか、分けてください", "shorten it, or give it in parts")
        raise InputError(told, place=place, remedy=remedy or shorter)
    return text
