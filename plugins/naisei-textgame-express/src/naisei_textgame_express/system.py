"""The commands of the package: `naisei textworld-express make`."""

from __future__ import annotations

from naisei.system.declare import System, Verb

SYSTEM = System(
    name="textworld-express",
    about=("TextWorldExpress のゲームを選ぶ", "Choose games of TextWorldExpress."),
    verbs=(
        Verb(
            "make",
            (
                "ゲームを名指す小さなファイルを作る (遊ぶには Java が要る)",
                "Write small files that name games; playing them needs Java.",
            ),
            "naisei_textgame_express.make:make",
        ),
    ),
)
