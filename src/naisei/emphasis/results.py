"""Results of evaluation episodes, and their summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

from pydantic import BaseModel, ConfigDict

from naisei.emphasis.config import EvalConfig
from naisei.emphasis.metrics import Counted, Counts, counted, span_counts, spans, token_counts
from naisei.emphasis.schemas import Article, Sentence, Span, grouped_tokens
from naisei.lang import say
from naisei.runs.charts import Chart, Point
from naisei.runs.lines import Line, Mark
from naisei.runs.significance import wilcoxon_signed_rank
from naisei.runs.statistics import wilson_interval
from naisei.runs.task import Digest, EpisodeRow, Metric, Summary, Table


class TaggedDocument(BaseModel):
    """Marks in one document. untitled: marks without the title; `None` if not tried."""

    model_config = ConfigDict(frozen=True)

    article: str
    spans: tuple[Span, ...] = ()
    untitled: tuple[Span, ...] | None = None

    def labels(self, article: Article, *, untitled: bool = False) -> list[list[bool]]:
        """Per sentence and token."""
        rows = [[False] * len(s.tokens) for s in article.sentences]
        for number, start, end in (self.untitled or ()) if untitled else self.spans:
            rows[number][start:end] = [True] * (end - start)
        return rows


class FoldResult(BaseModel):
    """One fold of the cross-validation, or one document given to a language model.

    bins: of words by their probability, ten of equal width: how many, the sum of their
    probabilities, how many are emphasised; empty where the tagger gives labels only. tokens:
    tagged once. trained, tagged: seconds. aligned: share of the text that the reply of a
    language model repeats; 1 for taggers.
    """

    model_config = ConfigDict(frozen=True)

    documents: tuple[TaggedDocument, ...]
    bins: tuple[tuple[int, float, int], ...] = ()
    tokens: int = 0
    trained: float = 0.0
    tagged: float = 0.0
    aligned: float = 1.0


def tagged_spans(labels: Sequence[Sequence[bool]]) -> tuple[Span, ...]:
    """Convert labels per sentence to spans, in order."""
    return tuple(Span(n, *span) for n, row in enumerate(labels) for span in sorted(spans(row)))


UNTITLED = "empty-title/"


def by_document(
    articles: Mapping[str, Article], rows: Sequence[EpisodeRow], *, untitled: bool = False
) -> Counted:
    """Counts of the scored rows. untitled: counts of the same taggers without titles."""
    labels: dict[int, dict[str, list[list[bool]]]] = defaultdict(dict)
    for row in rows:
        for one in FoldResult.model_validate(row.result).documents if row.scored else ():
            if not untitled or one.untitled is not None:
                article = articles[one.article]
                labels[row.where.trial][one.article] = one.labels(article, untitled=untitled)
    return counted(articles, labels)


def summarise(
    config: EvalConfig,
    articles: Mapping[str, Article],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
) -> Summary:
    """All metrics over the scored rows; with `empty_title` also a second set, and a test."""
    results = [FoldResult.model_validate(row.result) for row in rows if row.scored]
    whole = by_document(articles, rows)
    metrics = whole.metrics()
    tables = []
    if config.empty_title:
        bare = by_document(articles, rows, untitled=True)
        metrics += bare.metrics(UNTITLED)
        tables.append(_titles(whole, bare, metrics))
    metrics += [_calibration(results), *_speed(results)]
    if config.models:
        metrics.append(_plain("aligned", [r.aligned for r in results], "no reply"))
    units = whole.units()
    extra = {"units": units, "clusters": units}
    return Summary(tuple(metrics), tuple(tables), tuple(notes), extra)


def _titles(whole: Counted, bare: Counted, metrics: Sequence[Metric]) -> Table:
    """Table 4.3: with titles, without, and Wilcoxon's p over documents."""
    named = {m.name: m.value for m in metrics}
    parts = ("token_precision", "token_recall", "token_f1", "emphasis_rate")
    values = (
        [whole.per_document(v) for v in _VALUES],
        [bare.per_document(v) for v in _VALUES],
    )
    tests = [wilcoxon_signed_rank(a, b, clusters=None) for a, b in zip(*values, strict=True)]
    return Table(
        say("タイトルの有無", "With and without titles"),
        (say("入力", "input"), *(p.removeprefix("token_") for p in parts)),
        (
            (say("タイトルあり", "with titles"), *(named[p] for p in parts)),
            (say("空タイトル", "empty titles"), *(named[UNTITLED + p] for p in parts)),
            ("p", *tests),
        ),
        note=say(
            "同じ学習済みのタガー。p は文書ごとの値のウィルコクソンの符号付き順位検定 (両側)",
            "The same trained tagger. p: two-sided Wilcoxon signed-rank test over documents",
        ),
    )


_VALUES: tuple[Callable[[Counts], float], ...] = (
    lambda c: c.precision,
    lambda c: c.recall,
    lambda c: c.f1,
    lambda c: c.rate,
)


def _calibration(results: Sequence[FoldResult]) -> Metric:
    """Expected calibration error (Naeini et al. 2015) over ten bins of equal width."""
    name, bins = "calibration_error", [r.bins for r in results if r.bins]
    n = sum(b[0] for own in bins for b in own)
    if not n:
        return Metric(name, nan, reason="no probabilities")
    gaps = [sum(own[i][1] - own[i][2] for own in bins) for i in range(len(bins[0]))]
    return Metric(name, sum(map(abs, gaps)) / n, n=n)


def _speed(results: Sequence[FoldResult]) -> list[Metric]:
    tokens, seconds = sum(r.tokens for r in results), sum(r.tagged for r in results)
    rate = tokens / seconds if seconds else nan
    speed = Metric("tokens_per_second", rate, n=tokens, reason="" if rate == rate else "no time")
    return [speed, _plain("training_seconds", [r.trained for r in results], "nothing trained")]


def _plain(name: str, values: Sequence[float], reason: str) -> Metric:
    """A mean without interval."""
    if not values:
        return Metric(name, nan, reason=reason)
    return Metric(name, sum(values) / len(values), n=len(values))


#: Most documents shown per fold, and most sentences per document.
_DOCUMENTS, _SENTENCES = 3, 12


def calibration(results: Sequence[tuple[str, Any]]) -> list[Chart]:
    """Calibration: share of emphasised words by predicted probability, with Wilson's intervals;
    `None` without probabilities."""
    folds = [f for _, r in results if (f := FoldResult.model_validate(r)).bins]
    points = []
    for i in range(len(folds[0].bins) if folds else 0):
        n, given, hits = (sum(fold.bins[i][part] for fold in folds) for part in range(3))
        if n:
            low, high = wilson_interval(round(hits), round(n))
            points.append(Point(given / n, hits / n, low, high))
    ideal = [Point(0.0, 0.0), Point(1.0, 1.0)]
    lines = {say("実際", "measured"): points, say("理想", "ideal"): ideal}
    title = say("確率の当たり方", "Calibration")
    axes = say("予測した確率", "predicted probability"), say("実際の割合", "measured share")
    return [Chart(title, lines, *axes)] if points else []


def digest(result: Any) -> Digest:
    """A fold for lists: how much of it was marked."""
    fold = FoldResult.model_validate(result)
    marked = sum(len(d.spans) for d in fold.documents)
    did = say(
        f"{len(fold.documents)} 文書、{marked} 箇所",
        f"{len(fold.documents)} documents, {marked} spans",
    )
    return Digest(did=did)


def fold_lines(articles: Mapping[str, Article], result: FoldResult) -> list[Line]:
    """Lines for the first documents of a fold; sentences without marks are left out."""
    shown = result.documents[:_DOCUMENTS]
    lines = [line for one in shown for line in _document(articles[one.article], one)]
    if more := len(result.documents) - len(shown):
        lines.append(Line(say(f"ほか {more} 文書", f"and {more} more documents"), tone="dim"))
    return lines


def emphasised(sentence: Sentence, labels: Sequence[bool]) -> str:
    """The sentence with its marked words in `**`."""
    return "".join(
        f"**{text}**" if marked else text for text, marked in grouped_tokens(sentence, labels)
    )


def _document(article: Article, tagged: TaggedDocument) -> list[Line]:
    labels = tagged.labels(article)
    tokens, spans = token_counts(article, labels), span_counts(article, labels)
    agreement = Mark(f"F1 {tokens.f1:.3f} ({say('区間', 'spans')} {spans.f1:.3f})")
    lines = [Line(f"《{article.title}》 {article.id}", tone="head", marks=(agreement,))]
    shown = 0
    for sentence, row in zip(article.sentences, labels, strict=True):
        if not (any(row) or any(sentence.labels)):
            continue
        if shown == _SENTENCES:
            lines.append(Line("…"))
            break
        shown += 1
        lines.append(Line(emphasised(sentence, sentence.labels), say("編集者", "editor")))
        lines.append(Line(emphasised(sentence, row), say("タガー", "tagger")))
    return lines
