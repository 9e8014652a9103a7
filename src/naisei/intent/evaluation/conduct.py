"""How the assistant conducted itself: asking, answering, refusing, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from naisei.intent.evaluation.items import Item
from naisei.intent.evaluation.results import ItemResult
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric

__all__ = ["answering", "asking", "cost", "refusing"]


def _mean(name: str, values: Iterable[float | bool], seed: int, reason: str) -> Metric:
    return mean_metric(name, [float(v) for v in values], seed=seed, reason=reason)


def asking(group: str, results: Sequence[ItemResult], *, seed: int) -> list[Metric]:
    """routing_agreement: the first action is what the kind of question wants, see
    `naisei.intent.evaluation.results.EXPECTED`. asked: items asked back about at least once.
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
