"""What has to be said wherever the embedded model's figures are shown."""

from __future__ import annotations

__all__ = ["NOTICE_EN", "NOTICE_JA"]

NOTICE_JA = (
    "組み込みの小型言語モデルは、仕組みが動くことを示すためのものです。"
    "この数値をもとに手法の良し悪しを論じることはできません。"
)
NOTICE_EN = (
    "The small embedded language model shows that the machinery works. "
    "Its figures support no claim about the quality of a method."
)
