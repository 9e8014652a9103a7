"""Lines per second of the director's checks, beside plain rules of the same kind, on one core.

    python benchmarks/director.py [--lines 1000] [--rounds 15]

The lines are made of the labelled set's sentences, one to three each, every line new, both
characters. Of both sides every answer is read: the status of each check, reason, suggestion
and evidence of those that did not pass, the tone score, sentences and topics. Rounds alternate
between the two; printed are the ratio's least, median and greatest, for all lines, for those
that pass and for those that do not. Then a line of one million bytes. Fails (exit code 1) if
the median for all lines is below 1.5, or if the long line takes more than a second.
"""

import argparse
import json
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from naisei.director import check
from naisei.japanese.morph import normalise, tokens

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.plain_rules import plain_check

BAR, LONG_BAR_S = 1.5, 1.0
#: In real dialogue plain rules see a fault of setting or logic in 30 of 1,629 lines; the
#: labelled set, half of it made to mislead them, would have them see one in every fourth.
DOUBTFUL = 30 / 1629

Lines = list[tuple[str, str]]
Judge = Callable[[str, str], Any]


def made(count: int) -> Lines:
    """(line, speaker) pairs: one to three sentences of the same speaker, with a new number.

    Faults are rarer in real scripts than in a set made to show them, so sentences come from
    lines with at most a WARN, and only `DOUBTFUL` lines have one that plain rules take for a
    fault of setting or logic.
    """
    text = (files("naisei.data") / "director_lines" / "lines.jsonl").read_text(encoding="utf-8")
    said: dict[tuple[str, bool], list[str]] = {}
    for row in (json.loads(row) for row in text.split("\n") if row):
        if "RETRY" in row["expect"].values():
            continue
        for sentence in re.findall(r"[^。！？\n「」（）]{4,}[。！？]", row["text"]):
            seen = plain_check(sentence, row["speaker"]).statuses()
            doubtful = "RETRY" in (seen["setting"], seen["logic"])
            said.setdefault((row["speaker"], doubtful), []).append(sentence)
    draw = random.Random(0)
    found = []
    for n in range(count):
        speaker = draw.choice(("yana", "ayu"))
        sentences = draw.sample(said[speaker, False], draw.choice((1, 2, 2, 3)))
        if draw.random() < DOUBTFUL:
            sentences[-1] = draw.choice(said[speaker, True])
        found.append((f"{n}番、" + "".join(sentences), speaker))
    return found


def ours(text: str, speaker: str) -> Any:
    return check(text, character=speaker, rules="spec")


def read(verdict: Any) -> tuple[Any, ...]:
    """All that a caller wants to know of a line, of either side's verdict."""
    bad = [
        (found.name, found.status, found.reason, found.suggestion, found.evidence)
        for found in verdict.checks
        if found.status != "PASS"
    ]
    return verdict.status, bad, verdict.tone, verdict.sentences, verdict.topics


def rate(judge: Judge, lines: Lines) -> float:
    """Lines per second of processor time."""
    started = time.process_time()
    for text, speaker in lines:
        read(judge(text, speaker))
    return len(lines) / (time.process_time() - started)


def compared(lines: Lines, count: int) -> dict[str, float]:
    """Medians of both rates over rounds of `count` lines; least, median, greatest ratio."""
    rates = [
        (rate(ours, some), rate(plain_check, some))
        for some in (lines[at : at + count] for at in range(0, len(lines) - count + 1, count))
    ]
    ratios = sorted(a / b for a, b in rates)
    return {
        "lines_per_s": statistics.median(a for a, _ in rates),
        "rival_lines_per_s": statistics.median(b for _, b in rates),
        "ratio": statistics.median(ratios),
        "ratio_least": ratios[0],
        "ratio_greatest": ratios[-1],
    }


def measured(count: int, rounds: int) -> dict[str, float]:
    """`compared` for all lines, then `…_passing` and `…_flagged`; and the long line's seconds."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    lines = made(count * (rounds + 1))
    first, lines = lines[:count], lines[count:]
    compared(first, count)
    result = {"characters_a_line": statistics.mean(len(text) for text, _ in lines)}
    result |= compared(lines, count)
    passing = [line for line in lines if ours(*line).status == "PASS"]
    flagged = [line for line in lines if ours(*line).status != "PASS"]
    for group, end in ((passing, "_passing"), (flagged, "_flagged")):
        # Nothing that was looked up for these lines before may be at hand.
        tokens.cache_clear()
        normalise.cache_clear()
        some = compared(group, len(group) // rounds)
        result |= {f"{name}{end}": value for name, value in some.items()}
    long = "".join(text for text, _ in lines)
    long = (long * (1_000_000 // len(long) + 1)).encode()[:1_000_000].decode(errors="ignore")
    started = time.perf_counter()
    check(long, character="ayu")
    return {**result, "long_line_s": time.perf_counter() - started}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    result = measured(chosen.lines, chosen.rounds)
    for name, value in result.items():
        print(f"{name}: {value:.4g}")
    print(json.dumps(result))
    return int(result["ratio"] < BAR or result["long_line_s"] > LONG_BAR_S)


if __name__ == "__main__":
    raise SystemExit(main())
