"""Several taggers side by side (Tables 4.1 and 4.2), each against the first."""

from __future__ import annotations

from naisei.emphasis.results import UNTITLED
from naisei.lang import say
from naisei.runs.compare import differences, side_by_side
from naisei.runs.task import Table
from naisei.system.studies import Study

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
_COMPARED = ("token_f1_article", "span_f1_article")


def study_tables(study: Study) -> tuple[Table, ...]:
    """One row a tagger; then each against the first, paired by document."""
    rows = {
        label + (say(" (空タイトル)", " (empty titles)") if prefix else ""): {
            name.removeprefix(prefix): metric
            for name, metric in metrics.items()
            if name.startswith(prefix)
        }
        for label, metrics in study.metrics.items()
        for prefix in ("", UNTITLED)
        if f"{prefix}token_f1" in metrics
    }
    tagger = say("タガー", "tagger")
    found = say(
        "全文書の語をまとめた値の、学習の回数についての平均。区間は文書をまとまりとする 95 % 区間",
        "Over the words of all documents, the mean of the trainings; "
        "95 % intervals, documents as clusters",
    )
    more = say(
        "F1/document: 文書ごとの F1 の平均。rate: 強調率。ECE: 確率の較正誤差",
        "F1/document: mean of the documents' F1; rate: words emphasised; "
        "ECE: expected calibration error",
    )
    # With the first as named: the best of these documents would win on them by luck, too.
    paired = say(
        "文書ごとの F1 の差の平均。ウィルコクソンの符号付き順位検定 (両側)、ホルムの補正",
        "Mean difference of the F1 of each document; two-sided Wilcoxon signed-rank test, "
        "Holm's correction",
    )
    shown = (
        (say("タガーの比較", "Taggers compared"), _FOUND, found),
        (say("区間、文書ごと、確率", "Spans, documents, probabilities"), _MORE, more),
    )
    return (
        *(
            side_by_side(title, rows, names, bounded=_BOUNDED, first=tagger, note=note)
            for title, names, note in shown
        ),
        *differences(study.summaries, _COMPARED, note=paired, ranks=True),
    )
