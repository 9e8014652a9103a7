"""A conversation with a persona in the terminal, and the stored memories of a person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from rich.text import Text

from naisei.agent.opening import ROLES, TalkConfig, opened
from naisei.agent.options import AgentRules, MemoryOptions, TalkOptions
from naisei.agent.persona import load_persona, shipped
from naisei.agent.wording import emphasised
from naisei.clarify.lines import THOUGHT
from naisei.clarify.person import Person, people_directory
from naisei.core import Event
from naisei.intent.remembering import kept_for
from naisei.lang import language, say
from naisei.memory.stream import KeptStream
from naisei.models.registry import base_world
from naisei.runs.conversation import LiveConversation, Prepared
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen
from naisei.runs.terminal import CONVERSATION, TerminalConversation, conversation_directory
from naisei.terminal import Console, Panel


def talk(options: TalkOptions) -> None:
    """`naisei talk`.

    Raises:
        InputError: the persona, model, document folder or run directory is unusable.
        EffectFailed: an external call failed; the next call resumes there.
    """
    if options.show_persona:
        _print_persona(options.persona)
        return
    kept = kept_for(options.user, option="--user")
    if options.remember is not None:
        (kept.begin if options.remember else kept.end)()
    config = _config(options)
    path = options.run_dir or Path("runs") / f"talk-{datetime.now():%Y%m%d-%H%M%S-%f}"
    with conversation_directory("agent", config, path) as directory:
        asyncio.run(_talk(config, options, directory, kept if kept.allowed else None))


def memory(options: MemoryOptions) -> None:
    """`naisei talk memory`."""
    kept = kept_for(options.user, option="--user")
    people = people_directory()
    if options.forget:
        kept.end()
        Person.update(options.user, people, lambda person: person.remember(""))
    memo = Person.load(options.user, people).memo
    console = Console()
    console.print(Text(memo or say("メモはありません", "no memo")))
    for entry in kept.entries():
        console.print(Text(f"{entry.time:%Y-%m-%d %H:%M} {entry.text}"))


def _print_persona(name: str) -> None:
    load_persona(name)
    shown = files("naisei.data") / "agents" / f"{name}.toml" if name in shipped() else Path(name)
    print(shown.read_text("utf-8"), end="")


def _config(options: TalkOptions) -> TalkConfig:
    if options.run_dir is not None and (frozen := options.run_dir / "config.json").is_file():
        return Frozen.read(frozen).config_as(TalkConfig, frozen)
    given = {"documents": options.documents, "world": options.world}
    given = {name: value for name, value in given.items() if value is not None}
    persona = load_persona(options.persona).model_copy(update=given)
    roles = [role for role in ROLES if role != "judge" or options.judge]
    rules = {name: getattr(options, name) for name in AgentRules.model_fields}
    return TalkConfig(
        persona=persona,
        rules=AgentRules(**rules),
        models=dict.fromkeys(roles, options.model) if options.model else {},
        person=options.user,
        memo=Person.load(options.user, people_directory()).memo,
    )


async def _talk(
    config: TalkConfig, options: TalkOptions, directory: RunDirectory, kept: KeptStream | None
) -> None:
    # Errors are in the user's language; the persona speaks its own.
    conversation = LiveConversation(directory.log, CONVERSATION, language=language(), renews=True)
    settings = options.settings(concurrency=1)
    async with base_world(config.models, settings=settings, embedder=config.embedder) as base:

        def prepared(past: Sequence[Event]) -> AbstractAsyncContextManager[Prepared]:
            return opened(
                config,
                base,
                past,
                folder=directory.path,
                people=people_directory(),
                kept=kept,
                human=conversation.human(),
            )

        await _Terminal(config, conversation).hold(prepared)


class _Terminal(TerminalConversation):
    def __init__(self, config: TalkConfig, conversation: LiveConversation) -> None:
        name = config.persona.profile.name
        super().__init__(conversation, you=say("あなた", "you"), name=name)
        title = config.persona.title[language() == "en"]
        hint = say(
            "話しかけてください。空の行か Ctrl-D で終わります。",
            "Say something; an empty line or Ctrl-D ends.",
        )
        if config.persona.actions:
            hint += say(
                "行動は、行ったことにして報告するだけです。",
                " It only says that it does its actions.",
            )
        self.console.print(Panel(Text(hint), title=title, title_align="left"))

    def show(self, event: Event) -> None:
        request = event.request
        if event.kind == "say" and isinstance(request, dict) and request["speaker"] != THOUGHT:
            text, meta = str(request["text"]), request["meta"]
            self.say(bold(emphasised(text)) if isinstance(meta, dict) and "reply" in meta else text)


def bold(text: str) -> Text:
    """Render Markdown bold for the terminal; leave the rest unchanged."""
    parts = text.split("**")
    return Text.assemble(*((part, "bold" * (n % 2)) for n, part in enumerate(parts)))
