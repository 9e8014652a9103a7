"""A conversation held in the terminal, and the directory that it is logged in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.text import Text

from naisei.core import AskUser, Event, InputError
from naisei.lengths import MESSAGE, too_long
from naisei.runs.asking import PendingQuestion
from naisei.runs.conversation import LiveConversation, Open
from naisei.runs.directory import RunDirectory
from naisei.runs.task import Configured
from naisei.terminal import Console


class TerminalConversation:
    """Shows a conversation, and gives the person's answers.

    you, name: what stands before the lines of the person and of the agent.
    """

    def __init__(self, conversation: LiveConversation, *, you: str, name: str) -> None:
        self.conversation, self.console = conversation, Console()
        self._you, self._name = you, name

    async def hold(self, opens: Open) -> None:
        """The conversation from its start, or from where it was left."""
        self.conversation.start(opens)
        try:
            await self.talk()
        finally:
            await self.conversation.leave()

    async def talk(self, since: int = 0) -> None:
        """Until the person leaves. since: the first event that is shown.

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
        """Print what is to be seen of an event."""
        raise NotImplementedError

    def fields(self, asked: PendingQuestion) -> Mapping[str, str] | None:
        """The person's answer; `None` when they leave: an empty line in place of a remark."""
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
        """What the person types. Raises EOFError when they leave (Ctrl-D)."""
        while True:
            said = self.console.input(Text.assemble((self._you, "bold cyan"), " > ")).strip()
            if not (told := too_long(said, MESSAGE)):
                return said
            self.console.print(Text(told))

    def say(self, text: str | Text) -> None:
        """A line of the agent."""
        self.console.print(Text.assemble((f"{self._name} > ", "bold green"), text))


@contextmanager
def conversation_directory(run: Configured, path: Path) -> Iterator[RunDirectory]:
    """The directory of a conversation; a new one in which nothing was said is removed again.

    run: with `config`, `system` and `data_hash`.
    """
    with RunDirectory.of(run, path) as directory:
        yield directory
        unused = directory.fresh and not any(directory.log.counts())
    if unused:
        shutil.rmtree(path)
