"""`naisei emphasis`: eval."""

from __future__ import annotations

import typer

from naisei.cli.lang import say
from naisei.emphasis.cli import eval

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "文書の大事な語句に太字を付ける",
        "Set in bold the words of a document that matter.",
    ),
)


@app.callback()
def _group() -> None:
    pass


app.command(
    "eval",
    help=say(
        "付与器をコーパスで測り、比べる (文書単位の交差検証)",
        "Measure and compare taggers on a corpus, cross-validated by document.",
    ),
)(eval.command)
