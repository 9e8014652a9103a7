"""`naisei emphasis`: corpus, train, eval, tag, compare-encoders, demo."""

from __future__ import annotations

import typer

from naisei.cli.demo import DEMO, command_of
from naisei.emphasis.cli import compare, corpus, eval, tag, train
from naisei.lang import say

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "文書の大事な語句に太字を付ける",
        "Set in bold the words of a document that matter.",
    ),
)

app.command(
    "tag",
    help=say(
        "文書に強調の案を入れる (ほかは 1 バイトも変えない)",
        "Suggest emphasis in a document; not one other byte is changed.",
    ),
)(tag.command)
app.command(
    "corpus",
    help=say(
        "太字を含む文書からコーパスを作る (フォルダー、または Debian の日本語文書)",
        "Build a corpus from emphasised documents: a folder, or Debian's Japanese books.",
    ),
)(corpus.command)
app.command(
    "train",
    help=say("タガーを学習する (中断しても続きから)", "Train a tagger; it goes on if broken off."),
)(train.command)
app.command(
    "eval",
    help=say(
        "タガーをコーパスで測り、比べる (文書単位の交差検証)",
        "Measure and compare taggers on a corpus, cross-validated by document.",
    ),
)(eval.command)
app.command(
    "compare-encoders",
    help=say(
        "どのエンコーダーが言葉をよく理解するかを、強調付与で比べる",
        "Compare encoders by how well they find emphasis.",
    ),
)(compare.command)
app.command("demo", help=DEMO)(command_of("emphasis"))
