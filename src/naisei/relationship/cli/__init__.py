"""`naisei relationship`: run, ablate, rate, plot, compare, report, recall, export, …"""

from __future__ import annotations

from importlib import import_module

import typer

from naisei.cli.demo import DEMO, command_of
from naisei.lang import say

__all__ = ["app"]

#: Command → its help in Japanese and English. Each is `command` of the module of its name.
_COMMANDS = {
    "run": (
        "二人の人物に日付のある会話をさせ、互いの関係値を読む",
        "Let two personas talk over dated sessions, and read how they stand.",
    ),
    "ablate": (
        "内省なし・注入なし・注入ありの三通りを一度に比べる",
        "No reflection, reflection without injection, with injection: all three, compared.",
    ),
    "rate": (
        "手持ちの会話の関係値を 1 発話ずつ求める",
        "Rate a dialogue that there is, turn by turn.",
    ),
    "plot": ("関係値の推移を描く", "Draw how the readings go."),
    "compare": ("注入の効果などを対応ありで比べる", "Compare conversations, paired."),
    "report": (
        "値から根拠、根拠から発話へたどれる報告を書く",
        "A report that leads from a number to its evidence and to the lines.",
    ),
    "recall": (
        "LoCoMo 形式の長い会話で、根拠の検索を測る",
        "Measure retrieval on long conversations in LoCoMo's form.",
    ),
    "export": (
        "実行記録から agent_a.json などを書き出す",
        "Write agent_a.json and the other files from a run's log.",
    ),
    "personas": ("同梱の人物の組", "The pairs of personas that ship."),
}


app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "二人の関係を値として読み、次の発話に生かし、図にする",
        "A relationship that is felt, measured and shown.",
    ),
)

for _name, (_ja, _en) in _COMMANDS.items():
    app.command(_name, help=say(_ja, _en))(import_module(f"{__name__}.{_name}").command)
app.command("demo", help=DEMO)(command_of("relationship"))
