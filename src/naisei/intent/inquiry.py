"""A live conversation with the assistant, turn by turn, at the terminal and on the server.

Each turn is a part of the live conversation (`naisei.runs.conversation`): earlier parts are not
recomputed, and a killed turn resumes at its last step.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from naisei.core import AskUser, Chat, Event, Say, World, arun
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation, Dialogue
from naisei.intent.effects import ShowingHandler, document_world
from naisei.intent.feedback import cuts_of
from naisei.intent.flow import inquiry, personal
from naisei.intent.remembering import kept_for, known
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.system import ASSIST
from naisei.lang import language, say
from naisei.memory.stream import KeptStream
from naisei.models.registry import base_world
from naisei.retrieval.index import Index
from naisei.runs.conversation import LiveConversation, Prepared
from naisei.runs.directory import RunDirectory
from naisei.runs.log import RunLog
from naisei.system.declare import blocking
from naisei.system.execute import RunOptions, check_models
from naisei.system.sampling import completed, of_config

#: Name, in the log, of the conversation in a run directory.
NAME = "conversation"


class Inquiry:
    """log, name: of its episodes. setting, world: used by its turns. user: key of the thresholds.
    kept: the user's stored memory, if allowed."""

    def __init__(
        self,
        log: RunLog,
        name: str,
        setting: Setting,
        world: World,
        *,
        user: str,
        kept: KeptStream | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self._live = LiveConversation(
            log, name, language=language(), renews=True, on_event=on_event
        )
        self.log, self._setting, self._world, self._user = log, setting, world, user
        self._kept = kept if kept is not None and kept.allowed else None

    @property
    def conversation(self) -> Conversation:
        """The conversation so far."""
        return Conversation.from_log(self._live.events)

    def would_be(self, said: str) -> int:
        """The index of the turn for these words; an unfinished turn with the same words is
        resumed."""
        conversation = self.conversation
        again = conversation.pending and self._last_message() == said.strip()
        return len(conversation.steps) - again

    async def turn(
        self, said: str | None, *, show: Callable[[str], None] | None = None
    ) -> Reply | None:
        """One turn. An unfinished turn is completed first; the same words again are that turn.
        said: `None` only completes an unfinished turn. show: see `shown_while_written`.

        Returns:
            The last reply; `None` if there is none yet.

        Raises:
            EffectFailed: an effect that the flow requires failed.
        """
        live, left = self._live, self.conversation.pending
        if said is None and not left:
            return self.conversation.last
        setting, world = self._setting, self._world
        if show is not None:
            world = shown_while_written(setting, world, show)

        @asynccontextmanager
        async def opened(past: Sequence[Event]) -> AsyncIterator[Prepared]:
            remembers = self._kept is not None
            flow = inquiry(
                setting, Conversation.from_log(past), user=self._user, remembers=remembers
            )
            handlers: dict[Any, Any] = {AskUser: live.human(), Say: lambda effect: None}
            if self._kept is not None:
                handlers |= known(self._kept)
            yield Prepared(flow, world.having(handlers))

        live.start(opened, anew=bool(live.events) and not left)
        try:
            await self._rested()
            if said is not None and not (left and self._last_message() == said.strip()):
                await live.answer({"text": said})
                await self._rested()
        finally:
            await live.leave()
        return self.conversation.last

    async def _rested(self) -> None:
        """Wait for the person's turn. Raises the error that stopped the conversation."""
        if (error := (await self._live.rest()).error) is not None:
            raise error

    def _last_message(self) -> str:
        """The person's last message."""
        return next((str(e.result) for e in reversed(self._live.events) if e.kind == "ask"), "")


@dataclass(frozen=True, slots=True)
class _InquiryConfig:
    """A conversation as the input of `RunDirectory.of`."""

    config: AssistConfig
    system: str = "intent"
    data_hash: str = ""


@asynccontextmanager
async def opened(
    config: AssistConfig, options: RunOptions, path: Path | None, remember: str | None = None
) -> AsyncIterator[Inquiry]:
    """Open a conversation with its own log. path: its run directory; without one, nothing is
    stored. remember: the person whose notes are stored and used.

    Raises:
        InputError: no index, or an unusable model or directory.
    """
    check_models(ASSIST, config)
    kept = kept_for(remember, option="--remember") if remember is not None else None
    if kept is not None:
        kept.begin()
    with ExitStack() as stack:
        index = stack.enter_context(Index.open(config.index, groups=config.groups))
        if path is None:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            log = stack.enter_context(closing(RunLog(folder / "log.sqlite")))
        else:
            directory = RunDirectory.of(_InquiryConfig(config), path, store=options.store)
            log = stack.enter_context(directory).log
        async with base_world(
            config.models,
            settings=options.settings(1),
            sampling_of=of_config(completed(ASSIST, config)),
            cache=options.cache,
            resends_of={role.name: 0 for role in ASSIST.roles},
        ) as base:
            world = _world(config, index, base)
            yield Inquiry(log, NAME, config.setting, world, user=config.user, kept=kept)


def reply_in_memory(config: AssistConfig, index: Index, dialogue: Dialogue) -> Reply:
    """One step without a log, for use without models."""

    async def go() -> Reply:
        async with base_world({}) as base:
            flow = personal(dialogue, config.setting, user=config.user)
            return await arun(flow, _world(config, index, base))

    return blocking(go)()


def _world(config: AssistConfig, index: Index, base: World) -> World:
    cuts = config.setting.rules.thresholds
    return document_world(base, index, mode=config.mode, cuts=lambda user: cuts_of(user, cuts))


def shown_while_written(setting: Setting, world: World, show: Callable[[str], None]) -> World:
    """The setting and world that call `show` with complete, supported sentences while a model
    writes."""
    if not setting.rules.roles:
        return world
    return world.having({Chat: ShowingHandler(world.handler(Chat("answerer", ())), show)})


class Released:
    """Streams an answer irrevocably. send: receives new text. safe: returns the sendable part of a
    text."""

    def __init__(self, send: Callable[[str], None], safe: Callable[[str], str]) -> None:
        self._send, self._safe, self._text = send, safe, ""

    def show(self, text: str) -> None:
        """Send text up to here. A rewritten answer is not restarted."""
        text = self._safe(text)
        if text.startswith(self._text) and text != self._text:
            self._send(text[len(self._text) :])
            self._text = text

    def rest(self, message: str) -> str:
        """The unsent rest of the final message; the whole message if it differs from the sent
        part."""
        if message.startswith(self._text):
            return message[len(self._text) :]
        return "\n\n" + say("（答えを改めます）", "(Corrected:)") + f"\n\n{message}"
