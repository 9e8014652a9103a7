"""The metrics of a run of the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

import numpy as np

from naisei.intent.config import EvalConfig
from naisei.intent.evaluation.flow import ItemResult
from naisei.intent.evaluation.items import DEPTH, Item, Kind, first_rank
from naisei.intent.evaluation.tables import by_kind, cases, honesty
from naisei.runs.significance import paired_difference
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary

KS = (1, 3, 5, 10)
Ranks = Sequence[int | None]


def recall_at(ranks: Ranks, k: int) -> float:
    """1 if any gold passage is among the first `k`, else 0.

    Gold passages of one item say the same, so one is enough. Elsewhere this is called hit rate
    or success@k; where an item has one gold passage, it is recall@k (Manning et al. 2008, §8.4).
    """
    first = first_rank(ranks)
    return float(first is not None and first <= k)


def reciprocal_rank(ranks: Ranks) -> float:
    """1 / rank of the first gold passage, 0 beyond the first ten (Voorhees 1999, TREC-8)."""
    first = first_rank(ranks)
    return 1.0 / first if first is not None and first <= DEPTH else 0.0


def coverage_at(ranks: Ranks, k: int) -> float:
    """The share of the gold passages among the first `k`."""
    return sum(r is not None and r <= k for r in ranks) / len(ranks)


def _at(k: int) -> Callable[[Ranks], float]:
    return lambda ranks: recall_at(ranks, k)


#: Name → measure of one item's ranks.
MEASURES: dict[str, Callable[[Ranks], float]] = {
    **{f"recall@{k}": _at(k) for k in KS},
    f"mrr@{DEPTH}": reciprocal_rank,
    "coverage@5": lambda ranks: coverage_at(ranks, 5),
}


def ranking(group: str, results: Sequence[ItemResult], *, seed: int) -> list[Metric]:
    """Each measure over the items that have gold passages: `_before` and `_after` the talk, with
    a bootstrap interval, and `_gain`, their difference paired by item.

    group: put before each name, as `vague/`; empty for all items.
    """
    held = [r for r in results if r.before]
    reason = "no item with a gold passage was scored"
    out = []
    for name, measure in MEASURES.items():
        before = [measure(r.before) for r in held]
        after = [measure(r.after) for r in held]
        out += [
            mean_metric(f"{group}{name}_before", before, seed=seed, reason=reason),
            mean_metric(f"{group}{name}_after", after, seed=seed, reason=reason),
        ]
        d = paired_difference(before, after, seed=seed)
        gains = tuple(b - a for a, b in zip(before, after, strict=True))
        out.append(
            Metric(
                f"{group}{name}_gain",
                d.value,
                d.low,
                d.high,
                d.n,
                reason if not held else "",
                gains,
            )
        )
    return out


def _mean(name: str, values: Iterable[float | bool], seed: int, reason: str) -> Metric:
    return mean_metric(name, [float(v) for v in values], seed=seed, reason=reason)


def asking(group: str, results: Sequence[ItemResult], *, seed: int) -> list[Metric]:
    """routing_agreement: the first action is what the kind of question wants, see
    `naisei.intent.evaluation.flow.EXPECTED`. asked: items asked back about at least once.
    questions: per item."""
    none = "no such item was scored"
    return [
        _mean(f"{group}routing_agreement", (r.agrees for r in results), seed, none),
        _mean(f"{group}asked", (bool(r.exchanges) for r in results), seed, none),
        _mean(f"{group}questions", (len(r.exchanges) for r in results), seed, none),
    ]


def answering(group: str, results: Sequence[ItemResult], *, seed: int) -> list[Metric]:
    """Of the answers given. answer_support: share of their sentences that are borne out, the
    mean over answers. cited_gold: the answer cites a chunk that holds a gold passage, over
    items that have one. quotes_verbatim: quotes that stand in their chunks, over all quotes."""
    given = [r for r in results if r.answered]
    none = "no answer was given"
    support = [1 - min(1.0, r.unsupported / max(r.sentences, r.unsupported, 1)) for r in given]
    quotes = [r.verbatim / r.cited for r in given if r.cited]
    return [
        _mean(f"{group}answered", (r.answered for r in results), seed, "no such item was scored"),
        _mean(f"{group}answer_support", support, seed, none),
        _mean(f"{group}cited_gold", (r.cited_gold for r in given if r.before), seed, none),
        _mean(f"{group}quotes_verbatim", quotes, seed, "no quote was given"),
    ]


def refusing(
    items: Mapping[str, Item], results: Sequence[ItemResult], *, contacts: bool, seed: int
) -> list[Metric]:
    """refusals_right: items without a gold passage (unanswerable questions, and consultations
    that only a person can take) that were not answered. refusals_wrong: others that were not.
    contact_right: of those without a passage for which the item names a department, the share
    in which that department was named; needs a contacts file."""
    beyond = [r for r in results if not items[r.item].gold]
    within = [r for r in results if items[r.item].gold]
    known = [r for r in beyond if items[r.item].ask] if contacts else []
    why = "no department is on record for any item" if contacts else "no contacts file was given"
    return [
        _mean("refusals_right", (not r.answered for r in beyond), seed, "no item without gold"),
        _mean("refusals_wrong", (not r.answered for r in within), seed, "no item with gold"),
        _mean("contact_right", (_same(r.contact, items[r.item].ask) for r in known), seed, why),
    ]


def _same(named: str | None, wanted: str | None) -> bool:
    """Whether two names are of one department; 人事部 and 人事部労務課 are."""
    a, b = ("".join((name or "").split()) for name in (named, wanted))
    return bool(a and b) and (a.startswith(b) or b.startswith(a))


def cost(rows: Sequence[EpisodeRow], results: Sequence[ItemResult], *, seed: int) -> list[Metric]:
    """tokens: per item, of all roles but the simulated user's. latency_*: seconds from the
    question to the answer, the turns of one item together."""
    none = "no item was scored"
    used = [sum(u.tokens for u in row.usage if u.role != "simulator") for row in rows]
    seconds = np.array([r.seconds for r in results])
    out = [
        _mean("tokens", used, seed, none),
        _mean("latency_mean", seconds, seed, none),
    ]
    for name, share in (("latency_median", 0.5), ("latency_p95", 0.95)):
        value = float(np.quantile(seconds, share)) if len(seconds) else float("nan")
        out.append(Metric(name, value, n=len(seconds), reason="" if len(seconds) else none))
    failed = [bool(r.failures) for r in results]
    return [*out, _mean("fell_back", failed, seed, none)]


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
