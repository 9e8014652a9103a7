"""The sample handbook and its evaluation file: counts, formats, encodings, quotes, independence."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from checkout import ROOT, tool
from naisei.core import Evidence
from naisei.intent.evaluation.items import holds, load_items
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.sources import Folder, source

DATA = Path(str(resources.files("naisei"))) / "data"
HANDBOOK = DATA / "handbook"
FORMATS = ("md", "txt", "html", "pdf", "docx")
reading = tool("handbook/reading")


@cache
def documents() -> dict[str, str]:
    """The folded text of each document by its path."""
    paths = [path for kind in FORMATS for path in sorted(HANDBOOK.rglob(f"*.{kind}"))]
    return {
        path.relative_to(HANDBOOK).as_posix(): reading.fold(reading.read_text(path))
        for path in paths
    }


@cache
def items() -> list[dict[str, Any]]:
    text = (DATA / "handbook_questions" / "questions.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@cache
def for_tuning() -> list[dict[str, Any]]:
    """The second file, all of it `dev`."""
    text = (DATA / "handbook_questions" / "questions_dev2.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [item for item in items() if item["kind"] in kinds]


def departments() -> set[str]:
    entries = tomllib.loads((HANDBOOK / "contacts.toml").read_text("utf-8"))["contact"]
    return {entry["department"] for entry in entries}


def test_documents_of_five_formats_and_old_encodings() -> None:
    formats = Counter(path.rsplit(".", 1)[1] for path in documents())
    assert len(documents()) >= 48 and all(formats[kind] >= 6 for kind in FORMATS), formats
    assert all(600 <= len(text) <= 2500 for text in documents().values())
    files = [path for path in HANDBOOK.rglob("*") if path.is_file()]
    assert len(files) == len(documents()) + 1, "the contacts alone are beside them"
    found: Counter[str] = Counter()
    for path in HANDBOOK.rglob("*.txt"):
        data = path.read_bytes()
        found["bom" if data.startswith(b"\xef\xbb\xbf") else _encoding(data)] += 1
    assert all(found[kind] >= 2 for kind in ("utf-8", "bom", "shift_jis", "euc_jp")), found
    for path in HANDBOOK.rglob("*.pdf"):
        with pypdfium2.PdfDocument(path) as pdf:
            assert len(pdf) >= 2


def _encoding(data: bytes) -> str:
    for encoding in ("utf-8", "shift_jis", "euc_jp"):
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return ""


def test_the_files_are_built_from_the_sources() -> None:
    blocks = tool("handbook/blocks")
    sources = blocks.read_sources(ROOT / "tools" / "handbook" / "sources")
    assert {each.path for each in sources} == set(documents())
    for each in sources:
        for block in blocks.read_blocks(each.text):
            for piece in [*block.items, *(cell for row in block.rows for cell in row)]:
                assert reading.fold(piece) in documents()[each.path], (each.path, piece)


def test_counts_and_split() -> None:
    counts = Counter(item["kind"] for item in items())
    assert counts["clear"] >= 85 and counts["vague"] >= 65
    assert counts["consultation"] >= 22 and counts["unanswerable"] >= 22
    dev = sum(item["split"] == "dev" for item in items()) / len(items())
    assert 0.4 < dev < 0.65
    assert {item["split"] for item in items()} == {"dev", "test"}


def test_no_passage_is_gold_both_of_an_item_for_tuning_and_of_one_for_testing() -> None:
    passages: dict[str, set[tuple[str, str]]] = {"dev": set(), "test": set()}
    for item in [*items(), *for_tuning()]:
        passages[item["split"]] |= {(gold["path"], gold["quote"]) for gold in item["gold"]}
        for gold in item["gold"]:
            assert reading.fold(gold["quote"]) in documents()[gold["path"]], item["id"]
    assert passages["test"] and not passages["dev"] & passages["test"]


@pytest.mark.parametrize("key", ["id", "text"])
def test_no_item_stands_twice(key: str) -> None:
    assert max(Counter(item[key] for item in [*items(), *for_tuning()]).values()) == 1


@pytest.mark.parametrize("some", [items, for_tuning])
def test_gold_is_spread_over_the_handbook(some: Callable[[], list[dict[str, Any]]]) -> None:
    used = {gold["path"] for item in some() for gold in item["gold"]}
    assert len(used) >= 0.9 * len(documents())


def test_the_second_file_is_clear_questions_for_tuning() -> None:
    assert len(for_tuning()) >= 120
    assert {(item["kind"], item["split"]) for item in for_tuning()} == {("clear", "dev")}


def test_items_have_what_their_kind_needs() -> None:
    load_items("handbook")  # gold, intent and facts by kind
    assert sum(bool(item["gold"]) for item in of_kind("consultation")) >= 20
    assert all(len(item["facts"]) >= 2 for item in of_kind("vague", "consultation"))
    assert max(len(item["text"]) for item in of_kind("vague")) <= 25
    asked = [item["ask"] for item in items() if not item["gold"]]
    assert {name for name in asked if name} <= departments() and None in asked


def test_questions_and_facts_do_not_copy_the_documents() -> None:
    for item in [*items(), *for_tuning()]:
        told = [item["text"], *(fact["says"] for fact in item.get("facts", []))]
        for gold in item["gold"]:
            quote = reading.fold(gold["quote"])
            for text in map(reading.fold, told):
                match = SequenceMatcher(None, text, quote, autojunk=False).find_longest_match()
                assert match.size <= 9, (item["id"], text[match.a : match.a + match.size])


def test_every_question_about_the_city_has_its_passage(tmp_path: Path) -> None:
    city = source("city")
    assert isinstance(city, Folder)
    report = build(tmp_path, city.path, embedder=None)
    assert report.documents == 40 and not report.skipped
    items = load_items("city")
    with Index.open(tmp_path) as index:
        for item in items:
            for gold in item.gold:
                hits = index.search(gold.quote, k=50, filters={"path": gold.path})
                chunks = [
                    Evidence(id=h.chunk.id, text=h.chunk.text, score=0, meta={"path": h.chunk.path})
                    for h in hits
                ]
                if any(holds(chunk, gold) for chunk in chunks):
                    break
            else:
                assert not item.gold, item.id


def test_the_manual_is_whole_and_for_scoring_alone() -> None:
    manual = source("manual")
    assert isinstance(manual, Folder)
    items = load_items("manual")
    assert len(items) == 100 and {item.split for item in items} == {"test"}
    assert all((manual.path / gold.path).is_file() for item in items for gold in item.gold)
