"""`naisei clarify chat`: the user is a person at the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from rich.text import Text

from naisei.clarify.agent import AgentContext, build_agent
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.conversation import BeliefState, prepared
from naisei.clarify.data import Dataset, load, load_actions
from naisei.clarify.lines import DONE, ENDED, GAVE_UP
from naisei.clarify.person import Person, people_directory
from naisei.clarify.schemas import ActionSet, Language, Scene
from naisei.clarify.system import RUN
from naisei.core import AskUser, Event, InputError
from naisei.japanese.consent import consent
from naisei.lang import language as shown_language
from naisei.lang import say
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.models.registry import base_world
from naisei.runs.asking import PendingQuestion
from naisei.runs.conversation import LiveConversation, Prepared
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen
from naisei.runs.terminal import CONVERSATION, TerminalConversation, conversation_directory
from naisei.system.config import Options, flag
from naisei.system.execute import RunOptions, check_models
from naisei.terminal import Panel

_JAPANESE, _ENGLISH = "ambigact40-open", "ambigact40-open-en"


@dataclass(frozen=True, slots=True)
class ChatSetup:
    """The setup of a conversation: the situation (without an utterance) and the actions."""

    scene: Scene
    actions: ActionSet


def chat_setup(
    config: ClarifyConfig, *, scene: str | None, asked: Language | None, shown: Language
) -> ChatSetup:
    """The situation and the actions of a conversation.

    scene: an instance or scene of the data; `None` for an unspecified situation. asked: the
    requested language, if any; otherwise English for bundled English data, the scene's language,
    or `shown`, the language of messages.

    Raises:
        InputError: the data is unusable, or the scene does not exist.
    """
    source, _, split = config.data.partition(":")
    language = asked or ("en" if source == _ENGLISH else shown)
    bundled = source in (_JAPANESE, _ENGLISH)
    if bundled:
        name = _ENGLISH if language == "en" else _JAPANESE
        data = _load(config, name, split or config.split)
    else:
        data = _load(config, config.data, config.split)
    actions = data.actions
    if bundled and not config.actions:
        actions = load_actions(language=language)
    if scene is None:
        return ChatSetup(Scene(id="own", utterance="", language=language), actions)
    found = [i.scene for i in data.instances if scene in (i.id, i.scene_id)]
    if not found:
        raise InputError(
            say(
                f"データに '{scene}' という件や場面はありません",
                f"the data has no instance or scene '{scene}'",
            ),
            place="--scene",
            remedy=say(f"例: {data.instances[0].id}", f"for instance {data.instances[0].id}"),
        )
    spoken = language if asked or bundled else found[0].language
    return ChatSetup(found[0].model_copy(update={"language": spoken}), actions)


def _load(config: ClarifyConfig, source: str, split: str | None) -> Dataset:
    return load(source, split=split, seed=config.seed, actions=config.actions or None)


_WORDS: dict[Language, dict[str, str]] = {
    "ja": {
        "you": "あなた",
        "agent": "内省",
        "hello": "何か言ってみてください。終わるときは空のまま Enter、または Ctrl-D。",
        "memo": "{name}さんについてのメモ",
        "empty": "まだ何もありません",
        "right?": "これで合っていますか？ [y/n]",
        "again": "はい（y）か、いいえ（n）で答えてください。",
        "bye": "また今度。",
    },
    "en": {
        "you": "you",
        "agent": "naisei",
        "hello": "Say something. An empty line or Ctrl-D ends the conversation.",
        "memo": "Notes on {name}",
        "empty": "nothing yet",
        "right?": "Is that what you wanted? [y/n]",
        "again": "Please answer yes (y) or no (n).",
        "bye": "Until next time.",
    },
}


class ChatOptions(Options):
    """Flags of `naisei clarify chat`."""

    user: str = flag(
        "user", "誰が話すか。メモは人ごとに残る", "Who is talking: notes are kept per person."
    )
    scene: str | None = flag(
        None,
        "データのこの件の状況を使う (発話は自分で入力する)",
        "Use the situation of this instance of the data; the words are yours.",
    )
    talk: Language | None = flag(
        None, "話す言葉 (既定: 表示言語)", "Language to talk in; that of messages by default."
    )
    run_dir: Path | None = flag(
        None,
        "ここに記録する。会話があれば、その設定のまま続きから話す (既定: runs/ の下の新しい場所)",
        "Where it is logged; a conversation that is there goes on as it was set up. A new place "
        "under runs/ by default.",
        panel="run",
    )


class _ChatConfig(BaseModel):
    """The frozen configuration of a conversation. scene: without an utterance. person: the notes at
    the start."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Literal["chat"] = "chat"
    setting: ClarifyConfig
    scene: Scene
    actions: ActionSet
    person: Person


class _Terminal(TerminalConversation):
    def __init__(self, config: _ChatConfig, conversation: LiveConversation) -> None:
        self._config, self._words = config, _WORDS[config.scene.language]
        super().__init__(conversation, you=self._words["you"], name=self._words["agent"])

    async def talk(self, since: int = 0) -> None:
        self.console.print(Text(self._words["hello"]))
        self._show_notes()
        await super().talk(since or len(self.conversation.events))
        self.say(self._words["bye"])

    def show(self, event: Event) -> None:
        request = event.request
        if event.kind == "say" and isinstance(request, dict):
            speaker = request["speaker"]
            if ended := ENDED.get(str(speaker)):
                self.say(ended[self._config.scene.language])
            if speaker in (DONE, GAVE_UP):
                self._show_notes()

    def fields(self, pending: PendingQuestion) -> Mapping[str, str] | None:
        if isinstance(pending.effect, AskUser):
            return super().fields(pending)
        action = pending.effect.action["execute"]  # type: ignore[attr-defined]
        self.say(f"→ {self._config.actions.text(int(str(action)))}")
        while True:
            self.console.print(Text(self._words["right?"]))
            if (right := consent(self.hear())) is not None:
                return {"right": "yes" if right else "no"}
            self.console.print(Text(self._words["again"]))

    def _show_notes(self) -> None:
        person = BeliefState.of(self._config.person, self.conversation.events).person
        text = person.notes(self._config.scene.language) or self._words["empty"]
        title = self._words["memo"].format(name=person.name)
        self.console.print(Panel(Text(text), title=title, title_align="left"))


def chat_command(config: ClarifyConfig, options: RunOptions, *, chat: ChatOptions) -> None:
    """`naisei clarify chat`.

    Raises:
        InputError: the model, data or directory is unusable.
        EffectFailed: an external call failed; the next call resumes there.
    """
    if chat.run_dir is not None and (frozen := chat.run_dir / "config.json").is_file():
        held = Frozen.read(frozen).config_as(_ChatConfig, frozen)
    else:
        stands = chat_setup(config, scene=chat.scene, asked=chat.talk, shown=shown_language())
        person = Person.load(chat.user, people_directory())
        held = _ChatConfig(
            setting=config,
            scene=stands.scene.model_copy(update={"utterance": ""}),
            actions=stands.actions,
            person=person,
        )
    check_models(RUN, held.setting)
    path = chat.run_dir or Path("runs") / f"clarify-chat-{datetime.now():%Y%m%d-%H%M%S-%f}"
    with conversation_directory("clarify", held, path) as directory:
        asyncio.run(_chat(held, options, directory))


async def _chat(config: _ChatConfig, options: RunOptions, directory: RunDirectory) -> None:
    setting, settings = config.setting, options.settings(concurrency=1)
    agent = build_agent(
        setting.agent,
        AgentContext(
            actions=config.actions,
            alpha=setting.alpha,
            trials=setting.rules.trials,
            options=setting.agent_options,
            embedder=lambda: KeptEmbedder(open_embedder(setting.embedder)),
        ),
    )
    conversation = LiveConversation(
        directory.log, CONVERSATION, language=config.scene.language, renews=True
    )
    async with base_world(setting.models, settings=settings, embedder=setting.embedder) as base:

        @asynccontextmanager
        async def opened(past: Sequence[Event]) -> AsyncIterator[Prepared]:
            yield prepared(
                config.scene,
                config.actions,
                agent,
                setting.rules,
                memory=setting.memory,
                person=config.person,
                directory=people_directory(),
                past=past,
                base=base,
                human=conversation.human,
            )

        await _Terminal(config, conversation).hold(opened)
