"""Characters that no reader sees are no text: zero-width, direction and tag characters.

They smuggle instructions past people to models, and break words for the search.
"""

from __future__ import annotations

import re

from naisei.retrieval.loaders.blocks import Read

__all__ = ["seen", "seen_text"]

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
    # A variant of a letter has one selector; a row of them holds bytes.
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)


def seen_text(text: str) -> str:
    """The text without them; kanji keep their variant selectors (葛󠄀)."""
    return _UNSEEN.sub("", text)


def seen(read: Read) -> Read:
    """What was read, as a reader sees it; passages that were nothing else are left out."""
    read.title = seen_text(read.title)
    changed = (
        passage.model_copy(
            update={
                "text": seen_text(passage.text),
                "header": seen_text(passage.header),
                "headings": tuple(h for h in map(seen_text, passage.headings) if h),
            }
        )
        if _UNSEEN.search("\n".join((passage.text, passage.header, *passage.headings)))
        else passage
        for passage in read.passages
    )
    read.passages = [passage for passage in changed if passage.text.strip()]
    return read
