"""The labelled lines: well formed, covering, and answered as labelled."""

import json
from collections import Counter
from importlib.resources import files

from naisei.director import check
from naisei.director.verdict import HARD_CHECKS

ROWS = [
    json.loads(row)
    for row in (files("naisei.data") / "director_lines" / "lines.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def test_the_set_covers_every_check_both_ways() -> None:
    assert len(ROWS) >= 300
    assert len({r["id"] for r in ROWS}) == len(ROWS)
    for row in ROWS:
        assert list(row) == ["id", "speaker", "text", "expect", "note"]
        assert tuple(row["expect"]) == HARD_CHECKS
    for speaker in ("yana", "ayu"):
        for name in HARD_CHECKS:
            seen = Counter(r["expect"][name] for r in ROWS if r["speaker"] == speaker)
            assert seen["PASS"] >= 10
            assert seen["RETRY"] >= 3 or (speaker, name) == ("yana", "praise")


def test_no_labelled_violation_is_lost_and_few_are_invented() -> None:
    lost, invented = [], []
    for row in ROWS:
        for found in check(row["text"], character=row["speaker"], rules="spec").checks[
            : len(HARD_CHECKS)
        ]:
            wanted = row["expect"][found.name]
            if wanted == "RETRY" and found.status.value != "RETRY":
                lost.append((row["id"], found.name))
            if wanted != "RETRY" and found.status.value == "RETRY":
                invented.append((row["id"], found.name))
    assert lost == []
    assert len(invented) <= 4, invented
