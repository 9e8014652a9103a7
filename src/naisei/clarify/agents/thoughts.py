"""What goes through a model-free agent's mind, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.clarify.schemas import Language

__all__ = ["leading", "thought"]

_WHY = {
    "ja": {
        "ask": "このまま動くより、先に一つ伺ったほうがよさそうだ。",
        "execute": "これ以上伺うより、動いてみるほうがよさそうだ。",
        "must": "もう質問はできないので、いちばん見込みのあるものを選ぶ。",
    },
    "en": {
        "ask": "Asking one thing first looks better than acting now.",
        "execute": "Acting now looks better than asking on.",
        "must": "No question is left, so the likeliest it is.",
    },
}


def leading(texts: Sequence[str], chances: Sequence[float], language: Language) -> str:
    """The leading hypotheses with their probabilities, as a sentence."""
    percent = [f"{round(100 * p)}%" for p in chances]
    if language == "ja":
        named = [f"「{text}」（{p}）" for text, p in zip(texts, percent, strict=True)]
        rest = "、次に" + "、".join(named[1:]) if len(named) > 1 else ""
        return f"いちばんありそうなのは{named[0]}{rest}。"
    named = [f'"{text}" ({p})' for text, p in zip(texts, percent, strict=True)]
    rest = ", then " + ", ".join(named[1:]) if len(named) > 1 else ""
    return f"Most likely {named[0]}{rest}."


def thought(texts: Sequence[str], chances: Sequence[float], why: str, language: Language) -> str:
    """`leading`, and why it asks or executes. why: `ask`, `execute` or `must`."""
    space = "" if language == "ja" else " "
    return leading(texts, chances, language) + space + _WHY[language][why]
