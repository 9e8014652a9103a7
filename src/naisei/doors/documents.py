"""The document assistant's flow, one step at a time, for integrations that store the dialogue."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from naisei.cli.flags import configurations
from naisei.core import EventLog, World, arun
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import document_world
from naisei.intent.flow import assist
from naisei.intent.inquiry import shown_while_written
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.system import ASSIST
from naisei.models.base import ModelSettings
from naisei.models.registry import base_world
from naisei.retrieval.index import Index
from naisei.runs.spans import traced


@dataclass(frozen=True, slots=True)
class Documents:
    """An open index, and the models that evaluate and answer. Made by `open`."""

    setting: Setting
    world: World

    @staticmethod
    @asynccontextmanager
    async def open(
        index: Path, model: str | None = None, *, settings: ModelSettings | None = None
    ) -> AsyncIterator[Documents]:
        """model: plays both roles; without one, rules and quotations are used.

        Raises:
            InputError: no index there, or a model that cannot be opened.
        """
        given = {"index": index, **({"model": model} if model else {})}
        (config,) = configurations(ASSIST, **given).values()
        with Index.open(config.index) as opened:
            async with base_world(config.models, settings=settings) as base:
                world = document_world(base, opened, mode=config.mode, threads=True)
                yield Documents(config.setting, world)

    async def step(
        self,
        dialogue: Dialogue,
        *,
        show: Callable[[str], None] | None = None,
        log: EventLog | None = None,
    ) -> Reply:
        """Return a question or the answer. show: called with the partial answer. log: receives the
        model calls."""
        setting, world = self.setting, self.world
        if show is not None:
            world = shown_while_written(setting, world, show)
        return await arun(assist(dialogue, setting), traced(world), log=log, apart=True)
