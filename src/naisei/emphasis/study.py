"""Several taggers side by side (Tables 4.1 and 4.2), each against the first;
and the comparison of encoders."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from naisei.core import InputError
from naisei.emphasis.config import EncoderConfig, EvalConfig, SplitConfig
from naisei.emphasis.results import UNTITLED
from naisei.emphasis.taggers.plans import NAME, NeuralPlan
from naisei.emphasis.taggers.registry import neural_plan, parsed
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


_DEFAULT = tuple(f"{NAME}:{layers}" for layers in (3, 6, 12))


def encoder_configs(config: EncoderConfig) -> dict[str, EvalConfig]:
    """Label → configuration: the same tagger on each encoder, all else alike.

    What the tagger's own settings say stays as it is, also with the settings for a CPU.

    Raises:
        InputError: a tagger without an encoder, no such setting, or layers that are no number.
    """
    shared = config.model_dump(include=set(SplitConfig.model_fields))
    base = EvalConfig.model_validate(shared)
    name, options = parsed(config.tagger)
    plan = neural_plan(name, options)
    small = not _has_gpu() if config.small is None else config.small

    def settings(whole: NeuralPlan) -> dict[str, JsonValue]:
        sized = whole.for_cpu() if small else whole
        kept = whole.model_dump(mode="json", include=set(options))
        # Only what differs from the row's own: that is what the configuration shows.
        plain = type(whole)().model_dump(mode="json")
        now = {**sized.model_dump(mode="json"), **kept}
        return {key: value for key, value in now.items() if value != plain[key] or key in kept}

    out: dict[str, EvalConfig] = {}
    if config.baselines:
        out["crf"] = base.model_copy(update={"tagger": "crf"})
        bare = settings(neural_plan("bilstm", {}))
        out["bilstm"] = base.model_copy(update={"tagger": "bilstm", "options": bare})
    for spec in dict.fromkeys(config.encoder or _DEFAULT):
        own = {**settings(plan), **_encoder(spec)}
        out[spec] = base.model_copy(update={"tagger": name, "options": own})
    return out


def _encoder(spec: str) -> dict[str, JsonValue]:
    name, colon, layers = spec.rpartition(":")
    # A path may hold a colon: only a number after it is a number of layers.
    if not colon or "/" in layers or "\\" in layers:
        return {"encoder": spec, "layers": None}
    if not layers.isdecimal() or not int(layers):
        raise InputError(
            say(f"'{layers}' は層の数ではありません", f"'{layers}' is no number of layers"),
            place=f"--encoder {spec}",
            remedy=say("書き方: 名前:層の数", "write NAME:LAYERS"),
        )
    return {"encoder": name, "layers": int(layers)}


def _has_gpu() -> bool:
    from naisei.emphasis.taggers.neural.encoder import needs_torch

    needs_torch("safetensors")
    from naisei.emphasis.taggers.neural.tagger import device_of

    return device_of("auto") != "cpu"
