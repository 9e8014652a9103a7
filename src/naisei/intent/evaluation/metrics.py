"""What a run of the evaluation amounts to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from naisei.intent.evaluation.conduct import answering, asking, cost, refusing
from naisei.intent.evaluation.config import EvalConfig
from naisei.intent.evaluation.items import Item, Kind
from naisei.intent.evaluation.ranking import ranking
from naisei.intent.evaluation.results import ItemResult
from naisei.intent.evaluation.tables import by_kind, cases, honesty
from naisei.runs.task import EpisodeRow, Metric, Summary

__all__ = ["summarise"]


def summarise(
    config: EvalConfig,
    items: Mapping[str, Item],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
) -> Summary:
    """All metrics over the scored rows: of all items, and of each kind (`vague/recall@5_gain`)."""
    scored = [row for row in rows if row.scored]
    results = [ItemResult.model_validate(row.result) for row in scored]
    seed = config.seed
    metrics: list[Metric] = []
    for kind in ("", *get_args(Kind)):
        mine = [r for r in results if kind in ("", r.kind)]
        group = f"{kind}/" if kind else ""
        metrics += asking(group, mine, seed=seed)
        metrics += answering(group, mine, seed=seed)
        if kind != "unanswerable":
            metrics += ranking(group, mine, seed=seed)
    contacts = bool(config.contacts.contact)
    metrics += refusing(items, results, contacts=contacts, seed=seed)
    metrics += cost(scored, results, seed=seed)
    tables = (by_kind(metrics), cases(results), honesty(items, results))
    units = [r.item for r in results]
    paired = [m.name for m in metrics if units and len(m.per_unit) == len(units)]
    extra = {"units": units, "clusters": units, "paired": paired}
    return Summary(tuple(metrics), tables, tuple(notes), extra)
