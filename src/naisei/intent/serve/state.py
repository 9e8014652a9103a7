"""What one server holds: the index, the world, the turn service, and what is kept of people."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue
from starlette.exceptions import HTTPException

from naisei.core import Search, World
from naisei.http import ThreadHandler
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation
from naisei.intent.effects import Weigh, WeighHandler, document_world
from naisei.intent.feedback import Sign, adjusted, read_feedback, write_feedback
from naisei.intent.schemas import Thresholds
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.turns import Session, Sessions, TurnService
from naisei.intent.serve.uploads import upload_folder
from naisei.intent.system import ASSIST
from naisei.lang import say
from naisei.models.base import ModelSettings
from naisei.models.registry import base_world
from naisei.retrieval.index import Index, SearchHandler
from naisei.system.execute import check_models
from naisei.system.sampling import completed, of_config

__all__ = ["ServerState", "find_passage", "open_state"]


def find_passage(index: Index, chunk: str) -> dict[str, JsonValue] | None:
    """The chunk of this id in the newest generation; `None` if it is not in it."""
    found = index.chunk(chunk)
    if found is None:
        return None
    return found.model_dump(
        mode="json", include={"id", "path", "title", "headings", "page", "date", "text"}
    )


class ServerState:
    """Made by `open_state`. options: uploads is resolved."""

    def __init__(
        self, options: ServeOptions, config: AssistConfig, index: Index, base: World
    ) -> None:
        self.options, self._config = options, config
        self._people = options.state / "feedback"
        self._index = index
        world = document_world(base, index, mode=config.mode, cuts=self._cuts).having(
            {
                Search: ThreadHandler(SearchHandler(index, mode=config.mode)),
                Weigh: ThreadHandler(WeighHandler(index)),
            }
        )
        self.turns = TurnService(Sessions(options.state), world, config.setting, options)

    def _cuts(self, user: str) -> Thresholds:
        base = self._config.setting.rules.thresholds
        return adjusted(base, read_feedback(self._file(user))) if user else base

    def _file(self, user: str) -> Path:
        # Names of users are the operator's, ids of sessions are secrets: neither is a file name.
        return self._people / f"{hashlib.sha256(user.encode()).hexdigest()[:32]}.jsonl"

    async def passage(self, chunk: str) -> dict[str, JsonValue] | None:
        """The chunk of this id in the index as it is now; `None` if there is none."""
        return await asyncio.to_thread(find_passage, self._index, chunk)

    def feedback(self, session: Session, sign: Sign) -> dict[str, JsonValue]:
        """Keep what a person thought of the last turn; returns their thresholds now.

        Raises:
            HTTPException: nothing was said yet.
        """
        steps = Conversation.told(self.turns.sessions.events(session)).steps
        if not steps:
            raise HTTPException(409, say("まだ会話がありません", "there is no turn yet"))
        dialogue = steps[-1]
        asked = len(dialogue.exchanges)
        write_feedback(self._file(session.person), sign, about=dialogue.utterance, asked=asked)
        cuts = self._cuts(session.person).model_dump(mode="json", exclude={"extended"})
        return {"sign": sign, "thresholds": cuts}

    async def close(self) -> None:
        await self.turns.close()
        self.turns.sessions.close()


@asynccontextmanager
async def open_state(
    options: ServeOptions, config: AssistConfig, *, settings: ModelSettings | None = None
) -> AsyncIterator[ServerState]:
    """Everything that a server needs, closed on leaving.

    Raises:
        InputError: no index, a model that cannot be opened, a folder that cannot be used, or
            that another server uses.
    """
    if options.uploads is not None:
        uploads = upload_folder(options.uploads)
        options = options.model_copy(update={"uploads": uploads})
    check_models(ASSIST, config)
    sampling_of = of_config(completed(ASSIST, config))
    with Index.open(config.index) as index:
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
                await state.close()
