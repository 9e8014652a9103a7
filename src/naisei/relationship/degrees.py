"""The numbers of a relation vector in words, for prompts and for people."""

from __future__ import annotations

from naisei.relationship.vector import DIMENSIONS, RelationVector

__all__ = ["NAMES_JA", "degree", "signed", "worded"]

#: Dimension → its name in Japanese.
NAMES_JA = {"Power": "力関係", "Intimacy": "親密度", "TaskOriented": "タスク指向"}

_JA = {
    "Power": ("すっかり従う", "従う立場", "やや下手", "対等", "やや優位", "優位", "強く優位"),
    "Intimacy": (
        "よそよそしい",
        "疎遠",
        "やや距離がある",
        "ふつう",
        "やや親しい",
        "親しい",
        "とても親しい",
    ),
    "TaskOriented": (
        "雑談のみ",
        "おもに雑談",
        "やや雑談寄り",
        "半々",
        "やや用件寄り",
        "おもに用件",
        "用件のみ",
    ),
}
_EN = {
    "Power": ("wholly submissive", "deferent", "slightly lower", "equal", "slightly above",
              "dominant", "strongly dominant"),
    "Intimacy": ("aloof", "distant", "slightly distant", "neutral", "slightly close", "close",
                 "very close"),
    "TaskOriented": ("small talk only", "mostly small talk", "rather small talk", "half and half",
                     "rather the task", "mostly the task", "the task only"),
}  # fmt: skip


def degree(dimension: str, value: int, language: str) -> str:
    """A value from −3 to 3 in a word or three."""
    return (_JA if language == "ja" else _EN)[dimension][value + 3]


def signed(value: int) -> str:
    """`+2`, `-1`, `0`."""
    return f"{value:+d}" if value else "0"


def worded(vector: RelationVector, language: str) -> list[str]:
    """One text a dimension: `Power: -2（従う立場）`."""
    marks = "（）" if language == "ja" else "()"
    space = "" if language == "ja" else " "
    return [
        f"{name}: {signed(value)}{space}{marks[0]}{degree(name, value, language)}{marks[1]}"
        for name, value in zip(DIMENSIONS, vector.values, strict=True)
    ]
