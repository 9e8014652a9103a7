"""The state of a server: index, world, turn service, and stored personal data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import JsonValue
from starlette.exceptions import HTTPException

from naisei.core import World
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation
from naisei.intent.effects import document_world
from naisei.intent.feedback import Sign, adjusted, read_feedback, write_feedback
from naisei.intent.schemas import Thresholds
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.people import feedback_of
from naisei.intent.serve.turns import Session, TurnService
from naisei.intent.system import ASSIST
from naisei.kept_text import KeptText
from naisei.lang import say
from naisei.models.base import ModelSettings
from naisei.models.registry import base_world
from naisei.retrieval.index import Index
from naisei.system.execute import check_models
from naisei.system.sampling import completed, of_config


def find_passage(index: Index, chunk: str) -> dict[str, JsonValue] | None:
    """The chunk with this id in the newest generation; `None` if missing."""
    found = index.chunk(chunk)
    if found is None:
        return None
    return found.model_dump(
        mode="json", include={"id", "path", "title", "headings", "page", "date", "text"}
    )


#: Cached index views by groups.
_SEEN = 64


class ServerState:
    """Made by `open_state`."""

    def __init__(
        self, options: ServeOptions, config: AssistConfig, index: Index, base: World
    ) -> None:
        self.options, self._config = options, config
        self._index, self._base = index, base
        self._worlds: dict[frozenset[str], tuple[Index, World]] = {}
        self.turns = TurnService(self._world, config.setting, options)

    async def _world(self, groups: frozenset[str]) -> World:
        return (await self._seen_by(groups))[1]

    async def _seen_by(self, groups: frozenset[str]) -> tuple[Index, World]:
        """The index and the world for these groups."""
        if groups not in self._worlds:
            mode, seen = self._config.mode, {*groups, *self._config.groups}
            index = await asyncio.to_thread(self._index.seen_by, seen)
            world = document_world(self._base, index, mode=mode, cuts=self._cuts, threads=True)
            if len(self._worlds) >= _SEEN:
                del self._worlds[next(iter(self._worlds))]
            self._worlds[groups] = index, world
        return self._worlds[groups]

    def _cuts(self, user: str) -> Thresholds:
        base = self._config.setting.rules.thresholds
        return adjusted(base, read_feedback(self._file(user))) if user else base

    def _file(self, user: str) -> KeptText:
        return feedback_of(self.options.state, user, self.options.store)

    async def passage(
        self, chunk: str, groups: frozenset[str] = frozenset()
    ) -> dict[str, JsonValue] | None:
        """The chunk with this id in the current index; `None` if missing or not visible to these
        groups."""
        index, _ = await self._seen_by(groups)
        return await asyncio.to_thread(find_passage, index, chunk)

    def feedback(self, session: Session, sign: Sign) -> dict[str, JsonValue]:
        """Store feedback on the last turn; returns the new thresholds.

        Raises:
            HTTPException: no turn yet.
        """
        steps = Conversation.from_log(self.turns.events(session)).steps
        if not steps:
            raise HTTPException(409, say("まだ会話がありません", "there is no turn yet"))
        dialogue = steps[-1]
        asked = len(dialogue.exchanges)
        write_feedback(self._file(session.person), sign, about=dialogue.utterance, asked=asked)
        cuts = self._cuts(session.person).model_dump(mode="json", exclude={"extended"})
        return {"sign": sign, "thresholds": cuts}


@asynccontextmanager
async def open_state(
    options: ServeOptions, config: AssistConfig, *, settings: ModelSettings | None = None
) -> AsyncIterator[ServerState]:
    """Open everything that a server needs; close it on leaving.

    Raises:
        InputError: no index, a model that cannot be opened, or a folder that is unusable or used
            by another server.
    """
    check_models(ASSIST, config)
    sampling_of = of_config(completed(ASSIST, config))
    with Index.open(config.index, groups=config.groups) as index:
        async with base_world(
            config.models,
            settings=settings,
            sampling_of=sampling_of,
            resends_of={role.name: 0 for role in ASSIST.roles},
        ) as base:
            state = ServerState(options, config, index, base)
            try:
                yield state
            finally:
                await state.turns.close()
