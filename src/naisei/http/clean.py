"""What leaves the server is plain text: no HTML, no image that loads by itself, nothing unseen.

An answer quotes documents and models, and a front end may render it as HTML or Markdown.
"""

from __future__ import annotations

import html
import re

import nh3
from pydantic import JsonValue

__all__ = ["clean", "cleaned"]

#: A `<` opens markup only before one of these (HTML Living Standard, tag open state).
_OPENS = re.compile(r"<(?=[A-Za-z/!?])")
#: … and a tag that is not closed before the next one would swallow what people wrote: `a<b`.
_NEVER_CLOSED = re.compile(r"<(?=[A-Za-z/!?])(?![^<]*>)")
#: Control characters but tab and line breaks; zero-width, bidirectional and tag characters.
_UNSEEN = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u200b\\u200e\\u200f\\u2028-\\u202e"
    "\\u2060-\\u2069\\ufeff\\U000e0000-\\U000e007f]"
)


def clean(text: str) -> str:
    """The text without markup that a page or a Markdown renderer would act on.

    Tags go, with what is inside script and style; `a < b` stays. An image becomes a link's
    text, and a link's address is set apart from its text, so that nothing is fetched unasked
    and nobody is led elsewhere under another name. Citation marks such as [1] stay.

    >>> clean('残業は 45 時間 < 上限<script>x()</script> [1] ![a](https://x.invalid)')
    '残業は 45 時間 < 上限 [1] [a] (https://x.invalid)'
    """
    text = _UNSEEN.sub("", text)
    if "<" in text:
        text = _NEVER_CLOSED.sub("＜", text)
        text = html.unescape(nh3.clean(text.replace("&", "&amp;"), tags=set()))
        # What was written as an entity must not become a tag when it is shown.
        text = _OPENS.sub("＜", text)
    return text.replace("![", "[").replace("](", "] (").replace("]:", "] :")


def cleaned(value: JsonValue) -> JsonValue:
    """`clean` on every text within a JSON value; keys stay as they are."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(v) for v in value]
    if isinstance(value, dict):
        return {k: cleaned(v) for k, v in value.items()}
    return value
