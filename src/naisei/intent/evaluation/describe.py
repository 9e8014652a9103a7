"""One item in plain words."""

from __future__ import annotations

from naisei.intent.evaluation.gold import first_rank
from naisei.intent.evaluation.items import Item
from naisei.intent.evaluation.results import ItemResult
from naisei.lang import say

__all__ = ["transcript"]


def transcript(item: Item, result: ItemResult) -> str:
    """The talk, what was searched for, and where the gold passages stood."""
    you, agent = say("ユーザー", "user"), say("内省", "naisei")
    lines = [f"{item.kind} · {say('ケース', 'cases')} {', '.join(map(str, result.cases))}"]
    if item.intent:
        lines.append(f"{say('本当の意図', 'hidden wish')}: {item.intent}")
    lines.append(f"{you}: {item.text}")
    for exchange in result.exchanges:
        lines += [f"{agent}: {exchange.question}", f"{you}: {exchange.answer}"]
    if result.query:
        lines.append(f"{say('検索', 'search')} ({result.rewritten}): {result.query}")
    if item.gold:
        before, after = (first_rank(r) or "–" for r in (result.before, result.after))
        lines.append(f"{say('正解の順位', 'rank of gold')}: {before} → {after}")
        lines += [f"  {gold.path}: {gold.quote}" for gold in item.gold]
    lines.append(f"{agent}: {result.answer or say('（答えなし）', '(no answer)')}")
    if result.contact:
        lines.append(f"{say('問い合わせ先', 'ask')}: {result.contact}")
    lines += [f"{say('測定エラー', 'instrument failure')}: {f}" for f in result.failures]
    return "\n".join(lines)
