"""A conversation in the terminal, and the directory in which it is logged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, JsonValue, RootModel
from rich.text import Text

from naisei.core import AskUser, Event, InputError
from naisei.lang import say
from naisei.lengths import MESSAGE, too_long
from naisei.runs.asking import PendingQuestion
from naisei.runs.conversation import LiveConversation, Open, before_step
from naisei.runs.directory import RunDirectory
from naisei.runs.fork import Fork, begin, check
from naisei.terminal import Console

#: Name of a conversation in its log.
CONVERSATION = "conversation"


class TerminalConversation:
    """Displays a conversation and reads the person's answers.

    you, name: labels before the lines of the person and of the agent.
    """

    def __init__(self, conversation: LiveConversation, *, you: str, name: str) -> None:
        self.conversation, self.console = conversation, Console()
        self._you, self._name = you, name

    async def hold(self, opens: Open) -> None:
        """Start the conversation, or resume it where it stopped."""
        self.conversation.start(opens)
        try:
            await self.talk()
        finally:
            await self.conversation.leave()

    async def talk(self, since: int = 0) -> None:
        """Talk until the person leaves. since: the first event that is shown.

        Raises whatever stopped the conversation.
        """
        try:
            async for _, events, status in self.conversation.follow(since):
                for event in events:
                    self.show(event)
                if status is None or status.state == "going":
                    continue
                if status.asked is None:
                    assert status.error is not None, "a conversation has no end"
                    raise status.error
                if not await self._answered(status.asked):
                    break
        except EOFError:
            self.console.print()

    def show(self, event: Event) -> None:
        """Print the visible part of an event."""
        raise NotImplementedError

    def fields(self, asked: PendingQuestion) -> Mapping[str, str] | None:
        """Read the person's answer; `None` if they leave: an empty line without a question."""
        question = asked.effect.question if isinstance(asked.effect, AskUser) else ""
        if question:
            self.say(question)
        text = self.hear()
        return {"text": text} if text or question else None

    async def _answered(self, asked: PendingQuestion) -> bool:
        while (fields := self.fields(asked)) is not None:
            try:
                await self.conversation.answer(fields)
            except InputError as error:
                self.console.print(Text(error.message))
            else:
                return True
        return False

    def hear(self) -> str:
        """Read the person's input. Raises EOFError when they leave (Ctrl-D)."""
        while True:
            said = self.console.input(Text.assemble((self._you, "bold cyan"), " > ")).strip()
            if not (told := too_long(said, MESSAGE)):
                return said
            self.console.print(Text(told))

    def say(self, text: str | Text) -> None:
        """Print a line of the agent."""
        self.console.print(Text.assemble((f"{self._name} > ", "bold green"), text))


@dataclass(frozen=True, slots=True)
class _Conversed:
    """The minimal task of a conversation, for its run directory."""

    system: str
    config: BaseModel
    data_hash: str = ""


@contextmanager
def conversation_directory(system: str, config: BaseModel, path: Path) -> Iterator[RunDirectory]:
    """Open the directory of a conversation; removes a new one if nothing was said."""
    with RunDirectory.of(_Conversed(system, config), path) as directory:
        yield directory
        unused = directory.fresh and not any(directory.log.counts())
    if unused:
        shutil.rmtree(path)


class _Settings(RootModel[dict[str, JsonValue]]):
    """Frozen fields of any conversation."""


def fork_conversation(
    parent: Path, episode: str, step: str, path: Path | None, answer: str | None = None
) -> Path:
    """Copy a conversation up to a step into a new one. The question at the step is asked again
    unless an `answer` to it is passed. Returns the path of the new conversation.

    Raises:
        InputError: the step does not exist or takes no answer, or `path` already exists.
    """
    with RunDirectory.look(parent) as old:
        frozen = old.frozen
        part, before = before_step(old.log, CONVERSATION, episode, step)
        at = next(event for event in old.log.read(part) if event.where.step == step)
    fork = Fork(parent=str(parent.resolve()), episode=part, step=step, answer=answer)
    if answer is not None:
        check(fork, at)
        before.append(replace(at, result=answer))
    path = path or Path("runs") / f"{parent.resolve().name}-fork-{step}"
    same = _Conversed(frozen.system, _Settings(frozen.config), frozen.data_hash)
    with RunDirectory.of(same, path) as new:
        if not new.fresh:
            raise InputError(
                say("もう会話があります", "holds a conversation already"), place=str(path)
            )
        begin(new.log, fork, before, {})
    return path
