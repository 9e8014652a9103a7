"""Does an injected relation vector change the speech? One side is a model, the partner a script.

    python -m benchmarks.injection --model PROVIDER:NAME [--seeds 20] [--sheet DIR]
    python -m benchmarks.injection --guesses DIR/sheet.jsonl FILE.jsonl

The partner says the same lines whatever is answered; the model answers them once a seed without a
vector and once with each of six (each dimension at −2 and +2, the others 0). Printed, with 95 %
intervals over seeds: how far the speech estimator's own number of that dimension moves from −2 to
+2; the distance of the traits of speech (in standard deviations without a vector) with against
without, beside that of two seeds without, which is the floor; and how often the nearest mean of the
other seeds names the condition, against chance, 1 in 7. `--sheet` writes the lines alone under ids
that say nothing, for a reader who guesses the vector, and the key beside it; `--guesses` scores
{"id", "guess"} lines against that key.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import combinations
from pathlib import Path

import numpy as np

from naisei.core import Chat, Flow, Sampling, Where, World, arun
from naisei.models.registry import base_world
from naisei.relationship.messages import speaker_messages, spoken_text
from naisei.relationship.pairs import Pair, Persona
from naisei.relationship.schemas import Line, Session
from naisei.relationship.speech import SpeechEstimator
from naisei.relationship.vector import DIMENSIONS, Reading, RelationVector
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

PAIR = Pair(
    id="injection",
    title="同じ部署の二人",
    setting="会社の休憩室",
    a=Persona(name="森下", persona="同じ部署の社員。"),
    b=Persona(name="早川", persona="同じ部署の社員。"),
)
#: What the partner says, whatever is answered.
SCRIPT = (
    "早川さん、今ちょっといい？",
    "来週の引っ越しの手伝い、まだ人が足りないみたい。",
    "土曜の朝なんだけど、どう思う？",
    "そういえば、このあいだの件はどうなった？",
    "うーん、どうしようかな。",
    "じゃあ、また話そう。",
)
_START = datetime(2026, 4, 6, 10)

Talk = tuple[str, ...]


def conditions() -> dict[str, RelationVector | None]:
    """Name → the vector that is injected."""
    out: dict[str, RelationVector | None] = {"none": None}
    for name in DIMENSIONS:
        for value in (-2, 2):
            given = dict.fromkeys(DIMENSIONS, 0) | {name: value}
            out[f"{name} {value:+d}"] = RelationVector(**given)
    return out


def answers(vector: RelationVector | None, seed: int) -> Flow[Talk]:
    """The model's lines to the script, all under one vector."""
    lines: list[Line] = []
    said: list[str] = []
    for turn, text in enumerate(SCRIPT):
        lines.append(_line(2 * turn, "a", text))
        session = Session(number=1, start=_START, lines=tuple(lines))
        told = speaker_messages(PAIR, "b", [session], Reading(vector=vector))
        reply = yield from Chat("speaker", told, sampling=Sampling(temperature=0.8, seed=seed))
        said.append(spoken_text(reply, PAIR.b.name, PAIR.a.name) or "……")
        lines.append(_line(2 * turn + 1, "b", said[-1]))
    return tuple(said)


def _line(turn: int, who: str, text: str) -> Line:
    return Line.model_validate(
        {"id": f"D1:{turn + 1}", "session": 1, "turn": turn, "speaker": who, "text": text}
        | {"time": _START}
    )


async def talks(world: World, seeds: int) -> dict[str, list[Talk]]:
    """Condition → the talk of each seed."""
    out: dict[str, list[Talk]] = {}
    for name, vector in conditions().items():
        out[name] = [
            await arun(answers(vector, seed), world, where=Where(name, seed + 1))
            for seed in range(seeds)
        ]
    return out


def heard(talk: Talk) -> SpeechEstimator:
    """Both sides of a talk, heard to its end."""
    course = SpeechEstimator(("a", "b"), names={"a": PAIR.a.name, "b": PAIR.b.name})
    for asked, answered in zip(SCRIPT, talk, strict=True):
        course.add("a", asked)
        course.add("b", answered)
    return course


def measure(found: dict[str, list[Talk]]) -> list[Metric]:
    """The figures of the module's text. The interval of `distance` leaves out that of the floor."""
    courses = {name: [heard(talk) for talk in each] for name, each in found.items()}
    out = []
    for name in DIMENSIONS:
        scores = {
            end: [c.reading("b")[name].score for c in courses[f"{name} {end}"]]
            for end in ("-2", "+2")
        }
        moved = [high - low for low, high in zip(scores["-2"], scores["+2"], strict=True)]
        out.append(mean_metric(f"toward.{name}", moved, clusters=None, least=-math.inf))
    traits = {
        name: np.array([list(course.side("b").traits().values()) for course in each])
        for name, each in courses.items()
    }
    plain = traits["none"]
    every = np.concatenate(list(traits.values()))
    # What never varies without a vector is measured by how it varies at all.
    spread = np.where(plain.std(axis=0) > 1e-9, plain.std(axis=0), every.std(axis=0))
    spread[spread < 1e-9] = 1.0
    scaled = {name: rows / spread for name, rows in traits.items()}
    apart: Callable[[np.ndarray, np.ndarray], float] = lambda a, b: float(  # noqa: E731
        np.sqrt(((a - b) ** 2).mean())
    )
    firsts = [at for at, _ in combinations(range(len(scaled["none"])), 2)]
    floor = [apart(a, b) for a, b in combinations(scaled["none"], 2)]
    out.append(mean_metric("distance.floor", floor, clusters=firsts))
    for name, rows in scaled.items():
        if name != "none":
            pairs = [apart(a, b) for a, b in zip(rows, scaled["none"], strict=True)]
            out.append(mean_metric(f"distance.{name}", pairs, clusters=None))
    seeds = [at for rows in scaled.values() for at in range(len(rows))]
    out.append(mean_metric("recognised", _recognised(scaled), clusters=seeds, share=True))
    return out


def _recognised(scaled: dict[str, np.ndarray]) -> list[float]:
    """Of each talk: whether its condition's mean over the other seeds is the nearest."""
    hits = []
    for name, rows in scaled.items():
        for at in range(len(rows)):
            means = {
                other: np.delete(each, at, axis=0).mean(axis=0) for other, each in scaled.items()
            }
            near = min(means, key=lambda other: float(((rows[at] - means[other]) ** 2).sum()))
            hits.append(float(near == name))
    return hits


def write_sheet(found: dict[str, list[Talk]], to: Path) -> None:
    """`sheet.jsonl`: id and lines, in the order of the ids; `key.json`: id → condition."""
    rows, key = [], {}
    for name, each in found.items():
        for seed, talk in enumerate(each):
            id = hashlib.sha256(f"{name} {seed}".encode()).hexdigest()[:8]
            lines = [
                [n, t]
                for pair in zip(SCRIPT, talk, strict=True)
                for n, t in zip("AB", pair, strict=False)
            ]
            rows.append({"id": id, "lines": lines, "choices": list(conditions())})
            key[id] = name
    to.mkdir(parents=True, exist_ok=True)
    rows.sort(key=lambda row: str(row["id"]))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (to / "sheet.jsonl").write_text(text, "utf-8")
    (to / "key.json").write_text(json.dumps(key, indent=1) + "\n", "utf-8")


def guessed(key: dict[str, str], guesses: Sequence[dict[str, str]]) -> Metric:
    """Share of conditions that a reader named; chance is 1 in 7."""
    given = {row["id"]: row["guess"] for row in guesses}
    hits = [float(given.get(id) == name) for id, name in key.items()]
    return mean_metric("guessed", hits, clusters=None, share=True)


def _shown(metrics: Sequence[Metric]) -> None:
    for one in metrics:
        print(f"{one.name:<24} {one.value:6.3f} [{one.low:.3f}, {one.high:.3f}]  n = {one.n}")


async def _measured(model: str, seeds: int, sheet: Path | None) -> None:
    async with base_world({"speaker": model}, embedder="ngram") as world:
        found = await talks(world, seeds)
    if sheet is not None:
        write_sheet(found, sheet)
    _shown(measure(found))
    print(f"chance of recognised: {1 / len(found):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", help="PROVIDER:NAME")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sheet", type=Path, help="folder for a blind reader's sheet and its key")
    parser.add_argument("--guesses", type=Path, nargs=2, metavar=("SHEET", "FILE"))
    given = parser.parse_args()
    if given.guesses:
        sheet, file = given.guesses
        key = json.loads(sheet.with_name("key.json").read_text("utf-8"))
        rows = [json.loads(row) for row in file.read_text("utf-8").splitlines() if row.strip()]
        _shown([guessed(key, rows)])
    elif given.model and given.seeds >= 3:
        asyncio.run(_measured(given.model, given.seeds, given.sheet))
    else:
        parser.error("give --model and at least 3 --seeds, or --guesses")


if __name__ == "__main__":
    main()
