"""The title that the front matter of a Markdown file gives, YAML or TOML."""

from __future__ import annotations

import re

from naisei.retrieval.loaders.markdown import split_front_matter

__all__ = ["front_matter"]

_FRONT = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?)\n\+\+\+)"
    r"[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_PAIR = re.compile(r"^[^\s:#\-][^:]*:(?:\s|$)", re.M)
_TOML_TITLE = re.compile(r"^title\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.M)


def front_matter(text: str) -> tuple[str, int]:
    """Title ("" if it gives none), and how many characters of the text are front matter.

    >>> front_matter("---\\ntitle: 猫の話\\n---\\n本文")
    ('猫の話', 22)
    """
    found = _FRONT.match(text)
    if found is None or (found["yaml"] is not None and not _PAIR.search(found["yaml"])):
        return "", 0
    if found["yaml"] is None:
        named = _TOML_TITLE.search(found["toml"])
        return (named[1] or named[2] or "" if named else ""), found.end()
    title = split_front_matter(found[0])[0].get("title")
    return (title if isinstance(title, str) else ""), found.end()
