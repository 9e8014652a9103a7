"""A conversation with the assistant, a turn at a time: at the terminal and on the server.

Each turn is a part of the live conversation (`naisei.runs.conversation`): what was said before is
not worked out anew, and a turn that a killed process was working on goes on where it stood.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from naisei.core import AskUser, Chat, Event, Say, World
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation
from naisei.intent.effects import ShowingHandler, document_world
from naisei.intent.flow import inquiry
from naisei.intent.remembering import kept_for, known
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.system import ASSIST
from naisei.intent.task import SESSION, before_the_log, cuts_of
from naisei.lang import language, say
from naisei.memory.stream import KeptStream
from naisei.models.registry import base_world
from naisei.retrieval.index import Index
from naisei.runs.conversation import LiveConversation, Prepared
from naisei.runs.directory import RunDirectory
from naisei.runs.ledger import Ledger
from naisei.runs.log import RunLog
from naisei.system.execute import RunOptions, check_models
from naisei.system.sampling import completed, of_config


class Inquiry:
    """name: of its episodes in the log. kept: what is remembered of the user, if they allow it.
    before: what was said before the log begins."""

    def __init__(
        self,
        log: RunLog,
        name: str,
        *,
        user: str,
        kept: KeptStream | None = None,
        before: Conversation | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self._live = LiveConversation(
            log, name, language=language(), renews=True, on_event=on_event
        )
        self._user, self._before = user, before or Conversation()
        self._kept = kept if kept is not None and kept.allowed else None

    @property
    def conversation(self) -> Conversation:
        """As it stands."""
        return Conversation.told(self._live.events, self._before)

    def would_be(self, said: str) -> int:
        """The number of the line that these words would be, from 0: a turn that was left without
        its reply is not begun again by its own words."""
        conversation = self.conversation
        again = conversation.pending and self._heard() == said.strip()
        return len(conversation.steps) - again

    async def turn(self, said: str | None, setting: Setting, world: World) -> Reply | None:
        """One turn. A turn that was left without its reply is finished first; the same words
        again are that turn. said: `None` finishes what was left and nothing else.

        Returns:
            The last reply; `None` where there is none yet.

        Raises:
            EffectFailed: the flow could not do without what failed.
        """
        live, left = self._live, self.conversation.pending
        if said is None and not left:
            return self.conversation.last

        @asynccontextmanager
        async def opened(past: Sequence[Event]) -> AsyncIterator[Prepared]:
            told = Conversation.told(past, self._before)
            remembers = self._kept is not None
            flow = inquiry(setting, told, user=self._user, remembers=remembers)
            handlers: dict[Any, Any] = {AskUser: live.human(), Say: lambda effect: None}
            if self._kept is not None:
                handlers |= known(self._kept)
            yield Prepared(flow, world.having(handlers))

        live.start(opened, anew=bool(live.events) and not left)
        try:
            await self._rested()
            if said is not None and not (left and self._heard() == said.strip()):
                await live.answer({"text": said})
                await self._rested()
        finally:
            await live.leave()
        return self.conversation.last

    async def _rested(self) -> None:
        """Returns when it is the person's turn. Raises what stopped the conversation."""
        if (error := (await self._live.rest()).error) is not None:
            raise error

    def _heard(self) -> str:
        """What the person said last, in the log or before it."""
        steps = self._before.steps
        last = steps[-1].said[-1] if steps else ""
        return next((str(e.result) for e in reversed(self._live.events) if e.kind == "ask"), last)


def shown_while_written(
    setting: Setting, world: World, show: Callable[[str], None]
) -> tuple[Setting, World]:
    """The same, telling `show` what there is of an answer while a model writes it: the sentences
    that are whole and borne out. What was shown cannot be taken back, so a sentence that is not
    borne out is left out, and not written anew."""
    if not setting.rules.roles:
        return setting, world
    rules = setting.rules.model_copy(update={"unsupported": "drop"})
    handler = ShowingHandler(world.handler(Chat("answerer", ())), show)
    return setting.model_copy(update={"rules": rules}), world.having({Chat: handler})


class Released:
    """What has left of an answer, which nobody can take back. send: is given what is new of it.
    safe: what is fit to leave of a text."""

    def __init__(self, send: Callable[[str], None], safe: Callable[[str], str]) -> None:
        self._send, self._safe, self._text = send, safe, ""

    def show(self, text: str) -> None:
        """So much may leave by now. An answer that is written again is not begun again."""
        text = self._safe(text)
        if text.startswith(self._text) and text != self._text:
            self._send(text[len(self._text) :])
            self._text = text

    def rest(self, message: str) -> str:
        """What is left to send of the message, which is safe. One that is not what was released
        of it (the model wrote another in the end) is sent as a whole."""
        if message.startswith(self._text):
            return message[len(self._text) :]
        return "\n\n" + say("（答えを改めます）", "(Corrected:)") + f"\n\n{message}"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What `RunDirectory.of` needs to know."""

    config: AssistConfig
    system: str = "intent"
    data_hash: str = ""


class Session:
    """A conversation at the terminal, with its own log. Made by `open`."""

    def __init__(
        self, config: AssistConfig, options: RunOptions, log: RunLog, talk: Inquiry, world: World
    ) -> None:
        self._setting, self._options, self._log = config.setting, options, log
        self._talk, self._world = talk, world

    @staticmethod
    @asynccontextmanager
    async def open(
        config: AssistConfig, options: RunOptions, path: Path | None, remember: str | None = None
    ) -> AsyncIterator[Session]:
        """path: of its run directory; without one, nothing is kept. remember: the person of whom
        notes are kept, and used.

        Raises:
            InputError: no index, a model or directory that cannot be used.
        """
        check_models(ASSIST, config)
        kept = kept_for(remember, option="--remember") if remember is not None else None
        if kept is not None:
            kept.begin()
        with ExitStack() as opened:
            index = opened.enter_context(Index.open(config.index, groups=config.groups))
            before = None
            if path is None:
                folder = Path(opened.enter_context(TemporaryDirectory()))
                log = opened.enter_context(closing(RunLog(folder / "log.sqlite")))
            else:
                directory = opened.enter_context(
                    RunDirectory.of(_Kept(config), path, store=options.store)
                )
                log, before = directory.log, before_the_log(directory)
            async with base_world(
                config.models,
                settings=options.settings(1),
                sampling_of=of_config(completed(ASSIST, config)),
                cache=options.cache,
                resends_of={role.name: 0 for role in ASSIST.roles},
            ) as base:
                cuts = config.setting.rules.thresholds
                world = document_world(
                    base, index, mode=config.mode, cuts=lambda user: cuts_of(user, cuts)
                )
                talk = Inquiry(log, SESSION, user=config.user, kept=kept, before=before)
                yield Session(config, options, log, talk, world)

    @property
    def conversation(self) -> Conversation:
        return self._talk.conversation

    @property
    def ledger(self) -> Ledger:
        return self._log.ledger()

    @property
    def spent(self) -> str:
        """The bound that is used up, in words; looked at before each turn."""
        return self._options.budget.reached(self.ledger)

    async def turn(
        self, said: str | None, *, show: Callable[[str], None] | None = None
    ) -> Reply | None:
        """As `Inquiry.turn`. show: see `shown_while_written`."""
        setting, world = self._setting, self._world
        if show is not None:
            setting, world = shown_while_written(setting, world, show)
        return await self._talk.turn(said, setting, world)
