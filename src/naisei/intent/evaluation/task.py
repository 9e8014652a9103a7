"""The evaluation as a task of the run engine: one episode per item."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import AskUser, Flow, Where, World, fingerprint
from naisei.intent.config import EvalConfig
from naisei.intent.effects import document_world
from naisei.intent.evaluation import flow, metrics
from naisei.intent.evaluation.flow import ItemResult
from naisei.intent.evaluation.items import BUNDLED, Item, digest, load_items
from naisei.intent.evaluation.metrics import item_lines
from naisei.intent.evaluation.users import simulated_user
from naisei.intent.rules import Profile, Setting
from naisei.lang import say
from naisei.retrieval.index import Index
from naisei.retrieval.store import Store
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.training_documents import training_note


def index_digest(directory: Path) -> str:
    """Fingerprint of an index: documents, chunking, embedder.

    Raises:
        InputError: no index there.
    """
    with closing(Store(directory)) as store:
        generation = store.generation()
        members = {path: [sha, how] for path, (_, sha, how) in store.members(generation).items()}
        embedder = store.db.execute(
            "SELECT embedder FROM generations WHERE id = ?", (generation,)
        ).fetchone()
    return fingerprint([members, embedder[0] if embedder else None])


class EvalTask(Task[EvalConfig]):
    """Runs the assistant on every item under one configuration.

    Raises:
        InputError: unusable items, index, profile or user.
    """

    system = "intent"

    def __init__(self, config: EvalConfig) -> None:
        self.config = config
        # Without a model, concurrent work gains nothing and distorts the latency.
        self.concurrency = None if config.models else 1
        self._index: Index | None = None
        with Index.open(config.index, groups=config.groups):
            pass  # fails before anything is written
        items = load_items(config.data, split=config.split, limit=config.limit)
        self.items: dict[str, Item] = {item.id: item for item in items}
        simulated_user(config.user, items[0], seed=config.seed)
        self._settings = {item.id: self._setting(item) for item in items}
        self.data_hash = fingerprint([digest(items), index_digest(Path(config.index))])

    def _setting(self, item: Item) -> Setting:
        return Setting(
            rules=self.config.rules,
            contacts=self.config.contacts,
            profile=Profile.model_validate(item.profile or {}),
        )

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        with Index.open(self.config.index, groups=self.config.groups) as self._index:
            yield

    def titles(self) -> Mapping[str, str]:
        return {item.id: item.text for item in self.items.values()}

    def clusters(self) -> Mapping[str, str]:
        return metrics.passages(self.items)

    def episodes(self) -> list[Where]:
        return [Where(item) for item in self.items]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        assert self._index is not None, "items are put while the index is open"
        item = self.items[where.instance]
        world = document_world(base, self._index, mode=self.config.mode).having(
            {AskUser: simulated_user(self.config.user, item, seed=self.config.seed)}
        )
        return flow.examine(item, self._settings[item.id]), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        notes = (*self._tuned(), *self.model_notes())
        return metrics.summarise(self.config, self.items, rows, notes)

    def _tuned(self) -> tuple[str, ...]:
        """The note for bundled items that the rules were tuned on."""
        every = self.items.values()
        seen = sum(i.split == "dev" for i in every) if self.config.data in BUNDLED else 0
        return training_note(say("この規則", "these rules"), seen, len(every))

    def instances(self, where: Where, result: JsonValue) -> tuple[str, list[dict[str, Any]]]:
        item = self.items[where.instance].model_dump(mode="json", exclude_defaults=True)
        return "handbook-questions/questions", [{"split": self.items[where.instance].split, **item}]

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        scored = ItemResult.model_validate(result)
        return item_lines(self.items[scored.item], scored)
