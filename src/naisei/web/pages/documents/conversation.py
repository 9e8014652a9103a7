"""A conversation about documents: location of the documents, flow, world and view."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict

from naisei.core import AskUser, Chat, Event, Say, Search
from naisei.intent.config import ROLES
from naisei.intent.dialogue import Conversation
from naisei.intent.effects import ShowingHandler, document_world
from naisei.intent.feedback import adjusted, read_feedback
from naisei.intent.flow import inquiry
from naisei.intent.lines import reply_line
from naisei.intent.remembering import known
from naisei.intent.rules import Contacts, Setting, load_contacts
from naisei.intent.schemas import Reply, Thresholds
from naisei.lang import say
from naisei.memory.stream import KeptStream
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.types import IndexReport
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    INSTRUMENT,
    ConversationContext,
    ConversationKind,
    NotingHandler,
    Panel,
)
from naisei.web.html import Refused, fragment
from naisei.web.options import WebOptions

#: Sources of documents: the server's, the bundled handbook, or the visitor's uploads.
Shelf = Literal["server", "handbook", "own"]


class AskConfig(BaseModel):
    """setting: rules, profile and contacts. model: of all roles; `None` leaves them to rules.
    remembers: whether the visitor allows notes for the next conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shelf: Shelf
    setting: Setting
    model: str | None = None
    remembers: bool = False


_OWN_INDEX = "documents-index"
#: Index folder → (the open index, number of readers).
_OPEN: dict[Path, tuple[Index, int]] = {}
_LOCKS: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def index_path(shelf: Shelf, folder: Path, options: WebOptions) -> Path:
    """Return the path of the index of a shelf. folder: the visitor's own.

    Raises:
        HTTPException: the server has no documents of its own.
    """
    if shelf == "own":
        return folder / _OWN_INDEX
    if shelf == "handbook":
        return options.state / "handbook-index"
    if options.documents is not None:
        return options.state / "server-index"
    if options.index is None:
        raise Refused(422, "このサーバーには資料がありません", "this server has no documents")
    return options.index


def documents_in(folder: Path) -> Path:
    """Return the visitor's folder of uploads, which may not exist."""
    return folder / "documents"


async def rebuild(shelf: Shelf, folder: Path, options: WebOptions) -> IndexReport | None:
    """Update the index of a shelf; `None` for one built elsewhere.

    Raises:
        InputError: there is nothing to index.
    """
    target = index_path(shelf, folder, options)
    async with _LOCKS.setdefault(str(target), asyncio.Lock()):
        if shelf == "server":
            if options.documents is None:
                return None
            return await asyncio.to_thread(build, target, options.documents, wait=60)
        if shelf == "own":
            return await asyncio.to_thread(build, target, documents_in(folder), wait=60)
        return await asyncio.to_thread(_handbook, target)


def _handbook(target: Path) -> IndexReport:
    with as_file(files("naisei.data") / "handbook") as documents:
        # Words only, since vectors of the whole handbook take a minute.
        return build(target, documents, embedder=None, wait=60)


@asynccontextmanager
async def shared_index(path: Path) -> AsyncIterator[Index]:
    """Open the shared index of a folder.

    Raises:
        InputError: there is no index.
    """
    async with _LOCKS.setdefault(f"open {path}", asyncio.Lock()):
        held = _OPEN.get(path)
        if held is None:
            # Visitors belong to no group, and see all of their own uploads.
            groups = None if path.name == _OWN_INDEX else ()
            index = await asyncio.to_thread(Index.open, path, groups=groups)
            _OPEN[path] = (index, 1)
        else:
            index = held[0]
            _OPEN[path] = (index, held[1] + 1)
    try:
        yield index
    finally:
        readers = _OPEN[path][1] - 1
        if readers:
            _OPEN[path] = (index, readers)
        else:
            del _OPEN[path]
            index.close()


def contacts_of(shelf: Shelf) -> Contacts:
    """Return the contacts of a shelf, if it has a contacts file."""
    if shelf != "handbook":
        return Contacts()
    with as_file(files("naisei.data") / "handbook" / "contacts.toml") as path:
        return load_contacts(path)


_INDICATORS = (
    ("clarity", "問いがはっきりしている", "a clear request"),
    ("is_question", "質問である", "a question"),
    ("is_consultation", "相談である", "a consultation"),
    ("in_internal_docs", "資料にありそう", "likely in the documents"),
    ("ask_person", "人に聞くほうがよい", "better asked of a person"),
)
#: Degree to which an indicator applies, by grade from 1.
_HOLDS = (
    ("はい", "yes"),
    ("だいたい", "mostly"),
    ("半々", "half"),
    ("あまり", "hardly"),
    ("いいえ", "no"),
)


class Indicator(NamedTuple):
    """name, holds: in words. share: degree to which it applies, 0 to 1."""

    name: str
    holds: str
    share: float


def indicators(events: Sequence[Event]) -> list[Indicator]:
    """Return the last evaluation; empty before the first."""
    for event in reversed(events):
        request: Any = event.request
        result: Any = event.result
        if event.kind == "say" and "reply" in request["meta"]:
            grades = request["meta"]["reply"]["evaluation"]
        elif event.kind == "chat" and request["role"] == "evaluator" and isinstance(result, dict):
            grades = result
        else:
            continue
        return [
            Indicator(say(ja, en), say(*_HOLDS[grades[key] - 1]), (5 - grades[key]) / 4)
            for key, ja, en in _INDICATORS
        ]
    return []


_ROLES: dict[str, Parameters] = dict.fromkeys(ROLES, INSTRUMENT)
#: A malformed model reply is repaired once; then the rules take over.
_RESENDS = dict.fromkeys(_ROLES, 0)


def feedback_path(folder: Path) -> Path:
    """Return the file with a visitor's feedback."""
    return folder / "feedback.jsonl"


def memory_of(folder: Path) -> KeptStream:
    """Return the visitor's stored notes, if allowed."""
    return KeptStream(folder / "memory.jsonl")


def cuts_of(folder: Path, base: Thresholds) -> Thresholds:
    """Return the thresholds computed from a visitor's feedback."""
    return adjusted(base, read_feedback(feedback_path(folder)))


@asynccontextmanager
async def _open(config: AskConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    models = dict.fromkeys(_ROLES, config.model) if config.model else {}
    base = await context.world(models, resends_of=_RESENDS)
    cuts = config.setting.rules.thresholds
    async with shared_index(index_path(config.shelf, context.folder, context.options)) as index:
        world = document_world(
            base, index, cuts=lambda user: cuts_of(context.folder, cuts), threads=True
        )
        handlers: dict[Any, Any] = {
            Search: NotingHandler(world.handler(Search("")), context, _doing),
            AskUser: context.human(None),
            Say: lambda effect: None,
        }
        if models:
            # Supported sentences are shown while the answer is generated.
            shown = ShowingHandler(base.handler(Chat("evaluator", ())), context.note)
            handlers[Chat] = NotingHandler(shown, context, _doing)
        kept = memory_of(context.folder)
        remembers = config.remembers and kept.allowed
        if remembers:
            handlers |= known(kept)
        told = Conversation.from_log(context.past)
        flow = inquiry(config.setting, told, user="visitor", remembers=remembers)
        yield Prepared(flow, world.having(handlers))


def _doing(effect: Any) -> str:
    doing = {
        "evaluator": say("質問の意図を確かめています…", "Judging the question…"),
        "answerer": say("答えを書いています…", "Writing the answer…"),
        "verifier": say(
            "答えを資料と突き合わせています…", "Checking the answer against the documents…"
        ),
    }
    searching = say("資料を探しています…", "Searching the documents…")
    return doing.get(getattr(effect, "role", ""), searching)


def _lines(config: AskConfig, id: str, event: Event) -> Sequence[Line]:
    if event.kind == "ask":
        return (Line(str(event.result), mine=True),)
    if event.kind != "say":
        return ()
    request: Any = event.request
    reply = Reply(message=request["text"], **request["meta"]["reply"])
    passage = f"/documents/{id}/passage?chunk="
    return (reply_line(reply, lambda c: passage + quote(c.chunk, safe="")),)


def _panels(config: AskConfig, events: Sequence[Event]) -> Sequence[Panel]:
    drawn = fragment("documents/_indicators.html", indicators=indicators(events))
    return (Panel("indicators", say("どう受け取ったか", "How it was understood"), drawn),)


KIND: ConversationKind[AskConfig] = ConversationKind(
    name="documents",
    config=AskConfig,
    open=_open,
    lines=_lines,
    panels=_panels,
    roles=_ROLES,
    renews=True,
)
