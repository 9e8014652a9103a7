"""Lines per second of the director's checks, beside plain substring rules, on one core.

    python benchmarks/director.py [--lines 4000] [--rounds 5]

The lines are made of the labelled set's sentences, one to three each, every line
new, both characters. Rounds alternate between the two, the median counts. Then a line of
one million bytes. Prints one line a figure, then JSON; fails (exit code 1) below 1.5 times the
rival's lines per second, or if the long line takes more than a second.
"""

import argparse
import json
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

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.plain_rules import plain_check

BAR, LONG_BAR_S = 1.5, 1.0


def made(count: int) -> list[tuple[str, str]]:
    """(line, speaker) pairs: one to three sentences of the same speaker, with a new number.

    Faults are rarer in real scripts than in a set made to show them, so sentences come from
    lines with at most a WARN.
    """
    text = (files("naisei.data") / "director_lines" / "lines.jsonl").read_text(encoding="utf-8")
    said: dict[str, list[str]] = {"yana": [], "ayu": []}
    for row in (json.loads(row) for row in text.split("\n") if row):
        if "RETRY" not in row["expect"].values():
            said[row["speaker"]] += re.findall(r"[^。！？\n「」（）]{4,}[。！？]", row["text"])
    draw = random.Random(0)
    found = []
    for n in range(count):
        speaker = draw.choice(("yana", "ayu"))
        sentences = draw.sample(said[speaker], draw.choice((1, 2, 2, 3)))
        found.append((f"{n}番、" + "".join(sentences), speaker))
    return found


def rate(judge: Callable[[str, str], Any], lines: list[tuple[str, str]]) -> float:
    started = time.process_time()
    for text, speaker in lines:
        judge(text, speaker)
    return len(lines) / (time.process_time() - started)


def measured(count: int, rounds: int) -> dict[str, float]:
    """Lines per second of both, their ratio, and the seconds for a line of a million bytes."""
    lines = made(count * rounds)
    ours, rival = [], []
    rate(lambda text, speaker: check(text, character=speaker), lines[:200])
    for n in range(rounds):
        some = lines[n * count : (n + 1) * count]
        ours.append(rate(lambda text, speaker: check(text, character=speaker), some))
        rival.append(rate(plain_check, some))
    long = "".join(text for text, _ in lines)
    long = (long * (1_000_000 // len(long) + 1)).encode()[:1_000_000].decode(errors="ignore")
    started = time.perf_counter()
    check(long, character="ayu")
    return {
        "characters_a_line": statistics.mean(len(text) for text, _ in lines),
        "lines_per_s": statistics.median(ours),
        "rival_lines_per_s": statistics.median(rival),
        "ratio": statistics.median(a / b for a, b in zip(ours, rival, strict=True)),
        "long_line_s": time.perf_counter() - started,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    result = measured(chosen.lines, chosen.rounds)
    for name, value in result.items():
        print(f"{name}: {value:.4g}")
    print(json.dumps(result))
    return int(result["ratio"] < BAR or result["long_line_s"] > LONG_BAR_S)


if __name__ == "__main__":
    raise SystemExit(main())
