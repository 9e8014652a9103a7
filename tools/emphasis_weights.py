"""Train the tagger that comes with naisei.

python tools/emphasis_weights.py --out src/naisei/data/emphasis_weights
"""

from __future__ import annotations

import argparse
from pathlib import Path

from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.corpus.read import article_of
from naisei.emphasis.corpus.store import describe
from naisei.emphasis.demo import HELD_OUT
from naisei.emphasis.metrics import Counts, span_counts, token_counts
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.crf import save, train
from naisei.emphasis.taggers.plans import CONTEXT
from naisei.training_documents import write_digests

_DATA = Path(__file__).parent.parent / "src" / "naisei" / "data"


def written() -> list[Article]:
    """The articles that were written for naisei: those of one writer, and those of six others with
    other habits; what emphasises nothing is left out."""
    first = sorted((_DATA / "emphasis_articles").glob("*.md"))
    others = sorted((_DATA / "emphasis_writers").glob("*/*.md"))
    names = {path: path.stem for path in first}
    names |= {path: f"{path.parent.name}/{path.stem}" for path in others}
    texts = {path: path.read_text("utf-8") for path in names if path.stem != "README"}
    return [
        article_of(names[path], read_markdown(text)) for path, text in texts.items() if "**" in text
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    ours = written()
    seen = [a for a in ours if a.id not in HELD_OUT]
    # So few articles that none of their sentences is left out.
    tagger = train(seen, plan=CONTEXT.model_copy(update={"plain": 1.0}))
    save(tagger, given.out / "context.npz")
    write_digests(given.out / "documents.txt", [a.text for a in seen])
    print(describe(seen), tagger.rule, tagger.calibration, sep="\n")
    held = [a for a in ours if a.id in HELD_OUT]
    labels = [tagger.labels(a) for a in held]
    for counted in (token_counts, span_counts):
        c = sum((counted(a, y) for a, y in zip(held, labels, strict=True)), Counts())
        print(f"held out: P {c.precision:.3f} R {c.recall:.3f} F1 {c.f1:.3f}")


if __name__ == "__main__":
    main()
