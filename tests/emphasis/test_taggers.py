"""The rule, the CRF taggers, and what they are made of."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from emphasis.corpus_by_hand import article
from naisei.core import InputError
from naisei.emphasis.metrics import Counts, token_counts
from naisei.emphasis.schemas import Article, Sentence, Tagger, Token
from naisei.emphasis.taggers.calibration import SpanRule, calibrated, tuned
from naisei.emphasis.taggers.crf import CrfTagger, load, save, train
from naisei.emphasis.taggers.plans import BASELINE, CONTEXT
from naisei.emphasis.taggers.registry import FirstSentence


@pytest.fixture(scope="module")
def context() -> CrfTagger:
    return train([article(i) for i in range(24)], [article(i) for i in range(24, 32)], plan=CONTEXT)


@pytest.fixture(scope="module")
def baseline() -> CrfTagger:
    return train([article(i) for i in range(24)], plan=BASELINE)


def unseen() -> list[Article]:
    return [article(i) for i in range(100, 116)]


def f1(tagger: Tagger, articles: list[Article]) -> float:
    return sum((token_counts(a, tagger.labels(a)) for a in articles), Counts()).f1


def unlabelled(one: Article) -> Article:
    return replace(
        one,
        sentences=tuple(
            replace(s, tokens=tuple(t._replace(label=False) for t in s.tokens))
            for s in one.sentences
        ),
    )


def test_the_rule_takes_the_first_sentence_of_each_paragraph() -> None:
    rows = FirstSentence().labels(article(1))
    assert [any(row) for row in rows] == [n % 3 == 0 for n in range(10)]
    assert all(len(set(row)) == 1 for row in rows)
    assert FirstSentence().probabilities(article(1))[0].tolist() == [1.0] * 8


def test_they_find_what_only_the_article_tells(context: CrfTagger) -> None:
    assert f1(context, unseen()) > 0.9 > 0.3 > f1(FirstSentence(), unseen())


def test_no_tagger_reads_the_labels(context: CrfTagger, baseline: CrfTagger) -> None:
    for tagger in (context, baseline, FirstSentence()):
        assert isinstance(tagger, Tagger)
        for one in unseen()[:4]:
            assert tagger.labels(one) == tagger.labels(unlabelled(one))


def test_what_cannot_be_emphasised_never_is(context: CrfTagger, baseline: CrfTagger) -> None:
    for tagger in (context, baseline, FirstSentence()):
        for one in unseen()[:4]:
            bold = {t.surface for s in one.sentences for t in s.tokens if t.label}
            still = replace(
                one,
                sentences=tuple(
                    replace(s, tokens=tuple(
                        t._replace(label=None if t.surface in bold else t.label) for t in s.tokens
                    ))
                    for s in one.sentences
                ),
            )  # fmt: skip
            rows, shares = tagger.labels(still), tagger.probabilities(still)
            for s, row, p in zip(still.sentences, rows, shares, strict=True):
                for token, label, share in zip(s.tokens, row, p, strict=True):
                    assert token.label is not None or (not label and share == 0)


def test_a_corpus_without_bold_is_told(baseline: CrfTagger) -> None:
    with pytest.raises(InputError, match="nothing is emphasised"):
        train([unlabelled(article(1))], plan=BASELINE)
    with pytest.raises(InputError, match="nothing is emphasised"):
        train([], plan=BASELINE)


@pytest.mark.parametrize("dev", [[], [unlabelled(article(90))]])
def test_a_dev_part_that_tells_nothing_changes_nothing(dev: list[Article]) -> None:
    tagger = train([article(i) for i in range(3)], dev, plan=BASELINE)
    assert (tagger.calibration.scale, tagger.calibration.shift) == (1.0, 0.0)
    assert tagger.rule == SpanRule()


@pytest.mark.parametrize(
    "one",
    [
        Article("empty", "", ()),
        Article("no-words", "題", (Sentence("", (), 0, 0), Sentence("　", (), 0, 1))),
        replace(article(5), title=""),
        Article("long", "長い", (Sentence("猫を" * 750, tuple(
            Token("猫を"[i % 2], i, i + 1, ("名詞", "助詞")[i % 2], "猫を"[i % 2], False)
            for i in range(1_500)
        ), 0, 0),)),
    ],
    ids=lambda a: a.id,
)  # fmt: skip
def test_odd_articles_are_tagged(context: CrfTagger, baseline: CrfTagger, one: Article) -> None:
    for tagger in (context, baseline, FirstSentence()):
        rows = tagger.labels(one)
        assert [len(r) for r in rows] == [len(s.tokens) for s in one.sentences]
        for p in tagger.probabilities(one):
            assert ((p >= 0) & (p <= 1)).all()


def test_a_tagger_comes_back_from_its_file(
    tmp_path: Path, context: CrfTagger, baseline: CrfTagger
) -> None:
    for tagger in (context, baseline):
        save(tagger, tmp_path / "deep" / "tagger.npz")
        again = load(tmp_path / "deep" / "tagger.npz")
        assert again.name == tagger.name
        for one in unseen()[:2]:
            for a, b in zip(again.probabilities(one), tagger.probabilities(one), strict=True):
                assert np.array_equal(a, b)
            assert again.labels(one) == tagger.labels(one)
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["tagger.npz"]


def test_a_file_that_is_none_is_told(tmp_path: Path, baseline: CrfTagger) -> None:
    save(baseline, whole := tmp_path / "whole.npz")
    (tmp_path / "half.npz").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    (tmp_path / "text.npz").write_text("強調")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    for name in ("half", "text", "empty", "other", "missing"):
        with pytest.raises(InputError, match="CRF"):
            load(tmp_path / f"{name}.npz")


def test_the_best_spans_are_the_best_of_all() -> None:
    rng = np.random.default_rng(0)
    for n in range(8):
        for threshold, cost in ((0.3, 0.0), (0.3, 0.1), (0.5, 0.4)):
            p = rng.random(n)

            def worth(y: tuple[bool, ...], p=p, threshold=threshold, cost=cost) -> float:  # type: ignore[no-untyped-def]
                begins = sum(a and not b for a, b in zip(y, (False, *y), strict=False))
                return float(sum(v - threshold for v, a in zip(p, y, strict=True) if a)) - (
                    cost * begins
                )

            best = max(worth(y) for y in product((False, True), repeat=n))
            chosen = SpanRule(threshold, cost).choose(p)
            assert worth(tuple(chosen)) == pytest.approx(best)


def test_the_rule_is_tuned_to_f1() -> None:
    p = [np.array([0.3, 0.31, 0.02, 0.2]), np.array([0.1, 0.28])]
    rule = tuned(p, [[True, True, False, False], [False, True]])
    assert [rule.choose(row) for row in p] == [[True, True, False, False], [False, True]]


def expected_error(p, y, bins=10):
    """Expected calibration error over bins of equal width (Naeini et al. 2015)."""
    which = np.minimum((p * bins).astype(int), bins - 1)
    return np.abs(np.bincount(which, weights=p - y, minlength=bins)).sum() / len(p)


def test_calibration_mends_what_is_too_sure() -> None:
    rng = np.random.default_rng(0)
    true = rng.uniform(0.02, 0.98, 4000)
    y = rng.random(4000) < true
    sure = 1 / (1 + np.exp(-(3 * np.log(true / (1 - true)) + 1)))
    mended = calibrated(sure, y).apply(sure)
    assert expected_error(sure, y) > 0.1 > 0.03 > expected_error(mended, y)
    assert (np.argsort(mended, kind="stable") == np.argsort(sure, kind="stable")).all()
