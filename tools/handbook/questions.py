"""Compile the evaluation files (src/naisei/data/handbook_questions/).

The files of ``questions/`` hold items of lines: a kind and the text (``C`` clear, ``V`` vague,
``K`` consultation, ``U`` unanswerable), then ``g NAME:FRAGMENT`` (gold: the document's file name
without ending, and words that stand in exactly one sentence or table row of it), ``i`` (intent),
``f ABOUT = SAYS`` (a fact the user tells when asked), ``p KEY=VALUE, …`` (profile), ``a`` (whom
to ask, ``-`` for nobody). A fragment is written out to its whole sentence or row, so that every
quote is verbatim; that each is found in the built file is checked against its text.

``questions/`` becomes ``questions.jsonl``; ``questions_dev2.txt`` becomes
``questions_dev2.jsonl``, all of it for tuning. Items of the first are drawn for ``test`` by a hash
of their text; those that share a gold passage with an item for tuning are for tuning too, and so
on, so that no passage stands on both sides.

    python tools/handbook/questions.py
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from blocks import Block, Source, read_blocks, read_sources
from reading import fold, read_text

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "src" / "naisei" / "data"
KINDS = {"C": "clear", "V": "vague", "K": "consultation", "U": "unanswerable"}
DEV_SHARE = 0.3


def _units(block: Block) -> list[str]:
    if block.kind == "table":
        return [" ".join(row) for row in block.rows]
    if block.kind in {"ul", "ol"}:
        return block.items
    return [s for item in block.items for s in re.findall(r"[^。]+。?", item)]


def quote(source: Source, fragment: str) -> str:
    """The one sentence, list item or table row of the source that holds the fragment."""
    found = [u for b in read_blocks(source.text) for u in _units(b) if fragment in u]
    if len(found) != 1:
        raise SystemExit(f"{source.path}: {len(found)} passages hold “{fragment}”")
    return found[0].strip()


def _split(text: str) -> str:
    share = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8
    return "dev" if share < DEV_SHARE else "test"


def read_items(lines: list[str], by_name: dict[str, Source]) -> list[dict[str, Any]]:
    """The items of one file, without ids."""
    items: list[dict[str, Any]] = []
    for line in lines:
        code, _, rest = line.strip().partition(" ")
        if not code or code.startswith("#"):
            continue
        if code in KINDS:
            items.append({"kind": KINDS[code], "text": rest, "gold": []})
        elif code == "g":
            name, _, fragment = rest.partition(":")
            source = by_name[name]
            items[-1]["gold"].append({"path": source.path, "quote": quote(source, fragment)})
        elif code == "i":
            items[-1]["intent"] = rest
        elif code == "f":
            about, _, says = rest.partition(" = ")
            items[-1].setdefault("facts", []).append({"about": about, "says": says})
        elif code == "p":
            pairs = (pair.split("=") for pair in rest.split(","))
            items[-1]["profile"] = {key.strip(): value.strip() for key, value in pairs}
        elif code == "a":
            items[-1]["ask"] = None if rest == "-" else rest
        else:
            raise SystemExit(f"what is this line? {line}")
    return items


def apart(items: list[dict[str, Any]], tuning: list[dict[str, Any]]) -> None:
    """Moves to `dev` whatever shares a passage with `dev` or `tuning`, directly or by others."""

    def passages(some: list[dict[str, Any]]) -> set[tuple[str, str]]:
        return {(gold["path"], gold["quote"]) for item in some for gold in item["gold"]}

    moved = [*tuning, *(item for item in items if item["split"] == "dev")]
    known: set[tuple[str, str]] = set()
    while moved:
        known |= passages(moved)
        moved = [i for i in items if i["split"] == "test" and passages([i]) & known]
        for item in moved:
            item["split"] = "dev"


def compiled(files: list[Path], *, prefix: str = "", split: str | None = None) -> list[Any]:
    """The items of these files; their ids begin with the prefix. split: by the text if `None`."""
    by_name = {Path(s.path).stem: s for s in read_sources(HERE / "sources")}
    counts: dict[str, int] = {}
    out = []
    for file in files:
        for item in read_items(file.read_text("utf-8").splitlines(), by_name):
            counts[item["kind"]] = counts.get(item["kind"], 0) + 1
            for gold in item["gold"]:
                if fold(gold["quote"]) not in fold(read_text(DATA / "handbook" / gold["path"])):
                    raise SystemExit(f"{gold['path']}: not in the built text: {gold['quote']}")
            item["split"] = split or _split(item["text"])
            out.append({"id": f"{prefix}{item['kind']}-{counts[item['kind']]:03}", **item})
    return out


def write(name: str, items: list[dict[str, Any]]) -> None:
    """Write the file; say how many of each kind and split."""
    target = DATA / "handbook_questions" / name
    target.parent.mkdir(exist_ok=True)
    lines = [json.dumps(item, ensure_ascii=False) for item in items]
    target.write_text("\n".join(lines) + "\n", "utf-8")
    dev = sum(item["split"] == "dev" for item in items)
    kinds = dict(Counter(item["kind"] for item in items))
    print(f"{name}: {len(items)} items ({dev} dev): {kinds}")


def main() -> None:
    """Write both files."""
    items = compiled(sorted((HERE / "questions").glob("*.txt")))
    more = compiled([HERE / "questions_dev2.txt"], prefix="dev2-", split="dev")
    apart(items, more)
    write("questions.jsonl", items)
    write("questions_dev2.jsonl", more)


if __name__ == "__main__":
    main()
