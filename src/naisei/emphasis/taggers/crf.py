"""A CRF tagger, its training and its file format."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from naisei.core import InputError
from naisei.emphasis.crf import BITS, SparseCrf, fit
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import Calibration, SpanRule, fitted
from naisei.emphasis.taggers.features import sentence_columns, token_tables
from naisei.emphasis.taggers.page import Codes, Page, Terms
from naisei.emphasis.taggers.plans import CrfPlan
from naisei.files import written_beside
from naisei.lang import say
from naisei.training_documents import read_digests

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CrfTagger:
    """The result of `train`.

    tokens: the CRF over the words of a sentence. sentences: the CRF over the sentences of an
    article; `None` without context. calibration, rule: fitted on the dev part.
    """

    plan: CrfPlan
    terms: Terms
    tokens: SparseCrf
    sentences: SparseCrf | None = None
    calibration: Calibration = field(default_factory=Calibration)
    rule: SpanRule = field(default_factory=SpanRule)

    @property
    def name(self) -> str:
        return self.plan.name

    def probabilities(self, article: Article) -> list[Floats]:
        raw = self.tokens.marginals(self._tables(article))
        return [
            np.where(s.counted, self.calibration.apply(p), 0.0)
            for p, s in zip(raw, article.sentences, strict=True)
        ]

    def labels(self, article: Article) -> list[list[bool]]:
        if not self.plan.context:
            return self.tokens.best(self._tables(article))
        return [
            [bool(y and can) for y, can in zip(self.rule.choose(p), s.counted, strict=True)]
            for p, s in zip(self.probabilities(article), article.sentences, strict=True)
        ]

    def _tables(self, article: Article) -> list[Codes]:
        page = Page.of(article)
        likely: Floats | None = None
        if self.sentences is not None:
            likely = self.sentences.marginals([sentence_columns(page, self.terms)])[0]
        return token_tables(page, self.terms, sentences=likely)


#: Sentences without emphasis used per sentence with emphasis.
_PLAIN = 4.0
#: L2 penalty of the CRF over sentences; the CRF over words uses the plan's.
_SENTENCE_L2 = 4.0
#: Most cross-validation parts for the CRF over sentences, and for the one over words.
_SENTENCE_PARTS, _WORD_PARTS = 5, 3


def train(
    articles: Sequence[Article],
    dev: Sequence[Article] = (),
    *,
    plan: CrfPlan,
    base: CrfTagger | None = None,
) -> CrfTagger:
    """Train a tagger on `articles`; with context also on `dev`, which otherwise calibrates it.
    base: prior weights, changed as little as possible.

    Deterministic. Without tuning data (no dev part, one without emphasis, a single article),
    probabilities are not calibrated and a token is chosen from 0.5 on.

    Raises:
        InputError: no article emphasises anything.
    """
    if not any(any(s.labels) for a in articles for s in a.sentences):
        raise InputError(
            say(
                f"学習に使う {len(articles)} 記事に、強調された語が一つもありません",
                f"nothing is emphasised in the {len(articles)} articles to learn from",
            ),
            remedy=say("太字を含む文書を渡してください", "give documents that have bold words"),
        )
    if plan.context:
        articles, dev = [*articles, *dev], ()
    terms = base.terms if base else Terms.of(articles)
    pages = [Page.of(article) for article in articles]
    likely: Sequence[Floats | None] = [None] * len(pages)
    sentences: SparseCrf | None = None
    if plan.context:
        tables = [sentence_columns(page, terms) for page in pages]
        gold = [[any(s.labels) for s in a.sentences] for a in articles]

        def of_sentences(own: Sequence[int]) -> SparseCrf:
            return fit(
                [tables[i] for i in own],
                [gold[i] for i in own],
                l2=_SENTENCE_L2,
                steps=plan.steps,
                prior=base.sentences if base else None,
            )

        sentences = of_sentences(range(len(pages)))
        # On its own training articles a CRF is more certain than on a new one, and the CRF over the
        # words would learn to trust it too much.
        parts = _parts(articles, _SENTENCE_PARTS)
        likely = [
            model.marginals([tables[i]])[0] if model else np.full(len(tables[i]), 0.5)
            for i, model in enumerate(_unseeing(parts, of_sentences))
        ]
    rows = [token_tables(page, terms, sentences=p) for page, p in zip(pages, likely, strict=True)]

    def of_words(own: Sequence[int]) -> SparseCrf:
        return _fit_words(
            [articles[i] for i in own],
            [rows[i] for i in own],
            plan,
            base.tokens if base else None,
        )

    tagger = CrfTagger(plan, terms, of_words(range(len(pages))), sentences)
    if not plan.context:
        raw = [p for article in dev for p in tagger.probabilities(article)]
        return _finished(tagger, dev, raw)
    bold = {
        i for i, article in enumerate(articles) if any(any(s.labels) for s in article.sentences)
    }
    models = _unseeing(_parts(articles, _WORD_PARTS), of_words, needed=bold)
    # Without a model trained on other articles, all probabilities are 0.
    raw = [
        p
        for own, model in zip(rows, models, strict=True)
        for p in (model.marginals(own) if model else [np.zeros(len(t)) for t in own])
    ]
    return _finished(tagger, articles, raw)


def _fit_words(
    articles: Sequence[Article],
    rows: Sequence[Sequence[Codes]],
    plan: CrfPlan,
    prior: SparseCrf | None,
) -> SparseCrf:
    bold = sum(any(s.labels) for a in articles for s in a.sentences)
    rest = sum(len(a.sentences) for a in articles) - bold
    share = max(plan.plain, min(1.0, _PLAIN * bold / max(1, rest)))
    chosen = [
        (table, s.labels)
        for article, own in zip(articles, rows, strict=True)
        for s, table in zip(article.sentences, own, strict=True)
        if any(s.labels) or crc32(f"{article.id} {s.index}".encode()) < share * 2**32
    ]
    tables, labels = zip(*chosen, strict=True)
    return fit(tables, labels, l2=plan.l2, steps=plan.steps, prior=prior)


def _parts(articles: Sequence[Article], most: int) -> list[int]:
    """The part number of each article, at most `most` parts; both halves of a split article share
    one."""
    number = {name: i for i, name in enumerate(dict.fromkeys(a.id for a in articles))}
    return [number[article.id] % min(most, len(number)) for article in articles]


def _unseeing(
    parts: Sequence[int],
    fitted_on: Callable[[Sequence[int]], SparseCrf],
    *,
    needed: Collection[int] | None = None,
) -> list[SparseCrf | None]:
    """For each article, a model trained on the articles of the other parts; None if `needed`, the
    articles that can be learnt from (by default all), contains none of those."""
    out: list[SparseCrf | None] = [None] * len(parts)
    for part in sorted(set(parts)):
        others = [i for i, own in enumerate(parts) if own != part]
        if any(needed is None or i in needed for i in others):
            model = fitted_on(others)
            out = [model if own == part else had for own, had in zip(parts, out, strict=True)]
    return out


def _finished(tagger: CrfTagger, articles: Sequence[Article], raw: Sequence[Floats]) -> CrfTagger:
    """Calibrate and tune a tagger on probabilities of articles it was not trained on."""
    found = fitted([s for article in articles for s in article.sentences], raw)
    return replace(tagger, calibration=found[0], rule=found[1]) if found else tagger


_FORMAT = 2


def save(tagger: CrfTagger, path: Path) -> None:
    """Write the tagger atomically; weights of 0 are omitted."""
    about = {
        "format": _FORMAT,
        "bits": BITS,
        "plan": tagger.plan.model_dump(),
        "articles": tagger.terms.articles,
        "found_in": dict(sorted(tagger.terms.found_in.items())),
        "calibration": [tagger.calibration.scale, tagger.calibration.shift],
        "rule": [tagger.rule.threshold, tagger.rule.cost],
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    for name, model in (("tokens", tagger.tokens), ("sentences", tagger.sentences)):
        if model is not None:
            codes = np.flatnonzero(model.weights)
            arrays[f"{name}_codes"] = codes.astype(np.int32)
            arrays[f"{name}_weights"] = model.weights[codes]
            arrays[f"{name}_transitions"] = model.transitions
    with written_beside(path) as scratch, scratch.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load(path: Path) -> CrfTagger:
    """Load a tagger written by `save`.

    Raises:
        InputError: no such file, or the file contains no tagger of this kind.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if (about["format"], about["bits"]) != (_FORMAT, BITS):
                raise ValueError(f"its format is {about['format']} with {about['bits']} bits")
            return CrfTagger(
                CrfPlan.model_validate(about["plan"]),
                Terms(int(about["articles"]), about["found_in"]),
                _model(file, "tokens"),
                _model(file, "sentences") if "sentences_codes" in file else None,
                Calibration(*about["calibration"]),
                SpanRule(*about["rule"]),
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError, IndexError,
            zipfile.BadZipFile, ValidationError) as error:  # fmt: skip
        raise InputError(
            say(
                f"学習済みの CRF タガーではありません: {error}",
                f"this is not a trained CRF tagger: {error}",
            ),
            place=str(path),
            remedy=say(
                "学習が書き出したファイルを指定してください", "give the file that training wrote"
            ),
        ) from error


def _model(file: Any, name: str) -> SparseCrf:
    weights = np.zeros(1 << BITS)
    weights[file[f"{name}_codes"]] = file[f"{name}_weights"]
    transitions = np.asarray(file[f"{name}_transitions"], np.float64)
    if transitions.shape != (4, 4):
        raise ValueError(f"transitions of shape {transitions.shape}")
    return SparseCrf(weights, transitions)


@cache
def default_documents() -> frozenset[str]:
    """Digests of the articles that `default_tagger` was trained on."""
    return read_digests(files("naisei") / "data" / "emphasis_weights" / "documents.txt")


@cache
def default_tagger() -> CrfTagger:
    """Its weights, origin and limits: `naisei/data/emphasis_weights/README.md`."""
    with as_file(files("naisei") / "data" / "emphasis_weights" / "context.npz") as path:
        return load(path)
