"""The director's checks against the labelled lines: python tools/director_figures.py.

Precision and recall of each check, for RETRY and for every verdict but PASS, with 95 % Wilson
intervals, beside plain substring rules (benchmarks/plain_rules.py). `--wrong` lists the lines of
the dev half that a check answers otherwise than labelled. `--natural`: instead, the natural and
wrong lines of authors who knew the personas only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from naisei.director import check
from naisei.director.verdict import HARD_CHECKS, RuleSet
from naisei.runs.statistics import wilson_interval
from naisei.training_documents import learnt_from, read_digests

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.plain_rules import plain_check

Answer = dict[str, str]
RULES: tuple[RuleSet, ...] = ("calibrated", "spec")


def part(identifier: str) -> str:
    """`dev` or `held-out`, by a hash of the id."""
    odd = int(hashlib.sha256(identifier.encode()).hexdigest(), 16) % 2
    return "held-out" if odd else "dev"


def lines(wanted: str) -> list[dict[str, Any]]:
    """The labelled lines of one part, or `all`."""
    text = (files("naisei.data") / "director_lines" / "lines.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(row) for row in text.split("\n") if row]
    return [row for row in rows if wanted in ("all", part(row["id"]))]


def ours(text: str, speaker: str) -> Answer:
    found = check(text, character=speaker, rules="spec")
    return {c.name: c.status.value for c in found.checks}


def plain(text: str, speaker: str) -> Answer:
    return plain_check(text, speaker).statuses()


def wilson(hits: int, of: int) -> str:
    """A share with its 95 % Wilson interval, in per cent."""
    if not of:
        return "– (none)"
    low, high = wilson_interval(hits, of)
    return f"{100 * hits / of:.1f} ({abs(100 * low):.0f}–{100 * high:.0f})"


def rates(pairs: Iterable[tuple[bool, bool]]) -> str:
    """Precision and recall of (labelled, answered) pairs, as two cells."""
    found = list(pairs)
    hits = sum(labelled and answered for labelled, answered in found)
    labelled, answered = sum(a for a, _ in found), sum(b for _, b in found)
    return f"{wilson(hits, answered)} | {wilson(hits, labelled)}"


def table(wanted: str) -> None:
    """Precision and recall of both judges of one part, check by check."""
    rows = lines(wanted)
    judges = [[judge(r["text"], r["speaker"]) for r in rows] for judge in (ours, plain)]
    right = [
        wilson(
            sum(
                all(a[n] == r["expect"][n] for n in HARD_CHECKS)
                for r, a in zip(rows, answers, strict=True)
            ),
            len(rows),
        )
        for answers in judges
    ]
    print(
        f"{wanted}: all six checks as labelled on {right[0]} % of {len(rows)} lines; plain "
        f"substring rules (`benchmarks/plain_rules.py`): {right[1]} %.\n\n"
        "| check | labelled | precision | recall | plain: precision | plain: recall |\n"
        f"|{'---|' * 6}"
    )
    for kind, counted in (("RETRY", {"RETRY"}), ("not PASS", {"RETRY", "WARN"})):
        for name in HARD_CHECKS:
            pairs = [
                [
                    (r["expect"][name] in counted, a[name] in counted)
                    for r, a in zip(rows, answers, strict=True)
                ]
                for answers in judges
            ]
            labelled = sum(wrong for wrong, _ in pairs[0])
            cells = " | ".join(map(rates, pairs))
            print(f"| {name}, {kind} | {labelled} | {cells} |")


def natural(wanted: str, title: str) -> None:
    """Lines of authors who knew the personas only: what is flagged, what is rejected, by kind."""
    text = (files("naisei.data") / "director_lines" / "natural.jsonl").read_text(encoding="utf-8")
    rows = [row for row in map(json.loads, filter(None, text.split("\n"))) if row["part"] == wanted]
    known = read_digests(files("naisei.data") / "fault_weights" / "documents.txt")
    heads = [f"{rules}: {what}" for rules in RULES for what in ("WARN or RETRY", "RETRY")]
    print(f"| {title} | lines | {' | '.join(heads)} |\n|{'---|' * 6}")
    for kind in ("good", "swapped", "setting", "praise", "negation", "script"):
        some = [row for row in rows if row["kind"] == kind]
        cells = []
        for rules in RULES:
            found = [
                check(
                    r["line"], character=r["character"], history=[r["partner_line"]], rules=rules
                ).status.value
                for r in some
            ]
            hits = (sum(s != "PASS" for s in found), found.count("RETRY"))
            cells += [wilson(n, len(found)) for n in hits]
        print(f"| {kind} | {len(some)} | {' | '.join(cells)} |")
    learnt = learnt_from([r["line"] for r in rows], known)
    print(f"\nThe learnt scores were taught {learnt} of these {len(rows)} lines.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--natural", action="store_true", help="natural.jsonl by both rule sets")
    chosen = parser.parse_args()
    if chosen.natural:
        natural("test", "test (half of b)")
        print()
        natural("dev", "dev, taught")
        return 0
    table("held-out")
    print()
    table("dev")
    if chosen.wrong:
        for r in lines("dev"):
            answered = ours(r["text"], r["speaker"])
            for name in HARD_CHECKS:
                if answered[name] != r["expect"][name]:
                    print(r["id"], name, answered[name], "for", r["expect"][name], r["text"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
