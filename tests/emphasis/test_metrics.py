"""Figures of taggers, on articles small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import isnan

import numpy as np
import pytest

from naisei.emphasis.metrics import counted, span_counts, spans, token_counts
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.runs.significance import wilcoxon_signed_rank


def article(*rows: str) -> Article:
    """`x` is emphasised, `.` is not, `-` cannot be."""
    of = {"x": True, ".": False, "-": None}
    return Article(
        "a",
        "",
        tuple(
            Sentence("語" * len(row), tuple(
                Token("語", i, i + 1, "名詞", "語", of[c]) for i, c in enumerate(row)
            ), 0, n)
            for n, row in enumerate(rows)
        ),
    )  # fmt: skip


def said(*rows: str) -> list[list[bool]]:
    return [[c == "x" for c in row] for row in rows]


def test_words_are_counted_and_those_that_cannot_be_emphasised_are_not() -> None:
    counts = token_counts(article("xx..-", "...."), said("x.x.x", "x..."))
    assert (counts.right, counts.said, counts.true, counts.of) == (1, 3, 2, 8)
    assert counts.precision == pytest.approx(1 / 3)
    assert counts.recall == 0.5
    assert counts.f1 == pytest.approx(0.4)
    assert counts.rate == 3 / 8


def test_a_span_is_right_only_whole() -> None:
    assert spans([True, True, False, True]) == {(0, 2), (3, 4)}
    assert spans([]) == set()
    counts = span_counts(article("xx.x.xx"), said("xx.xx.x"))
    assert (counts.right, counts.said, counts.true) == (1, 3, 3)
    # What cannot be emphasised cuts a span of the tagger's.
    assert span_counts(article("x-x"), said("xxx")).right == 2


def test_what_is_undefined_is_nan_with_a_reason() -> None:
    found = {m.name: m for m in counted({"a": article("...")}, {1: {"a": said("...")}}).metrics()}
    for name in ("token_f1", "span_f1", "token_f1_article", "token_recall", "token_precision"):
        assert isnan(found[name].value)
        assert found[name].reason


def test_pooled_and_per_article() -> None:
    texts = {"a": "xx", "b": "x...", "c": ".."}
    articles = {name: replace(article(text), id=name) for name, text in texts.items()}
    labels = {"a": said("xx"), "b": said(".x.."), "c": said("..")}
    found = {m.name: m for m in counted(articles, {1: labels}).metrics()}
    assert found["token_f1"].value == pytest.approx(2 * 2 / (3 + 3))
    assert found["token_f1_article"].value == pytest.approx(0.5)
    assert found["token_f1_article"].n == 2
    assert found["token_f1_article"].per_unit == (1.0, 0.0)


def test_labels_must_be_one_a_word() -> None:
    with pytest.raises(ValueError):
        token_counts(article("xx"), said("x"))


@pytest.mark.parametrize(
    "d", [[1.0, 2, 3], [3.0, -1, 2, 0, 5], [1.0, 1, -1, 2, 2, 2], [0.1, -0.4, 0.3, 0.7, 0.2]]
)
def test_wilcoxon_equals_all_signs_written_out(d: list[float]) -> None:
    kept = [v for v in d if v]
    sizes = sorted(abs(v) for v in kept)
    rank = {s: np.mean([i + 1 for i, v in enumerate(sizes) if v == s]) for s in sizes}
    mean = sum(rank[abs(v)] for v in kept) / 2
    observed = abs(sum(rank[abs(v)] for v in kept if v > 0) - mean)
    every = [
        abs(sum(rank[abs(v)] for v, plus in zip(kept, signs, strict=True) if plus) - mean)
        for signs in product((0, 1), repeat=len(kept))
    ]
    expected = np.mean([v >= observed - 1e-9 for v in every])
    assert wilcoxon_signed_rank([0.0] * len(d), d, clusters=None) == pytest.approx(expected)
    assert wilcoxon_signed_rank(d, [0.0] * len(d), clusters=None) == pytest.approx(expected)


def test_wilcoxon_exact_and_approximate_agree_where_they_meet() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, 51)
    near = wilcoxon_signed_rank(np.zeros(50), d[:50], clusters=None)
    assert wilcoxon_signed_rank(np.zeros(51), [*d[:50], 1e-6], clusters=None) == pytest.approx(
        near, abs=0.02
    )


def test_wilcoxon_at_its_edges() -> None:
    assert isnan(wilcoxon_signed_rank([], [], clusters=None))
    assert wilcoxon_signed_rank([1.0, 2.0], [1.0, 2.0], clusters=None) == 1.0
    assert isnan(wilcoxon_signed_rank([float("nan")], [1.0], clusters=None))
    with pytest.raises(ValueError):
        wilcoxon_signed_rank([1.0], [1.0, 2.0], clusters=None)


def test_wilcoxon_of_clusters_ranks_their_sums() -> None:
    a, b = [0.0] * 6, [0.1, 0.2, -0.4, 0.0, 0.9, 0.3]
    clusters = ["x", "x", "y", "y", "z", "z"]
    sums = wilcoxon_signed_rank([0.0] * 3, [0.3, -0.4, 1.2], clusters=None)
    assert wilcoxon_signed_rank(a, b, clusters=clusters) == pytest.approx(sums)
    assert sums != pytest.approx(wilcoxon_signed_rank(a, b, clusters=None))
