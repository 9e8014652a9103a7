"""A person in the terminal is the user: the same flow as in a run, with other handlers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from naisei import plugins
from naisei.clarify.agent import Agent, AgentContext, build_agent
from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.data import Dataset, load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.clarify.data.loader import GROUP
from naisei.clarify.flow import episode
from naisei.clarify.person import Outcome, Person, PersonMemory, people_directory
from naisei.clarify.schemas import ActionSet, Instance, Language, Scene
from naisei.clarify.system import RUN
from naisei.core import Act, AskUser, InputError, Observation, Remember, World, arun
from naisei.lang import language as shown_language
from naisei.lang import say
from naisei.lengths import MESSAGE, too_long
from naisei.memory import MemoryHandler
from naisei.memory import memory as open_memory
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.models.registry import base_world
from naisei.system.execute import RunOptions, check_models
from naisei.system.sampling import completed, of_config
from naisei.terminal import Console, Panel

__all__ = ["Chat", "Ground", "chat", "ground"]


_JAPANESE, _ENGLISH = "ambigact40-open", "ambigact40-open-en"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a sitting stands on: the situation (without any words yet) and the actions."""

    scene: Scene
    actions: ActionSet


def ground(
    config: ClarifyConfig, *, scene: str | None, asked: Language | None, shown: Language
) -> Ground:
    """The situation and the actions of a sitting.

    scene: an instance or scene of the data, `None` for a situation without particulars.
    asked: the language to talk in, if somebody said so; else it is that of the data where
    the data is bundled and English, that of the scene, or `shown`, that of messages.

    Raises:
        InputError: unusable data, or no such scene.
    """
    source, _, split = config.data.partition(":")
    language = asked or ("en" if source == _ENGLISH else shown)
    bundled = source in (_JAPANESE, _ENGLISH)
    if bundled:
        name = _ENGLISH if language == "en" and _has_english() else _JAPANESE
        data = _load(config, name, split or config.split)
    else:
        data = _load(config, config.data, config.split)
    actions = data.actions
    if bundled and not config.actions:
        actions = load_actions(language=language)
    if scene is None:
        return Ground(Scene(id="sitting", utterance="", language=language), actions)
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
    return Ground(found[0].model_copy(update={"language": spoken}), actions)


def _has_english() -> bool:
    return _ENGLISH in plugins.names(GROUP) and Path(folder("en")).is_dir()


def _load(config: ClarifyConfig, source: str, split: str | None) -> Dataset:
    return load(source, split=split, seed=config.seed, actions=config.actions or None)


_WORDS = {
    "ja": {
        "you": "あなた",
        "agent": "内省",
        "hello": "何か言ってみてください。終わるときは空のまま Enter、または Ctrl-D。",
        "memo": "{name}さんについてのメモ",
        "empty": "まだ何もありません",
        "right?": "これで合っていますか？ [y/n]",
        "yes": ("y", "yes", "はい", "うん", "ええ", "そう", "合ってる", "○"),
        "no": ("n", "no", "いいえ", "ううん", "違う", "ちがう", "×"),
        "again": "はい（y）か、いいえ（n）で答えてください。",
        "done": "わかりました。覚えておきます。",
        "sorry": "お役に立てませんでした。次に生かします。",
        "bye": "また今度。",
    },
    "en": {
        "you": "you",
        "agent": "naisei",
        "hello": "Say something. An empty line or Ctrl-D ends the sitting.",
        "memo": "Notes on {name}",
        "empty": "nothing yet",
        "right?": "Is that what you wanted? [y/n]",
        "yes": ("y", "yes", "yeah", "yep"),
        "no": ("n", "no", "nope"),
        "again": "Please answer yes (y) or no (n).",
        "done": "Good. I will remember that.",
        "sorry": "I could not help. I will do better next time.",
        "bye": "Until next time.",
    },
}


class Chat:
    """One sitting with one person."""

    def __init__(
        self,
        *,
        agent: Agent,
        actions: ActionSet,
        base: World,
        person: Person,
        directory: Path,
        rules: Rules,
        scene: Scene,
        policy: tuple[str, str],
        console: Console,
    ) -> None:
        self.agent, self.actions, self.base, self.rules = agent, actions, base, rules
        self.person, self.directory, self.scene = person, directory, scene
        self.console = console
        self.words = _WORDS[scene.language]
        self.notes = PersonMemory(person, scene.language, *policy)
        self._utterance = ""

    def world(self) -> World:
        """The base world, with the person as user and as judge of actions."""
        return self.base.having(
            {AskUser: self._ask, Act: self._act, Remember: MemoryHandler(self.notes)}
        )

    async def once(self, utterance: str, number: int) -> bool:
        """One request from utterance to outcome; True if the wanted action was found."""
        self._utterance = utterance
        scene = self.scene.model_copy(update={"id": f"sitting-{number}", "utterance": utterance})
        # The hidden intent is in the person's head: no id stands for it.
        instance = Instance(id=scene.id, scene=scene, gold=0)
        flow = episode(instance, self.actions, self.agent, self.notes, self.rules)
        result = await arun(flow, self.world())
        self.person.save(self.directory)
        return result.first_success is not None

    def show_notes(self) -> None:
        text = self.notes.recall() or str(self.words["empty"])
        title = str(self.words["memo"]).format(name=self.person.name)
        self.console.print(Panel(Text(text), title=title, title_align="left"))

    def hear(self) -> str:
        """What the person types. Raises EOFError when they leave (Ctrl-D)."""
        while True:
            prompt = Text.assemble((str(self.words["you"]), "bold cyan"), " > ")
            said = self.console.input(prompt).strip()
            if not (told := too_long(said, MESSAGE)):
                return said
            self.console.print(Text(told))

    def say(self, text: str) -> None:
        self.console.print(Text.assemble((f"{self.words['agent']} > ", "bold green"), text))

    def _ask(self, effect: AskUser) -> str:
        self.say(effect.question)
        return self.hear()

    def _act(self, effect: Act) -> Observation:
        assert isinstance(effect.action, dict)
        action = self.actions.text(int(str(effect.action["execute"])))
        self.say(f"→ {action}")
        right = self._yes(str(self.words["right?"]))
        self.person.learned(Outcome(utterance=self._utterance, action=action, right=right))
        self.person.save(self.directory)
        return Observation(reward=float(right), done=True)

    def _yes(self, question: str) -> bool:
        while True:
            self.console.print(Text(question))
            said = self.hear().lower().rstrip("。.！!")
            if said in self.words["yes"]:
                return True
            if said in self.words["no"]:
                return False
            self.console.print(Text(str(self.words["again"])))


async def chat(sitting: Chat) -> None:
    """Serve requests until the person leaves. The notes are saved after each."""
    sitting.console.print(Text(str(sitting.words["hello"])))
    sitting.show_notes()
    number = 0
    try:
        while utterance := sitting.hear():
            number += 1
            found = await sitting.once(utterance, number)
            sitting.say(str(sitting.words["done" if found else "sorry"]))
            sitting.show_notes()
    except EOFError:
        sitting.console.print()
    sitting.say(str(sitting.words["bye"]))


User = Annotated[
    str,
    typer.Option(
        help=say("誰が話すか。メモは人ごとに残る", "Who is talking: notes are kept per person."),
        rich_help_panel=say("課題", "Task"),
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
        rich_help_panel=say("課題", "Task"),
    ),
]
Talk = Annotated[
    Language | None,
    typer.Option(
        "--talk",
        help=say("話す言葉 (既定: 表示言語)", "Language to talk in; that of messages by default."),
        rich_help_panel=say("課題", "Task"),
    ),
]


def command(
    config: ClarifyConfig,
    options: RunOptions,
    *,
    user: User = "user",
    scene: At = None,
    language: Talk = None,
) -> None:
    """`naisei clarify chat`."""
    check_models(RUN, config)
    policy = open_memory(config.memory)
    directory = people_directory()
    person = Person.load(user, directory)
    stands = ground(config, scene=scene, asked=language, shown=shown_language())
    agent = build_agent(
        config.agent,
        AgentContext(
            actions=stands.actions,
            alpha=config.alpha,
            trials=config.rules.trials,
            options=config.agent_options,
            embedder=lambda: KeptEmbedder(open_embedder(config.embedder)),
        ),
    )

    async def go() -> None:
        settings = options.settings(concurrency=1)
        sampling = of_config(completed(RUN, config))
        async with base_world(
            config.models, settings=settings, sampling_of=sampling, embedder=config.embedder
        ) as base:
            await chat(
                Chat(
                    agent=agent,
                    actions=stands.actions,
                    base=base,
                    person=person,
                    directory=directory,
                    rules=config.rules,
                    scene=stands.scene,
                    policy=(policy.name, policy.prompt),
                    console=Console(),
                )
            )

    asyncio.run(go())
