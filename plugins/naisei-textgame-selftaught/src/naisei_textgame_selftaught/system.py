"""The package's commands: `naisei self-taught learn` and `naisei self-taught curve`."""

from __future__ import annotations

from naisei.system.declare import System, Verb

SYSTEM = System(
    name="self-taught",
    about=(
        "解答なしで学ぶ、料理ゲームのプレイヤー",
        "A player of cooking games that learns without walkthroughs.",
    ),
    verbs=(
        Verb(
            "learn",
            (
                "自分で遊んだ料理ゲームの得点と負けから規則を学ぶ",
                "Learn the rules of cooking games from own play: points and losses.",
            ),
            "naisei_textgame_selftaught.commands:learn",
        ),
        Verb(
            "curve",
            ("学習曲線の表と図", "Table and picture of measured learning curves."),
            "naisei_textgame_selftaught.commands:learning_curve",
        ),
    ),
)
