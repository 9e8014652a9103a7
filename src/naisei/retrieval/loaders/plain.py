"""Plain text: paragraphs by blank lines; numbered articles and marked lines are headings."""

from __future__ import annotations

import re

from naisei.japanese.outline import outline_level
from naisei.retrieval.loaders.blocks import Blocks, Read

__all__ = ["read_plain"]

_RULE = re.compile(r"^\s*[-=*_─━＝ー～~]{4,}\s*$")
_TAB_ROW = re.compile(r"\S\t+\S")


def read_plain(text: str) -> Read:
    """Headings are lines such as 第3条（休暇）, 1.2 申請, 【連絡先】, ■ 手順, standing alone."""
    blocks = Blocks()
    held: list[str] = []

    def flush() -> None:
        if len(held) > 1 and all(_TAB_ROW.search(line) for line in held):
            blocks.table([re.split(r"\t+", line.strip()) for line in held])
        else:
            blocks.text("\n".join(held))
        held.clear()

    for line in text.split("\n"):
        if not line.strip() or _RULE.match(line):
            flush()
        elif (level := outline_level(line)) is not None:
            flush()
            blocks.heading(level, line)
        else:
            held.append(line.rstrip())
    flush()
    return Read(blocks.passages)
