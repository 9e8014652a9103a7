"""The flags of the text games' commands, as annotated types for typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = [
    "Agent",
    "AgentOptions",
    "Count",
    "CountOfLevel",
    "Filter",
    "Ftwp",
    "Games",
    "Level",
    "MaxSteps",
    "Out",
    "OutputTokens",
    "PlayerModel",
    "Processes",
    "ReflectorModel",
    "Rooms",
    "Split",
    "Temperature",
    "Tries",
    "Twc",
]

_TASK = say("課題", "Task")
_SETS = say("公開データ", "Public sets")

Agent = Annotated[
    str,
    typer.Option("--agent", help=say("プレイヤー", "The player."), rich_help_panel=_TASK),
]
AgentOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-option",
        metavar="KEY=VALUE",
        help=say(
            "プレイヤーの設定 (複数可)。知らない名前を渡すと一覧が出る",
            "Setting of the player, repeatable; an unknown one gets the list.",
        ),
        rich_help_panel=_TASK,
    ),
]
Games = Annotated[
    Path | None,
    typer.Option(
        "--games",
        metavar="DIR|FILE",
        help=say(
            "ゲーム (.z8、.json) かそのフォルダー", "A game (.z8, .json) or a folder of them."
        ),
        rich_help_panel=_TASK,
    ),
]
Twc = Annotated[
    Path | None,
    typer.Option(
        "--twc",
        metavar="DIR",
        help=say(
            "IBM commonsense-rl の games/twc (easy、medium、hard の親)",
            "IBM's commonsense-rl games/twc: the folder with easy, medium and hard.",
        ),
        rich_help_panel=_SETS,
    ),
]
Ftwp = Annotated[
    Path | None,
    typer.Option(
        "--ftwp",
        metavar="DIR|ZIP",
        help=say(
            "First TextWorld Problems のフォルダーか zip (train、valid、test)",
            "First TextWorld Problems: its folder or zip, with train, valid and test.",
        ),
        rich_help_panel=_SETS,
    ),
]
Split = Annotated[
    str,
    typer.Option(
        "--split",
        metavar="train|valid|test",
        help=say("分割 (既定: test)", "Split; test by default."),
        rich_help_panel=_SETS,
    ),
]
Level = Annotated[
    str,
    typer.Option(
        "--level",
        metavar="easy|medium|hard",
        help=say("TWC の難易度 (既定: 全部)", "Level of TWC; all by default."),
        rich_help_panel=_SETS,
    ),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(
        "--max-steps",
        min=1,
        help=say(
            "1 ゲームの手数の上限 (既定: 片付け 20、料理 100)",
            "Commands a game lasts; by default 20 for tidying up, 100 for cooking.",
        ),
        rich_help_panel=_TASK,
    ),
]
Filter = Annotated[
    Literal["none", "thesis", "strict"],
    typer.Option(
        "--filter",
        help=say(
            "候補の絞り込み (thesis は論文 §6.3.3)",
            "Which candidates the player is shown; thesis is its §6.3.3.",
        ),
        rich_help_panel=_TASK,
    ),
]
Tries = Annotated[
    int,
    typer.Option(
        "--tries",
        min=1,
        help=say(
            "同じゲームを続けて何回試すか (達成したら終わり)。memory を設定したプレイヤーは"
            "失敗のたびにメモを書く。--trials は互いに無関係な試行",
            "Tries at each game in sequence, until it is won; a player with a memory writes a "
            "memo after each failed one. The plays of --trials know nothing of each other.",
        ),
        rich_help_panel=_TASK,
    ),
]
Temperature = Annotated[
    float | None,
    options.temperature(say("サンプリング温度", "Sampling temperature of player and reflector.")),
]
OutputTokens = Annotated[
    int | None,
    options.output_tokens(
        say(
            "1 回の応答の長さの上限 (トークン)", "Longest reply of player and reflector, in tokens."
        )
    ),
]
PlayerModel = Annotated[str | None, options.role_model("player")]
ReflectorModel = Annotated[str | None, options.role_model("reflector")]
Out = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help=say("書き込むフォルダー", "Folder to write.")),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--n",
        min=1,
        help=say("作る数 (既定: 全部)", "How many; all of the set by default."),
    ),
]
CountOfLevel = Annotated[
    int | None,
    typer.Option(
        "--n",
        min=1,
        help=say(
            "難易度ごとに作る数 (既定: 5)", "How many of each level; 5 by default, as in TWC."
        ),
    ),
]
Rooms = Annotated[
    int | None,
    typer.Option(
        "--rooms",
        min=1,
        help=say(
            "部屋の数、1〜12 (既定: 難易度どおり、hard は 1 か 2)",
            "Rooms, 1 to 12; by default the level's: one, or for hard one or two.",
        ),
    ),
]
Processes = Annotated[
    int | None,
    typer.Option("--processes", min=1, help=say("並べるプロセスの数", "Processes side by side.")),
]
