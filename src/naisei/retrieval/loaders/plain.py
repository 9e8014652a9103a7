"""Plain text: paragraphs by blank lines; numbered articles and marked lines are headings."""

from __future__ import annotations

import re

from naisei.japanese.sentences import outline_level
from naisei.retrieval.loaders.blocks import Blocks, Read

__all__ = ["read_plain"]

_RULE = re.compile(r"^\s*[-=*_─━＝ー～~]{4,}\s*$")
_TAB_ROW = re.compile(r"\S\t+\S")


def read_plain(text: str, most: int) -> Read:
    """Headings are lines such as 第3条（休暇）, 1.2 申請, 【連絡先】, ■ 手順, standing alone."""
    blocks = Blocks(most)
    held: list[str] = []
    title, text = _titled(text)
    blocks.heading(1, title)

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
            blocks.heading(level + 1, line)
        else:
            held.append(line.rstrip())
    flush()
    return Read(blocks.passages, title)


def _titled(text: str) -> tuple[str, str]:
    """(title, the rest): a first line that is short, no sentence, and stands alone."""
    first, _, rest = text.lstrip("\n").partition("\n")
    after, _, more = rest.partition("\n")
    alone = not after.strip() or _RULE.match(after) is not None
    said = first.strip(" \t\u3000=-#■●◆*【】")
    if (
        alone
        and rest.strip()
        and 1 < len(said) <= 50
        and not said.endswith(("。", "、", ".", ":", "："))
    ):
        return said, more if _RULE.match(after) else rest
    return "", text
