"""The director's checks against the labelled lines: python tools/director_figures.py.

Precision and recall of each check, for RETRY and for every verdict but PASS, with 95 % Wilson
intervals, beside plain substring rules (benchmarks/plain_rules.py); then lines per second of
both in the same run. `--part dev` or `--part held-out` for one half; `--wrong` lists the
lines of the dev half that a check answers otherwise than labelled. `--natural`: instead, the
natural and wrong lines of authors who knew the personas only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from naisei.director import check
from naisei.director.verdict import HARD_CHECKS, RuleSet
from naisei.training_documents import learnt_from, read_digests, training_note

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.director import measured
from benchmarks.plain_rules import plain_check

Answer = dict[str, str]
Z = 1.959964


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
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return f"{100 * share:.1f} ({100 * (middle - half):.0f}–{100 * (middle + half):.0f})"


def row(name: str, pairs: Iterable[tuple[bool, bool]]) -> str:
    """Precision and recall of (labelled, answered) pairs."""
    found = list(pairs)
    hits = sum(labelled and answered for labelled, answered in found)
    labelled, answered = sum(a for a, _ in found), sum(b for _, b in found)
    return f"| {name} | {labelled} | {wilson(hits, answered)} | {wilson(hits, labelled)} |"


def table(rows: list[dict[str, Any]], judge: Callable[[str, str], Answer]) -> None:
    answers = [judge(r["text"], r["speaker"]) for r in rows]
    print("| check | labelled | precision % | recall % |\n|---|---|---|---|")
    for kind, counted in (("RETRY", {"RETRY"}), ("not PASS", {"RETRY", "WARN"})):
        for name in HARD_CHECKS:
            pairs = [
                (r["expect"][name] in counted, a[name] in counted)
                for r, a in zip(rows, answers, strict=True)
            ]
            print(row(f"{name}, {kind}", pairs))
    right = sum(
        all(a[n] == r["expect"][n] for n in HARD_CHECKS) for r, a in zip(rows, answers, strict=True)
    )
    print(f"\nall six checks as labelled: {wilson(right, len(rows))} % of {len(rows)} lines\n")


def natural(part: str, rules: RuleSet) -> None:
    """Lines of authors who knew the personas only: what is flagged, what is rejected, by kind."""
    text = (files("naisei.data") / "director_lines" / "natural.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(row) for row in text.split("\n") if row]
    if rules == "calibrated":
        known = read_digests(files("naisei.data") / "fault_weights" / "documents.txt")
        said = [r["line"] for r in rows if r["part"] == part]
        print(*training_note("fault_weights", learnt_from(said, known), len(said)), sep="\n")
    print(f"| {part}, {rules} | lines | WARN or RETRY % | RETRY % |\n|---|---|---|---|")
    for kind in ("good", "swapped", "setting", "praise", "negation", "script"):
        found = [
            check(
                r["line"], character=r["character"], history=[r["partner_line"]], rules=rules
            ).status.value
            for r in rows
            if r["kind"] == kind and r["part"] == part
        ]
        if found:
            flagged, retry = sum(s != "PASS" for s in found), found.count("RETRY")
            shares = f"{wilson(flagged, len(found))} | {wilson(retry, len(found))}"
            print(f"| {kind} | {len(found)} | {shares} |")
    print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("dev", "held-out", "all"), default="all")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--natural", action="store_true", help="natural.jsonl by both rule sets")
    chosen = parser.parse_args()
    if chosen.natural:
        for at in ("dev", "test"):
            natural(at, "calibrated")
            natural(at, "spec")
        return 0
    rows = lines(chosen.part)
    for name, judge in (("naisei.director", ours), ("plain rules", plain)):
        print(f"## {name}, {chosen.part}\n")
        table(rows, judge)
    print("## lines per second, one core\n")
    for name, value in measured(2000, 3).items():
        print(f"{name}: {value:.4g}")
    if chosen.wrong:
        for r in lines("dev"):
            answered = ours(r["text"], r["speaker"])
            for name in HARD_CHECKS:
                if answered[name] != r["expect"][name]:
                    print(r["id"], name, answered[name], "for", r["expect"][name], r["text"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
