"""How a conversation is held and shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException

from naisei.core import Chat, Event, Handler, Remember, Say, Where
from naisei.http.server import ThreadHandler
from naisei.lang import say
from naisei.memory.stream import Recall, Recent, Stream, StreamHandler
from naisei.models.embedders.registry import open_embedder
from naisei.relationship.book import Book, Router, folded
from naisei.relationship.flow import converse, upcoming
from naisei.relationship.reflect import stream_of
from naisei.relationship.schemas import AgentId
from naisei.relationship.task import empty
from naisei.web.html import fragment
from naisei.web.pages.relationship.config import PairConfig, pair_of
from naisei.web.pages.relationship.picture import Picture
from naisei.web.sittings import Kind, Room, Scene, Sitting

__all__ = ["KIND", "speaker_of"]

_ROLES = ("speaker", "questioner", "reflector", "summariser", "rater")
#: What is malformed is asked for once more, then counts as a failed reading.
_RESENDS = dict.fromkeys(_ROLES[1:], 0)


@asynccontextmanager
async def _open(config: PairConfig, room: Room) -> AsyncIterator[Scene]:
    pair, rules = pair_of(config.pair), config.rules
    models = dict.fromkeys(_ROLES, config.model) if config.model else {}
    base = await room.world(models, embedder=config.embedder, resends_of=_RESENDS)
    book = Book(empty(pair))
    weights = {stream_of(agent): Stream(weights=rules.weights) for agent in pair.names}
    streams = ThreadHandler(StreamHandler(weights, open_embedder(config.embedder)))
    speech = _Speech(config, book, room, base.handler(Chat("speaker", ())) if models else None)
    yield Scene(
        converse(pair, rules, book),
        base.having(
            {
                Chat: speech,
                Say: book,
                Remember: Router(book, streams),
                Recall: streams,
                Recent: streams,
            }
        ),
    )


class _Speech(Handler):
    """A line comes from the person where it is theirs to speak, all else from the model."""

    def __init__(self, config: PairConfig, book: Book, room: Room, model: Any) -> None:
        self._config, self._book, self._room, self._model = config, book, room, model
        self._person = room.person(_line_of)

    async def perform(self, effect: Chat[Any], where: Where) -> Any:
        if effect.role == "speaker" and self._next() in self._config.played:
            return await self._person.perform(effect, where)
        self._room.note(
            say("台詞を書いています…", "Writing a line…")
            if effect.role == "speaker"
            else say("ふたりの関係をふり返っています…", "Reflecting on the relationship…")
        )
        return await self._model.perform(effect, where)

    def _next(self) -> AgentId:
        return upcoming(self._config.rules, self._book)


def _line_of(effect: Chat[Any], fields: Mapping[str, str]) -> str:
    text = " ".join(fields.get("text", "").split())
    if not text:
        raise HTTPException(422, say("何か書いてください", "please write something"))
    return text


def speaker_of(here: Sitting) -> str:
    """The name of whoever speaks next."""
    config = here.config
    assert isinstance(config, PairConfig)
    pair = pair_of(config.pair)
    book = Book(folded(empty(pair), here.events))
    return pair.names[upcoming(config.rules, book)] if book.conversation.sessions else ""


def _line(here: Sitting, event: Event) -> str:
    if event.kind not in ("say", "remember"):
        return ""
    config = here.config
    assert isinstance(config, PairConfig)
    picture = Picture.of(config, here.upto(event))
    return fragment("relationship/_event.html", event=event, picture=picture, config=config)


def _standing(here: Sitting) -> str:
    return fragment("relationship/_standing.html", sitting=here, speaker=speaker_of(here))


KIND: Kind[PairConfig] = Kind(
    name="relationship", config=PairConfig, open=_open, line=_line, standing=_standing
)
