"""The tables of the evaluation, and an item in plain words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from naisei.intent import lines
from naisei.intent.evaluation.flow import EXPECTED, ItemResult
from naisei.intent.evaluation.items import Item, Kind, first_rank
from naisei.lang import say
from naisei.runs.lines import Line
from naisei.runs.task import Digest, Metric, Table

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
    """An item for lists. Right: answerable items cite a gold passage, others are not answered."""
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
    """The talk, the query, and the ranks of the gold passages."""
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
