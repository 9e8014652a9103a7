"""Front matter of a text: `key: value` lines between two `---` at its very beginning."""

from __future__ import annotations

import re

from pydantic import JsonValue

__all__ = ["split_front_matter"]

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([^\s:#\-][^:：]*?)\s*[:：]\s*(.*)$")
_LONGEST = 10_000


def split_front_matter(text: str) -> tuple[dict[str, JsonValue], str]:
    """(keys and values, the rest of the text). Values are text, or lists of text (`[a, b]` or
    `- a` lines). Nested mappings are not read; a block that holds no pair is text.

    >>> split_front_matter("---\\ntitle: 旅費規程\\ntags: [出張, 経費]\\n---\\n本文")
    ({'title': '旅費規程', 'tags': ['出張', '経費']}, '本文')
    """
    block = _BLOCK.match(text[:_LONGEST])
    if block is None:
        return {}, text
    meta: dict[str, JsonValue] = {}
    items: list[JsonValue] | None = None
    for line in block[1].split("\n"):
        if items is not None and (item := re.match(r"^\s*-\s+(.*)$", line)):
            items.append(_bare(item[1]))
        elif pair := _PAIR.match(line):
            key, value = pair[1].strip(), pair[2].strip()
            items = None
            if value.startswith("[") and value.endswith("]"):
                meta[key] = [_bare(v) for v in value[1:-1].split(",") if v.strip()]
            elif value:
                meta[key] = _bare(value)
            else:
                items = []
                meta[key] = items
    return (meta, text[block.end() :]) if meta else ({}, text)


def _bare(value: str) -> str:
    value = re.sub(r"\s+#.*$", "", value).strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
