"""Train the tagger that comes with naisei.

python tools/emphasis_weights.py --corpus corpus.jsonl --out src/naisei/data/emphasis_weights
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.corpus.statistics import describe
from naisei.emphasis.corpus.store import load_corpus
from naisei.emphasis.corpus.words import article_of
from naisei.emphasis.demo import HELD_OUT
from naisei.emphasis.metrics import Counts, span_counts, token_counts
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.learning import train
from naisei.emphasis.taggers.plan import CONTEXT
from naisei.emphasis.taggers.store import save

_ARTICLES = Path(__file__).parent.parent / "src" / "naisei" / "data" / "emphasis_articles"
#: Books whose licence is the GPL or freer; see the card.
_BOOKS = (
    *("aptitude", "debian-edu", "debian-faq", "debian-handbook", "debian-policy"),
    *("debian-reference", "debmake-doc", "developers-reference", "installation-guide"),
    "maint-guide",
)


def written() -> list[Article]:
    """The articles that were written for naisei."""
    return [
        article_of(path.stem, read_markdown(path.read_text("utf-8")))
        for path in sorted(_ARTICLES.glob("*.md"))
        if path.stem != "README"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument(
        "--times", type=int, default=3, help="how often each of our articles counts"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    books = [a for a in load_corpus(given.corpus) if a.id.split("/")[0] in _BOOKS]
    ours = written()
    seen = [a for a in ours if a.id not in HELD_OUT]
    often = [replace(a, id=f"{a.id}#{n}") for n in range(given.times) for a in seen]
    tagger = train([*books, *often], plan=CONTEXT)
    save(tagger, given.out / "context.npz")
    print(describe(books), describe(seen), tagger.rule, tagger.calibration, sep="\n")
    held = [a for a in ours if a.id in HELD_OUT]
    labels = [tagger.labels(a) for a in held]
    for counted in (token_counts, span_counts):
        c = sum((counted(a, y) for a, y in zip(held, labels, strict=True)), Counts())
        print(f"held out: P {c.precision:.3f} R {c.recall:.3f} F1 {c.f1:.3f}")


if __name__ == "__main__":
    main()
