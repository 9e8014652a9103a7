"""The tables of the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from naisei.intent.evaluation.items import Item, Kind
from naisei.intent.evaluation.leaks import LONG, shared_run, told_share
from naisei.intent.evaluation.results import EXPECTED, ItemResult
from naisei.lang import say
from naisei.runs.task import Metric, Table

__all__ = ["by_kind", "cases", "honesty"]

Cell = str | float | int


def by_kind(metrics: Sequence[Metric]) -> Table:
    """One row a kind of question: routing, asking, recall@5 before and after, answers."""
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
            "区間は 95 % ブートストラップ",
            "before: searching for what was typed; after: for what came of asking and rewriting. "
            "gain is paired by item; 95 % bootstrap intervals",
        ),
    )


def cases(results: Sequence[ItemResult]) -> Table:
    """How often each of the six cases came first, by kind, and what was wanted."""
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
        note=say(
            "予算や重複で聞けないときは、①②⑤ でも検索になる",
            "① ② ⑤ become a search where the budget is spent or the question was put before",
        ),
    )


def honesty(items: Mapping[str, Item], results: Sequence[ItemResult]) -> Table:
    """The audit of the simulated user, see `naisei.intent.evaluation.leaks`."""
    hidden = [items[r.item] for r in results if items[r.item].facts and items[r.item].gold]
    shares = [s for s in map(told_share, hidden) if not math.isnan(s)]
    mean = sum(shares) / len(shares) if shares else math.nan
    long = sum(len(shared_run(item)) >= LONG for item in hidden)
    said = sum(bool(r.leaked) for r in results if r.exchanges)
    talks = sum(bool(r.exchanges) for r in results)
    rows: list[tuple[Cell, ...]] = [
        (
            say("事実にある、正解文の語の割合", "words of the gold passage told by the facts"),
            mean,
            len(shares),
        ),
        (
            say(
                f"正解文と {LONG} 字以上同じ並びのある事実",
                f"facts sharing {LONG} letters in a row with it",
            ),
            long,
            len(hidden),
        ),
        (
            say(
                "知らされていない正解文の語を言った対話",
                "talks in which the user said unknown words of it",
            ),
            said,
            talks,
        ),
    ]
    return Table(
        say("ユーザー役の監査", "The simulated user, audited"),
        (say("項目", "what"), say("値", "value"), "n"),
        tuple(rows),
    )
