"""The evaluation as a task of the run engine: one episode an item."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pydantic import BaseModel, JsonValue

from naisei.core import AskUser, Flow, Where, World, fingerprint
from naisei.intent.evaluation import flow, metrics
from naisei.intent.evaluation.config import EvalConfig
from naisei.intent.evaluation.controls import simulated_user
from naisei.intent.evaluation.describe import transcript
from naisei.intent.evaluation.item_table import item_table
from naisei.intent.evaluation.items import Item, digest, load_items
from naisei.intent.evaluation.results import ItemResult
from naisei.intent.profile import Profile
from naisei.intent.rules import Setting
from naisei.intent.world import document_world
from naisei.retrieval.index import Index
from naisei.retrieval.store import Store
from naisei.runs.task import EpisodeRow, Summary, Table, Task

__all__ = ["EvalTask", "index_digest"]


def index_digest(directory: Path) -> str:
    """Fingerprint of what an index was made from: documents, how they are cut, the embedder.

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
    """Puts every item to the assistant under one configuration.

    Raises:
        InputError: unusable items, index, profile or user.
    """

    system = "intent"

    def __init__(self, config: EvalConfig, index: Index) -> None:
        self.config = config
        self._index = index
        items = load_items(config.data, split=config.split, limit=config.limit, seed=config.seed)
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

    def episodes(self) -> list[Where]:
        return [Where(item) for item in self.items]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        item = self.items[where.instance]
        world = document_world(base, self._index, mode=self.config.mode).having(
            {AskUser: simulated_user(self.config.user, item, seed=self.config.seed)}
        )
        return flow.examine(item, self._settings[item.id]), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return metrics.summarise(self.config, self.items, rows, self.model_notes())

    def item_table(self, rows: Sequence[EpisodeRow]) -> Table:
        """One line an item."""
        return item_table(self.items, rows)

    def shown(self, where: Where, result: JsonValue) -> str:
        scored = ItemResult.model_validate(result)
        return transcript(self.items[scored.item], scored)
