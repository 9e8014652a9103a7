"""A conversation's run directory as a task, for `naisei runs resume`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, Where, World
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation
from naisei.intent.inquiry import NAME
from naisei.runs.conversation import recorded
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.result import RunResult
from naisei.runs.task import EpisodeRow, Summary, Task


class ConversationTask(Task[AssistConfig]):
    """The person continues a conversation, so there are no episodes to run.

    conversation: its state after the run.
    """

    system = "intent"
    concurrency = 1

    def __init__(self, config: AssistConfig) -> None:
        self.config, self.data_hash = config, ""
        self.conversation = Conversation()

    def episodes(self) -> list[Where]:
        return []

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        raise NotImplementedError("there are no episodes")

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return Summary(())

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return []

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        self.conversation = Conversation.from_log(
            chain.from_iterable(recorded(directory.log, NAME))
        )
