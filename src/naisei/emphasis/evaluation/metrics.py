"""What a run of the evaluation amounts to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import nan

from naisei.emphasis.evaluation.config import EvalConfig
from naisei.emphasis.evaluation.counting import Counted, counted
from naisei.emphasis.evaluation.results import PartResult
from naisei.emphasis.metrics import Counts
from naisei.emphasis.schemas import Article
from naisei.lang import say
from naisei.runs.significance import wilcoxon_signed_rank
from naisei.runs.task import EpisodeRow, Metric, Summary, Table

__all__ = ["UNTITLED", "by_document", "summarise"]

UNTITLED = "empty-title/"


def by_document(
    articles: Mapping[str, Article], rows: Sequence[EpisodeRow], *, untitled: bool = False
) -> Counted:
    """Counts of the scored rows; untitled: of the same taggers without titles."""
    labels: dict[int, dict[str, list[list[bool]]]] = defaultdict(dict)
    for row in rows:
        for one in PartResult.model_validate(row.result).documents if row.scored else ():
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
    """All metrics over the scored rows; with `empty_title` a second set, and the test of both."""
    results = [PartResult.model_validate(row.result) for row in rows if row.scored]
    whole = by_document(articles, rows)
    metrics = whole.metrics(seed=config.seed)
    tables = []
    if config.empty_title:
        bare = by_document(articles, rows, untitled=True)
        metrics += bare.metrics(UNTITLED, seed=config.seed)
        tables.append(_titles(whole, bare, metrics))
    metrics += [_calibration(results), *_speed(results)]
    if config.models:
        metrics.append(_plain("aligned", [r.aligned for r in results], "no reply"))
    units = whole.units()
    paired = [m.name for m in metrics if units and len(m.per_unit) == len(units)]
    extra = {"units": units, "clusters": units, "paired": paired}
    return Summary(tuple(metrics), tuple(tables), tuple(notes), extra)


def _titles(whole: Counted, bare: Counted, metrics: Sequence[Metric]) -> Table:
    """Table 4.3: with titles, without, and Wilcoxon's p over documents."""
    named = {m.name: m.value for m in metrics}
    parts = ("token_precision", "token_recall", "token_f1", "emphasis_rate")
    values = (
        [whole.per_document(v) for v in _VALUES],
        [bare.per_document(v) for v in _VALUES],
    )
    tests = [wilcoxon_signed_rank(a, b) for a, b in zip(*values, strict=True)]
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


def _calibration(results: Sequence[PartResult]) -> Metric:
    """Expected calibration error (Naeini et al. 2015) over ten bins of equal width."""
    name, bins = "calibration_error", [r.bins for r in results if r.bins]
    n = sum(b[0] for own in bins for b in own)
    if not n:
        return Metric(name, nan, reason="no probabilities")
    gaps = [sum(own[i][1] - own[i][2] for own in bins) for i in range(len(bins[0]))]
    return Metric(name, sum(map(abs, gaps)) / n, n=n)


def _speed(results: Sequence[PartResult]) -> list[Metric]:
    tokens, seconds = sum(r.tokens for r in results), sum(r.tagged for r in results)
    rate = tokens / seconds if seconds else nan
    speed = Metric("tokens_per_second", rate, n=tokens, reason="" if rate == rate else "no time")
    return [speed, _plain("training_seconds", [r.trained for r in results], "nothing trained")]


def _plain(name: str, values: Sequence[float], reason: str) -> Metric:
    """A mean without interval."""
    if not values:
        return Metric(name, nan, reason=reason)
    return Metric(name, sum(values) / len(values), n=len(values))
