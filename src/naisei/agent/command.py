"""`naisei talk`. Its implementation is imported on call."""

from __future__ import annotations

import typer

from naisei.agent.options import MemoryOptions, TalkOptions
from naisei.cli.parameters import with_options
from naisei.lang import say

app = typer.Typer(invoke_without_command=True)


@app.callback()
@with_options
def talk_command(context: typer.Context, options: TalkOptions) -> None:
    if context.invoked_subcommand is None:
        from naisei.agent.terminal import talk

        talk(options)


@app.command(
    "memory",
    help=say("覚えていることを見る・消す", "Show or erase what is remembered of somebody."),
)
@with_options
def memory_command(options: MemoryOptions) -> None:
    from naisei.agent.terminal import memory

    memory(options)
