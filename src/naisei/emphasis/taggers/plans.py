"""Training settings of the taggers, for `--tagger NAME:KEY=VALUE,…`."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from naisei.identity import of_rooms
from naisei.system.config import Options, flag

#: The default encoder of neural taggers.
NAME = "multilingual-e5-small"


class CrfPlan(Options):
    """How a CRF tagger is trained.

    Without context it is that of Murata and Abe: likeliest labels (Viterbi), probabilities
    calibrated on the dev part. With context it chooses whole spans; calibration and spans are
    fitted to predictions for each article by a CRF that did not see it; the dev part is trained on.
    """

    context: bool = flag(
        False,
        "記事全体の特徴と、文の CRF も使い、区間を選ぶ",
        "Features of the whole article and a CRF over its sentences, beside those of Murata "
        "and Abe; whole spans are chosen.",
    )
    plain: float = flag(
        1.0,
        "強調のない文のうち学習に使う割合。ずれは較正で直る",
        "Share of the sentences without emphasis that the CRF over the words is trained on, at "
        "least; calibration corrects the shift.",
        gt=0,
        le=1,
    )
    l2: float = flag(1.0, "L2 正則化の重み", "Weight of ½‖w‖².", gt=0)
    steps: int = flag(80, "L-BFGS の反復の上限", "Steps of L-BFGS, at most.", ge=1)
    start: Literal["nothing", "bundled"] = flag(
        "nothing",
        "何も知らない所から学ぶ (nothing) か、同梱のタガーを記事に合わせる (bundled)",
        "Learn from nothing, or adapt the bundled tagger to the articles (bundled).",
    )

    @property
    def name(self) -> str:
        return "crf-context-spans.v2" if self.context else "crf-murata-viterbi.v2"


#: The CRF of the thesis' Table 4.1, and the CRF with features of the whole article.
BASELINE = CrfPlan()
CONTEXT = CrfPlan(context=True, plain=0.2)
#: Adapts the bundled tagger to a writer's few articles (`tag --like`). The reduced penalty gives
#: these more weight than the prior, which is better on development blogs than a full penalty.
ADAPTED = CrfPlan(context=True, start="bundled", l2=0.3)


class NeuralPlan(Options):
    """A network and its training: one row of the thesis' Table 4.1, or better."""

    body: Literal["transformer", "bilstm"] = flag(
        "transformer",
        "transformer、または静的な単語ベクトル上の BiLSTM",
        "transformer, or bilstm over static vectors of words.",
    )
    title: bool = flag(
        False, "入力にタイトルを添える", "The input is `[CLS] text [SEP] title` (§4.3.1)."
    )
    crf: bool = flag(
        False, "上に CRF を置く", "Eq. 4.1 on top; else every word is decided by itself."
    )
    encoder: str = flag(
        NAME,
        "エンコーダー: 既定のもの、Hugging Face のフォルダーか名前",
        "The default encoder, or a Hugging Face folder or name; a BiLSTM takes its vectors.",
    )
    layers: int | None = flag(
        None, "使う先頭の層の数 (既定: すべて)", "Its first layers; all by default.", ge=1
    )
    hidden: int = flag(300, "BiLSTM の各方向の次元", "Width of each direction of the BiLSTM.", ge=1)
    limit: int = flag(256, "入力の長さの上限 (サブワード)", "Subwords of an input.", ge=16)
    steps: int = flag(
        3000, "学習のステップ数", "Steps; the thesis: 3,000, BiLSTM 30,000 (§4.4.5).", ge=1
    )
    every: int = flag(
        300,
        "チェックポイントの間隔 (ステップ)",
        "Steps between checkpoints, of which the best on the dev part is kept.",
        ge=1,
    )
    batch: int = flag(16, "バッチの大きさ", "Inputs a step.", ge=1)
    rate: float = flag(
        2e-5, "学習率", "Learning rate; the thesis: 2e-5, BiLSTM 1e-4 (§4.4.5).", gt=0
    )
    plain: float = flag(
        1.0,
        "強調のない入力のうち学習に使う割合",
        "Share of the inputs without emphasis that is learnt from.",
        gt=0,
        le=1,
    )
    tuned: Literal["all", "layers"] = flag(
        "layers",
        "エンコーダーのうち学習する部分: すべて、単語ベクトル以外",
        "What is trained of the encoder: all (thesis), or all but its word vectors (layers).",
    )

    @property
    def name(self) -> str:
        """Such as `transformer-title-crf.v2`."""
        parts: list[str] = [self.body]
        parts += [word for word in ("title", "crf") if getattr(self, word)]
        return "-".join(parts) + ".v2"

    @property
    def digest(self) -> str:
        """Digest of the plan and of the code that runs it."""
        whole = f"{self.model_dump_json()}\n{of_rooms('emphasis', 'japanese')}"
        return sha256(whole.encode()).hexdigest()

    def for_cpu(self) -> NeuralPlan:
        """The same row of the tables, trainable in minutes on a CPU: three encoder layers, frozen
        word vectors, a fifth of the inputs without emphasis per epoch, and fewer, longer steps.
        A BiLSTM keeps all its layers, since it uses no encoder layers."""
        changes: dict[str, object] = {"plain": 0.2, "every": 100}
        if self.body == "bilstm":
            changes |= {"steps": 1500, "rate": 1e-3, "hidden": 150}
        else:
            changes |= {"layers": 3, "tuned": "layers", "steps": 600, "rate": 2e-4, "limit": 192}
        return NeuralPlan.model_validate({**self.model_dump(), **changes})
