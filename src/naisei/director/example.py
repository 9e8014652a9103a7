"""An example rewrite of a rejected draft, the content to keep, and whether a rewrite kept it."""

from __future__ import annotations

import re

from naisei.core import Status
from naisei.director.schemas import Draft
from naisei.director.wording.noun_phrases import noun_phrases
from naisei.japanese.content_preservation import missing
from naisei.japanese.folding import fold

#: Number of phrases to keep that the writer is given.
_KEPT = 4

_SENTENCE = re.compile(r"[^。！？\n]+[。！？…]*")
#: Checks whose fault is in words that can be left out.
_CUT = frozenset({"praise", "script", "setting", "logic", "scatter"})
#: Checks whose evidence must not be repeated.
_BREACHES = frozenset({"format", "setting", "praise", "logic", "script"})
#: A form of address by itself.
_CALL = re.compile(r"[^、。！？\s]{0,8}(?:ちゃん|さん|様|さま|くん|貴|先輩|姉|ねえ)")
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
    """The draft without the words at fault, or with other endings; "" if nothing is left or that is
    not enough."""
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


def content(draft: Draft) -> tuple[str, ...]:
    """The content to keep: the first noun phrases without a fault."""
    return tuple(noun_phrases(_without_faults(draft))[:_KEPT])


def keeps(rejected: Draft, rewrite: Draft) -> bool:
    """Whether a rewrite keeps the content: at least half of `content`, and every quantity."""
    wanted, text = content(rejected), fold(rewrite.text)
    held = sum(phrase in text for phrase in wanted)
    return held * 2 >= len(wanted) and not missing(_without_faults(rejected), text)


def _without_faults(draft: Draft) -> str:
    """The sentences without a fault, since the rest of a faulty sentence may belong to it. For a
    wrong form of address only the address is removed."""
    text, faults = fold(draft.text), []
    for check in draft.checks:
        spans = [fold(span) for span in check.evidence if span]
        if check.name == "setting" and all(_CALL.fullmatch(span) for span in spans):
            for span in spans:
                text = text.replace(span, "")
        elif check.name in _BREACHES:
            faults += spans
    if draft.judgement is not None and draft.judgement.status is not Status.PASS:
        faults += [fold(said.quote) for said in draft.judgement.scores if said.quote.strip()]
    return "".join(
        sentence
        for sentence in _SENTENCE.findall(text)
        if not any(fault in sentence or sentence in fault for fault in faults)
    )
