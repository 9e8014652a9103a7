"""One line an item, for spreadsheets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from naisei.intent.evaluation.gold import first_rank
from naisei.intent.evaluation.items import Item
from naisei.intent.evaluation.results import ItemResult
from naisei.runs.task import EpisodeRow, Table

__all__ = ["COLUMNS", "item_table"]

COLUMNS = (
    "item",
    "kind",
    "split",
    "text",
    "first",
    "agrees",
    "cases",
    "questions",
    "rank_before",
    "rank_after",
    "query",
    "rewritten",
    "answered",
    "cited_gold",
    "unsupported",
    "contact",
    "seconds",
    "tokens",
    "failure",
)


def item_table(items: Mapping[str, Item], rows: Sequence[EpisodeRow]) -> Table:
    """What came of every item; an unscored one has its failure, and nothing else."""
    lines: list[tuple[str | float | int, ...]] = []
    for row in rows:
        item = items[row.where.instance]
        tokens = sum(usage.tokens for usage in row.usage)
        head = (item.id, item.kind, item.split, item.text)
        if row.result is None:
            blank = [""] * (len(COLUMNS) - len(head) - 2)
            lines.append((*head, *blank, tokens, row.failure))
            continue
        r = ItemResult.model_validate(row.result)
        lines.append(
            (
                *head,
                r.first,
                int(r.agrees),
                " ".join(map(str, r.cases)),
                len(r.exchanges),
                first_rank(r.before) or math.nan,
                first_rank(r.after) or math.nan,
                r.query,
                r.rewritten,
                int(r.answered),
                int(r.cited_gold),
                r.unsupported,
                r.contact or "",
                round(r.seconds, 4),
                tokens,
                "; ".join(r.failures),
            )
        )
    return Table("items", COLUMNS, tuple(lines))
