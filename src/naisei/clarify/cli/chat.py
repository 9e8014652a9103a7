"""`naisei clarify chat`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from naisei.clarify.cli import flags
from naisei.clarify.session import Session
from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint
from naisei.cli.lang import say

__all__ = ["command"]

_TASK = say("課題", "Task")

User = Annotated[
    str,
    typer.Option(
        help=say("誰が話すか。メモは人ごとに残る", "Who is talking: notes are kept per person."),
        rich_help_panel=_TASK,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--scene",
        help=say(
            "データのこの件の状況を使う (発話は自分で入力する)",
            "Use the situation of this instance of the data; the words are yours.",
        ),
        rich_help_panel=_TASK,
    ),
]
Talk = Annotated[
    Literal["ja", "en"] | None,
    typer.Option(
        "--talk",
        help=say("話す言葉 (既定: 表示言語)", "Language to talk in; that of messages by default."),
        rich_help_panel=_TASK,
    ),
]


@grouped
def command(
    agent: flags.Agent = None,
    agent_option: flags.AgentOptions = None,
    model: flags.Model = None,
    user: User = "user",
    scene: At = None,
    language: Talk = None,
    data: options.Data = "ambigact40-open",
    memory: flags.Memory = None,
    trials: options.Trials = 3,
    quota: flags.Quota = 2,
    embedder: flags.Embedder = "auto",
    *,
    endpoint: Endpoint,
) -> None:
    from naisei.clarify import commands
    from naisei.clarify.choose import Wish

    wish = Wish(
        agents=[agent] if agent else (),
        agent_options=agent_option or (),
        models=[model] if model else (),
        memory=memory,
        rules={"trials": trials, "quota": quota},
        others={"data": data, "split": "all", "embedder": embedder},
    )
    commands.chat(
        wish,
        Session(settings=endpoint.settings(), concurrency=1, quiet=True),
        user=user,
        scene=scene,
        language=language,
    )
