"""Documents of strangers: files made to end their parser, text that grows too dear, hidden text."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attack.base import Attempt

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from linear import ENTRIES, UNITS, growth
from naisei.retrieval.load import parsed, parsed_apart
from naisei.retrieval.types import LIMITS, Unreadable
from naisei.sandbox import Sandbox
from retrieval.hidden import HIDDEN_HTML, HIDDEN_MARKDOWN, SEEN_HTML, SEEN_MARKDOWN
from retrieval.test_sandbox import HOSTILE


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    """All hostile files and hidden texts; then readers and units at random until time is up."""
    end = time.monotonic() + seconds
    with Sandbox() as sandbox:
        for name, made in HOSTILE.items():
            try:
                parsed_apart(name, made(), LIMITS, sandbox)
                yield Attempt("hostile file", "read", note=name)
            except Unreadable as error:
                yield Attempt("hostile file", "left out", note=error.why)
    for name, hidden, parts in (
        ("a.html", True, HIDDEN_HTML),
        ("a.md", True, HIDDEN_MARKDOWN),
        ("a.html", False, SEEN_HTML),
        ("a.md", False, SEEN_MARKDOWN),
    ):
        for part in parts:
            read = "秘" in _said(name, f"前\n\n{part}\n\n後\n")
            outcome = "read" if read else "left out"
            kind = f"{'hidden' if hidden else 'visible'} text, {name[2:]}"
            yield Attempt(kind, outcome, fell=read == hidden, note=part)
    cases = [(entry, unit) for entry in ENTRIES for unit in UNITS]
    rng.shuffle(cases)
    for entry, unit in cases:
        if time.monotonic() > end:
            return
        slow = growth(entry, unit)
        yield Attempt("growth", "too fast" if slow else "linear", fell=bool(slow), note=str(slow))


def _said(name: str, text: str) -> str:
    try:
        return parsed(name, text.encode(), LIMITS).model_dump_json(exclude={"hidden", "meta"})
    except Unreadable:
        return ""
