"""What one server holds: the index, the world, the desk, and what is kept of people."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from naisei.core import InputError, Sampling, Search, World
from naisei.http.server import ThreadHandler
from naisei.intent.config import AssistConfig
from naisei.intent.effects import Weigh
from naisei.intent.feedback import Sign, adjusted, read_feedback, write_feedback
from naisei.intent.serve.desk import Desk
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.passages import find_passage
from naisei.intent.serve.sessions import Sessions, Talk
from naisei.intent.serve.uploads import upload_folder
from naisei.intent.thresholds import Thresholds
from naisei.intent.weighing import WeighHandler
from naisei.intent.world import document_world
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.retrieval.index import Index, SearchHandler

__all__ = ["House", "open_house"]

#: Rubbish of a model is repaired once; then the rules take over.
_RESENDS = {"evaluator": 0, "rewriter": 0, "answerer": 0}


class House:
    """Made by `open_house`. options: uploads is resolved."""

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
        self.desk = Desk(Sessions(options.state), world, config.setting, options)

    def _cuts(self, user: str) -> Thresholds:
        base = self._config.setting.rules.thresholds
        return adjusted(base, read_feedback(self._file(user))) if user else base

    def _file(self, user: str) -> Path:
        # Names of users are the operator's, ids of sessions are secrets: neither is a file name.
        return self._people / f"{hashlib.sha256(user.encode()).hexdigest()[:32]}.jsonl"

    async def passage(self, chunk: str) -> dict[str, JsonValue] | None:
        """The chunk of this id in the index as it is now; `None` if there is none."""
        return await asyncio.to_thread(find_passage, self._index, chunk)

    def feedback(self, talk: Talk, sign: Sign) -> dict[str, JsonValue]:
        """Keep what a person thought of the last turn; returns their thresholds now."""
        dialogue = talk.dialogue()
        asked = len(dialogue.exchanges)
        write_feedback(self._file(talk.person), sign, about=dialogue.utterance, asked=asked)
        cuts = self._cuts(talk.person).model_dump(mode="json", exclude={"extended"})
        return {"sign": sign, "thresholds": cuts}

    async def close(self) -> None:
        await self.desk.close()
        self.desk.sessions.close()


@asynccontextmanager
async def open_house(
    options: ServeOptions, config: AssistConfig, *, settings: ModelSettings | None = None
) -> AsyncIterator[House]:
    """Everything that a server needs, closed on leaving.

    Raises:
        InputError: no index, a model that cannot be opened, a folder that cannot be used, or
            that another server uses.
    """
    if options.uploads is not None:
        options = replace(options, uploads=upload_folder(options.uploads))
    sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
    with Index.open(config.index) as index:
        async with base_world(
            config.models, settings=settings, sampling_of=sampling_of, resends_of=_RESENDS
        ) as base:
            for role in config.setting.rules.roles:
                if role not in config.models:
                    raise InputError(
                        say(
                            f"{role} のモデルが指定されていません",
                            f"the {role} needs a model, and none is given",
                        ),
                        place=f"--{role}-model",
                        remedy=say("--model を付けてください", "give --model PROVIDER:NAME"),
                    )
            house = House(options, config, index, base)
            try:
                yield house
            finally:
                await house.close()
