"""Several taggers side by side (Tables 4.1 and 4.2), each against the first."""

from __future__ import annotations

from collections.abc import Mapping

from naisei.emphasis.results import UNTITLED
from naisei.lang import say
from naisei.runs.compare import differences
from naisei.runs.task import Metric, Table
from naisei.system.execute import Study

#: Metric → its column: of the words found (Table 4.1), and of the rest.
_FOUND = {"token_precision": "precision", "token_recall": "recall", "token_f1": "F1"}
_MORE = {
    "span_f1": "span F1",
    "token_f1_article": "F1/document",
    "emphasis_rate": "rate",
    "calibration_error": "ECE",
    "tokens_per_second": "words/s",
}
_BOUNDED = ("token_f1", "span_f1")
_NAN = float("nan")


def study_tables(study: Study) -> tuple[Table, ...]:
    """One row a tagger; then each against the first, paired by document."""
    summaries = {label: result.summary for label, result in study.results.items()}
    named = {label: {m.name: m for m in s.metrics} for label, s in summaries.items()}
    tables = [
        _side_by_side(
            say("タガーの比較", "Taggers compared"),
            named,
            _FOUND,
            say(
                "全文書の語をまとめた値の、学習の回数についての平均。"
                "区間は文書をまとまりとする 95 % 区間",
                "Over the words of all documents, the mean of the trainings; "
                "95 % intervals, documents as clusters",
            ),
        ),
        _side_by_side(
            say("区間、文書ごと、確率", "Spans, documents, probabilities"),
            named,
            _MORE,
            say(
                "F1/document: 文書ごとの F1 の平均。rate: 強調率。ECE: 確率の較正誤差",
                "F1/document: mean of the documents' F1; rate: words emphasised; "
                "ECE: expected calibration error",
            ),
        ),
    ]
    if len(named) > 1:
        # With the first as named: the best of these documents would win on them by luck, too.
        note = say(
            "文書ごとの F1 の差の平均。ウィルコクソンの符号付き順位検定 (両側)、ホルムの補正",
            "Mean difference of the F1 of each document; two-sided Wilcoxon signed-rank test, "
            "Holm's correction",
        )
        compared = ("token_f1_article", "span_f1_article")
        tables.append(differences(summaries, compared, note=note, ranks=True))
    return tuple(tables)


def _side_by_side(
    title: str, named: Mapping[str, Mapping[str, Metric]], shown: Mapping[str, str], note: str
) -> Table:
    """One row a tagger, and one for what it says where titles are withheld."""
    columns = [say("タガー", "tagger")]
    for name, head in shown.items():
        columns += [head, f"{head} low", f"{head} high"] if name in _BOUNDED else [head]
    lines: list[tuple[str | float | int, ...]] = []
    for label, metrics in named.items():
        for prefix in ("", UNTITLED):
            if f"{prefix}token_f1" not in metrics:
                continue
            cells: list[str | float | int] = [
                label + (say(" (空タイトル)", " (empty titles)") if prefix else "")
            ]
            for name in shown:
                m = metrics.get(prefix + name)
                value, low, high = (m.value, m.low, m.high) if m else (_NAN, _NAN, _NAN)
                cells += [value, low, high] if name in _BOUNDED else [value]
            lines.append(tuple(cells))
    return Table(title, tuple(columns), tuple(lines), note=note)
