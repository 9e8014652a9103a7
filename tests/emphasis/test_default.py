"""The tagger that comes with naisei, the demonstration, and taggers by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from commandline import Naisei
from emphasis.corpus_by_hand import article
from naisei.core import InputError
from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.corpus.read import article_of
from naisei.emphasis.corpus.store import describe
from naisei.emphasis.demo import HELD_OUT
from naisei.emphasis.metrics import Counts, token_counts
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.crf import default_tagger, save, train
from naisei.emphasis.taggers.plans import BASELINE
from naisei.emphasis.taggers.registry import FirstSentence, load_tagger

DATA = Path(str(files("naisei") / "data"))


def written() -> list[Article]:
    folder = DATA / "emphasis_articles"
    return [
        article_of(p.stem, read_markdown(p.read_text("utf-8")))
        for p in sorted(folder.glob("*.md"))
        if p.stem != "README"
    ]


def test_the_card_says_what_the_articles_are() -> None:
    found = describe(written())
    card = (DATA / "emphasis_articles" / "README.md").read_text("utf-8")
    assert found.articles == 40 and card.count("Forty") == 1
    for said in (
        f"{found.sentences:.1f} sentences",
        f"{found.tokens:.0f} words",
        f"{found.emphasised:.0f} emphasised words",
        f"{found.rate:.1%}".replace("%", " %"),
    ):
        assert said in card


def test_the_bundled_tagger_is_better_on_held_out_articles_than_the_rule() -> None:
    held = [a for a in written() if a.id in HELD_OUT]
    assert len(held) == len(HELD_OUT)

    def f1(tagger: object) -> float:
        return sum((token_counts(a, tagger.labels(a)) for a in held), Counts()).f1  # type: ignore[attr-defined]

    found = f1(default_tagger())
    assert found > 1.5 * f1(FirstSentence())
    card = (DATA / "emphasis_weights" / "README.md").read_text("utf-8")
    assert f"held-out articles: token F1 {found:.3f}" in card


def test_taggers_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    assert load_tagger("rule").name == "rule.v1"
    tagger = train([article(i) for i in range(4)], plan=BASELINE)
    save(tagger, tmp_path / "folder" / "tagger.npz")
    assert load_tagger(tmp_path / "folder").name == tagger.name
    assert load_tagger(tmp_path / "folder" / "tagger.npz").labels(article(9)) == tagger.labels(
        article(9)
    )
    with pytest.raises(InputError, match="no tagger"):
        load_tagger(tmp_path / "nothing")


def test_the_demonstration_shows_suggestions_and_the_writers_own(naisei: Naisei) -> None:
    done = naisei("emphasis", "demo", "--run-dir", "demo")
    assert done.code == 0, done.err
    article, comparison = done.out.split("The writer's own:")
    assert article.count("**") == 5, "the introduction's, and two suggestions"
    assert comparison.count("「") == 3
    assert "F1 0.33" in comparison
    assert "しみ" in Path("demo/emphasis.html").read_text("utf-8")
