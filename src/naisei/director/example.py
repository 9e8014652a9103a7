"""How a rejected draft could look: rewritten from its own words, where that can be done safely."""

from __future__ import annotations

import re

from naisei.core import Status
from naisei.director.schemas import Draft
from naisei.japanese.folding import fold

__all__ = ["example"]

_SENTENCE = re.compile(r"[^。！？\n]+[。！？…]*")
#: Checks whose fault sits in words that can be left out.
_CUT = frozenset({"praise", "script", "setting", "logic", "scatter"})
_ASIDE = re.compile(r"（[^（）\n]*）|[*＊][^*＊\n]*[*＊]|[〈＜\[【][^〉＞\]】\n]*[〉＞\]】]")
_POLITE = tuple(
    (re.compile(rf"{plain}(?=[。！？…〜\s]|$)"), polite)
    for plain, polite in (
        ("だよね", "ですよね"),
        ("だよ", "ですよ"),
        ("だね", "ですね"),
        ("だな", "ですね"),
        ("じゃん", "ですよね"),
        ("かな", "でしょうか"),
        ("だろう?", "でしょう"),
        ("だった", "でした"),
        ("(?<=い)よ", "ですよ"),
        ("(?<=い)ね", "ですね"),
        ("(?<=[しいきっんれえ])て", "てください"),
        ("だ", "です"),
        ("(?<=[しなきた]い)", "です"),
    )
)
_CASUAL = tuple(
    (re.compile(rf"{polite}(?=[。！？…〜\s]|$)"), plain)
    for polite, plain in (
        ("でしょうか", "かな"),
        ("でしょう", "でしょ"),
        ("(?<=い)ですね", "ね"),
        ("(?<=い)ですよ", "よ"),
        ("(?<=い)です", ""),
        ("ですよね", "だよね"),
        ("ですよ", "だよ"),
        ("ですね", "だね"),
        ("でした", "だった"),
        ("です", "だよ"),
        ("てください", "て"),
        ("ありません", "ない"),
        ("しました", "した"),
        ("します", "する"),
        ("しましょう", "しよ"),
    )
)


def example(draft: Draft) -> str:
    """The draft without the words at fault, or with other endings; "" where nothing is left, or
    where it would take more than that."""
    found = next((c for c in draft.checks if c.status is Status.RETRY and c.name != "judge"), None)
    if found is None:
        return ""
    text = fold(draft.text).strip()
    if found.name == "tone":
        endings = _POLITE if "丁寧" in found.suggestion or "polite" in found.suggestion else _CASUAL
        rewritten = text
        for pattern, other in endings:
            rewritten = pattern.sub(other, rewritten)
        return rewritten if rewritten != text else ""
    if found.name not in _CUT:
        return ""
    if found.name == "script" and (spoken := _ASIDE.sub("", text).strip()) not in ("", text):
        return spoken
    faults = [fold(span) for span in found.evidence if span]
    kept = [s for s in _SENTENCE.findall(text) if not any(f and f in s for f in faults)]
    rewritten = "".join(kept).strip()
    return rewritten if rewritten and rewritten != text else ""
