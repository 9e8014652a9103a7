"""How a conversation about documents is held and shown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from naisei.core import AskUser, Chat, Event, Handler, Say, Search, Where
from naisei.http.server import ThreadHandler
from naisei.intent.effects import Weigh
from naisei.intent.feedback import adjusted, read_feedback
from naisei.intent.thresholds import Thresholds
from naisei.intent.weighing import WeighHandler
from naisei.intent.world import document_world
from naisei.lang import say
from naisei.retrieval.index import SearchHandler
from naisei.web.html import fragment
from naisei.web.pages.documents.config import AskConfig
from naisei.web.pages.documents.live import inquiry
from naisei.web.pages.documents.radar import Radar
from naisei.web.pages.documents.shelves import index_path, shared_index
from naisei.web.sittings import Kind, Room, Scene, Sitting

__all__ = ["KIND", "cuts_of", "feedback_path"]

_ROLES = ("evaluator", "rewriter", "answerer")
#: Rubbish of a model is repaired once; then the rules take over.
_RESENDS = dict.fromkeys(_ROLES, 0)


def feedback_path(folder: Path) -> Path:
    """What a visitor said of the replies."""
    return folder / "feedback.jsonl"


def cuts_of(folder: Path, base: Thresholds) -> Thresholds:
    """The thresholds that a visitor's feedback has made."""
    return adjusted(base, read_feedback(feedback_path(folder)))


@asynccontextmanager
async def _open(config: AskConfig, room: Room) -> AsyncIterator[Scene]:
    models = dict.fromkeys(_ROLES, config.model) if config.model else {}
    base = await room.world(models, resends_of=_RESENDS)
    cuts = config.setting.rules.thresholds
    async with shared_index(index_path(config.shelf, room.folder, room.options)) as index:
        world = document_world(base, index, cuts=lambda user: cuts_of(room.folder, cuts))
        handlers: dict[Any, Any] = {
            Search: _Noting(ThreadHandler(SearchHandler(index)), room),
            Weigh: ThreadHandler(WeighHandler(index)),
            AskUser: room.person(None),
            Say: lambda effect: None,
        }
        if models:
            handlers[Chat] = _Noting(base.handler(Chat("evaluator", ())), room)
        yield Scene(inquiry(config.setting, user="visitor"), world.having(handlers))


class _Noting(Handler):
    """Performs effects, and says meanwhile what is being done."""

    def __init__(self, inner: Any, room: Room) -> None:
        self._inner, self._room = inner, room

    async def perform(self, effect: Any, where: Where) -> Any:
        doing = {
            "evaluator": say("質問の意図を確かめています…", "Looking at what is meant…"),
            "rewriter": say("質問をまとめています…", "Putting the question together…"),
            "answerer": say("答えを書いています…", "Writing the answer…"),
        }
        searching = say("資料を探しています…", "Searching the documents…")
        self._room.note(doing.get(getattr(effect, "role", ""), searching))
        return await self._inner.perform(effect, where)


def _line(here: Sitting, event: Event) -> str:
    if event.kind not in ("ask", "say"):
        return ""
    return fragment("documents/_event.html", event=event, sitting=here, radar=Radar.of(event))


def _standing(here: Sitting) -> str:
    return fragment("documents/_standing.html", sitting=here)


KIND: Kind[AskConfig] = Kind(
    name="documents", config=AskConfig, open=_open, line=_line, standing=_standing
)
