"""The metrics and tables of an evaluation run, and the text display of an item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from pydantic import JsonValue

from naisei.intent import lines
from naisei.intent.config import EvalConfig
from naisei.intent.evaluation.flow import EXPECTED, ItemResult
from naisei.intent.evaluation.items import DEPTH, Item, Kind, digest, first_rank
from naisei.lang import say
from naisei.runs.lines import Line
from naisei.runs.significance import paired_difference
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Digest, EpisodeRow, Metric, Summary, Table

KS = (1, 3, 5, 10)
Ranks = Sequence[int | None]


def recall_at(ranks: Ranks, k: int) -> float:
    """1 if any gold passage is among the first `k`, else 0.

    Gold passages of one item are equivalent, so one is enough. This is also called hit rate or
    success@k; for an item with one gold passage, it is recall@k (Manning et al. 2008, §8.4).
    """
    first = first_rank(ranks)
    return float(first is not None and first <= k)


def reciprocal_rank(ranks: Ranks) -> float:
    """1 / rank of the first gold passage, 0 beyond the first ten (Voorhees 1999, TREC-8)."""
    first = first_rank(ranks)
    return 1.0 / first if first is not None and first <= DEPTH else 0.0


def _at(k: int) -> Callable[[Ranks], float]:
    return lambda ranks: recall_at(ranks, k)


#: Name → measure of one item's ranks.
MEASURES: dict[str, Callable[[Ranks], float]] = {
    **{f"recall@{k}": _at(k) for k in KS},
    f"mrr@{DEPTH}": reciprocal_rank,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """The scored items; each metric uses one kind or all.

    clusters: the passage of each result, since questions about one passage are dependent.
    definition: settings of all metrics.
    """

    results: Sequence[ItemResult]
    clusters: Sequence[str]
    definition: Mapping[str, JsonValue]

    def mean(
        self,
        name: str,
        of: Callable[[ItemResult], float | bool | None],
        reason: str,
        *,
        share: bool = True,
        paired: bool | None = None,
    ) -> Metric:
        """Return the mean over the kind in the prefix of `name` (`vague/`), or over all; `None`
        skips an item. Metrics of all items can be paired, others only if `paired` says so."""
        kind, _, _ = name.rpartition("/")
        return mean_metric(
            name,
            [None if kind not in ("", r.kind) else of(r) for r in self.results],
            clusters=self.clusters,
            share=share,
            paired=not kind if paired is None else paired,
            definition=self.definition,
            reason=reason,
        )


def ranking(group: str, of: Measured) -> list[Metric]:
    """Compute each measure over the items with gold passages, as `_before` and `_after` the
    dialogue and `_gain`, the difference paired by item.

    group: prefix of each name, such as `vague/`; empty for all items.
    """
    every = zip(of.results, of.clusters, strict=True)
    held = [(r, c) for r, c in every if r.before and group in ("", f"{r.kind}/")]
    reason = "no item with a gold passage was scored"
    out = []
    for name, measure in MEASURES.items():
        paired = not group or name in ("recall@5", f"mrr@{DEPTH}")
        out += [
            of.mean(f"{group}{name}_before", _of(measure, "before"), reason),
            of.mean(f"{group}{name}_after", _of(measure, "after"), reason, paired=paired),
        ]
        before, after = [measure(r.before) for r, _ in held], [measure(r.after) for r, _ in held]
        d = paired_difference(before, after, clusters=[c for _, c in held], share=True)
        gain = Metric(f"{group}{name}_gain", d.value, d.low, d.high, d.n, d.reason)
        out.append(gain if held else replace(gain, reason=reason))
    return out


def _of(measure: Callable[[Ranks], float], side: str) -> Callable[[ItemResult], float | None]:
    return lambda r: measure(getattr(r, side)) if r.before else None


def asking(group: str, of: Measured) -> list[Metric]:
    """routing_agreement: the first action is the expected one, see
    `naisei.intent.evaluation.flow.EXPECTED`. asked: items with at least one question back.
    questions: per item. leaked: dialogues in which the user said words of the gold passage before
    receiving them (the audit of the simulated user)."""
    none = "no such item was scored"
    return [
        of.mean(f"{group}routing_agreement", lambda r: r.agrees, none),
        of.mean(f"{group}asked", lambda r: bool(r.exchanges), none),
        of.mean(f"{group}questions", lambda r: len(r.exchanges), none, share=False),
        of.mean(
            f"{group}leaked",
            lambda r: bool(r.leaked) if r.exchanges else None,
            "nothing was asked back",
        ),
    ]


def answering(group: str, of: Measured) -> list[Metric]:
    """Metrics of the answers. answer_support: share of supported sentences, averaged over answers.
    cited_gold: the answer cites a chunk that contains a gold passage, over items that have one."""
    none = "no answer was given"

    def support(r: ItemResult) -> float | None:
        return 1 - min(1.0, r.unsupported / max(r.sentences, r.unsupported, 1))

    return [
        of.mean(f"{group}answered", lambda r: r.answered, "no such item was scored"),
        of.mean(f"{group}answer_support", lambda r: support(r) if r.answered else None, none),
        of.mean(
            f"{group}cited_gold", lambda r: r.cited_gold if r.answered and r.before else None, none
        ),
    ]


def refusing(items: Mapping[str, Item], of: Measured, *, contacts: bool) -> list[Metric]:
    """refusals_right: unanswered items without a gold passage (unanswerable questions, and
    consultations that only a person can take). refusals_wrong: unanswered items with one.
    contact_right: of the items without a passage that name a department, the share in which that
    department was named; needs a contacts file."""

    def refused(gold: bool) -> Callable[[ItemResult], bool | None]:
        return lambda r: None if bool(items[r.item].gold) != gold else not r.answered

    def named(r: ItemResult) -> bool | None:
        item = items[r.item]
        known = contacts and item.ask and not item.gold
        return _same(r.contact, item.ask) if known else None

    why = "no department is on record for any item" if contacts else "no contacts file was given"
    return [
        of.mean("refusals_right", refused(gold=False), "no item without gold"),
        of.mean("refusals_wrong", refused(gold=True), "no item with gold"),
        of.mean("contact_right", named, why),
    ]


def _same(named: str | None, wanted: str | None) -> bool:
    """Whether two names refer to one department; 人事部 and 人事部労務課 do."""
    a, b = ("".join((name or "").split()) for name in (named, wanted))
    return bool(a and b) and (a.startswith(b) or b.startswith(a))


def cost(rows: Sequence[EpisodeRow], of: Measured) -> list[Metric]:
    """tokens: per item, for all roles except the simulated user. latency_*: seconds from the
    question to the answer, summed over the turns of an item."""
    none = "no item was scored"
    used = {
        row.where.instance: sum(u.tokens for u in row.usage if u.role != "simulator")
        for row in rows
    }
    seconds = np.array([r.seconds for r in of.results])
    out = [
        of.mean("tokens", lambda r: used[r.item], none, share=False),
        of.mean("latency_mean", lambda r: r.seconds, none, share=False),
    ]
    for name, share in (("latency_median", 0.5), ("latency_p95", 0.95)):
        value = float(np.quantile(seconds, share)) if len(seconds) else float("nan")
        out.append(Metric(name, value, n=len(seconds), reason="" if len(seconds) else none))
    return [*out, of.mean("fell_back", lambda r: bool(r.failures), none)]


def passages(items: Mapping[str, Item]) -> dict[str, str]:
    """Item → the passage that it is about; the item itself if no passage answers."""
    return {
        name: " ".join(item.gold[0].quote.split()) if item.gold else name
        for name, item in items.items()
    }


def summarise(
    config: EvalConfig,
    items: Mapping[str, Item],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
) -> Summary:
    """All metrics over the scored rows, for all items and for each kind (`vague/recall@5_gain`)."""
    scored = [row for row in rows if row.scored]
    results = [ItemResult.model_validate(row.result) for row in scored]
    of = passages(items)
    given = {"data": digest(list(items.values()))[:12], "user": config.user}
    measured = Measured(results, [of[r.item] for r in results], given)
    metrics: list[Metric] = []
    for kind in ("", *get_args(Kind)):
        group = f"{kind}/" if kind else ""
        metrics += asking(group, measured)
        metrics += answering(group, measured)
        if kind != "unanswerable":
            metrics += ranking(group, measured)
    metrics += refusing(items, measured, contacts=bool(config.contacts.contact))
    metrics += cost(scored, measured)
    tables = (by_kind(metrics), cases(results))
    extra = {"units": [r.item for r in results], "clusters": measured.clusters}
    return Summary(tuple(metrics), tables, tuple(notes), extra)


Cell = str | float | int


def by_kind(metrics: Sequence[Metric]) -> Table:
    """One row per kind of question: routing, asking, recall@5 before and after, answers."""
    named = {m.name: m for m in metrics}
    rows: list[tuple[Cell, ...]] = []
    for kind in (*get_args(Kind), ""):
        group = f"{kind}/" if kind else ""
        n = named[f"{group}routing_agreement"].n
        if not n:
            continue
        line: list[Cell] = [kind or say("全体", "all"), n]
        line += [named[f"{group}{name}"].value for name in ("routing_agreement", "questions")]
        for name in ("recall@5_before", "recall@5_after", "recall@5_gain"):
            m = named.get(f"{group}{name}")
            line += [m.value, m.low, m.high] if m else [math.nan] * 3
        after = named.get(f"{group}mrr@10_after")
        line.append(after.value if after else math.nan)
        line += [named[f"{group}{name}"].value for name in ("answered", "cited_gold")]
        rows.append(tuple(line))
    columns = ["kind", "n", "routing", "questions"]
    for name in ("recall@5 before", "recall@5 after", "gain"):
        columns += [name, f"{name} low", f"{name} high"]
    columns += ["MRR after", "answered", "cites gold"]
    return Table(
        say("質問の種類ごと", "By kind of question"),
        tuple(columns),
        tuple(rows),
        note=say(
            "before: 入力のままの検索。after: 聞き返しと書き直しの後の検索。gain は対応のある差。"
            "95 % 区間",
            "before: searching for what was typed; after: for what came of asking and rewriting. "
            "gain is paired by item; 95 % intervals",
        ),
    )


def cases(results: Sequence[ItemResult]) -> Table:
    """Frequency of the first case by kind, with the expected action."""
    rows = []
    for kind in get_args(Kind):
        mine = [r for r in results if r.kind == kind]
        if mine:
            firsts = Counter(r.cases[0] for r in mine)
            asked = sum(r.first == "ask" for r in mine)
            counts = [firsts[case] for case in range(1, 7)]  # type: ignore[index]
            rows.append((kind, EXPECTED[kind], *counts, asked, len(mine)))
    return Table(
        say("最初の判断", "The first decision"),
        ("kind", "wanted", "①", "②", "③", "④", "⑤", "⑥", "asked", "n"),
        tuple(rows),
        note=say("。", ". ").join(
            [
                *lines.cases(),
                say(
                    "予算や重複で聞けないときは、①②⑤ でも探す",
                    "① ② ⑤ become a search where the budget is spent or it was asked before",
                ),
            ]
        ),
    )


def item_digest(result: Any) -> Digest:
    """Summary of an item for lists. Right: an answerable item cites a gold passage, any other is
    not answered."""
    found = ItemResult.model_validate(result)
    nothing = found.kind == "unanswerable"
    right = not found.answered if nothing else found.answered and found.cited_gold
    did = (
        say(f"答えた（引用 {found.cited}）", f"answered, {found.cited} cited")
        if found.answered
        else say("答えがないと伝えた", "said that nothing answers it")
    )
    return Digest(float(right), did, len(found.exchanges), found.query)


def item_lines(item: Item, result: ItemResult) -> list[Line]:
    """The dialogue, the query, and the ranks of the gold passages."""
    you, agent = say("ユーザー", "user"), say("内省", "naisei")
    cases = say("ケース", "cases")
    told = [Line(f"{item.kind} · {cases} {', '.join(map(str, result.cases))}", tone="head")]
    if item.intent:
        told.append(Line(item.intent, say("本当の意図", "hidden wish")))
    told.append(Line(item.text, you, mine=True))
    for exchange in result.exchanges:
        told += [Line(exchange.question, agent), Line(exchange.answer, you, mine=True)]
    if result.query:
        told.append(Line(f"({result.rewritten}) {result.query}", say("検索", "search")))
    if item.gold:
        before, after = (first_rank(r) or "–" for r in (result.before, result.after))
        gold = tuple(Line(f"{gold.path}: {gold.quote}", tone="dim") for gold in item.gold)
        told.append(Line(f"{before} → {after}", say("正解の順位", "rank of gold"), under=gold))
    told.append(Line(result.answer or say("（答えなし）", "(no answer)"), agent))
    if result.contact:
        told.append(Line(result.contact, say("問い合わせ先", "ask")))
    failed = say("測定エラー", "instrument failure")
    return [*told, *(Line(failure, failed, tone="bad") for failure in result.failures)]
