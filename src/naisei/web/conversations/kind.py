"""What a page has to say about its conversations: how one is held and how it is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.exceptions import HTTPException

from naisei.core import Effect, Event, Flow, Handler, Limits, Sampling, Where, World
from naisei.lang import say
from naisei.web.html import fragment

if TYPE_CHECKING:
    from naisei.web.conversations.conversation import Conversation
    from naisei.web.options import WebOptions

__all__ = [
    "SYSTEM",
    "WHERE",
    "ConversationConfig",
    "ConversationContext",
    "ConversationKind",
    "ConversationRun",
    "HumanHandler",
    "NotingHandler",
    "OneOf",
    "PendingQuestion",
    "Prepared",
    "ReadAnswer",
    "answer_text",
]

C = TypeVar("C", bound=BaseModel)
#: The system of the run directories of conversations.
SYSTEM = "web"
#: The one episode of a conversation. The name is that of the logs since the first version.
WHERE = Where("sitting")


class ConversationConfig(BaseModel):
    """What is frozen of a conversation. kind: of the page's conversations. language: in which
    texts for the flow are made. settings: the kind's own configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    title: str
    language: Literal["ja", "en"]
    settings: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ConversationRun:
    """What `RunDirectory.of` needs to know."""

    config: ConversationConfig
    system: str = SYSTEM
    data_hash: str = ""


#: Makes the result of an effect from the fields of the form. Raises `HTTPException` for what
#: cannot be used: then the effect waits on.
ReadAnswer = Callable[[Any, Mapping[str, str]], Any]


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """An effect that waits for the person. step: its place in the flow, which an answer names."""

    step: str
    effect: Effect[Any]
    read: ReadAnswer
    answered: asyncio.Future[Any]

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers there are, where not any words will do."""
        return self.read.choices if isinstance(self.read, OneOf) else ()


def answer_text(effect: Effect[Any], fields: Mapping[str, str]) -> str:
    """The field `text`: at least one character. What `AskUser` takes."""
    text = fields.get("text", "").strip()
    if not text:
        raise HTTPException(422, say("何か書いてください", "please write something"))
    return text


class OneOf:
    """Reads one of some answers, which the page offers as buttons too."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, effect: Effect[Any], fields: Mapping[str, str]) -> str:
        if (text := fields.get("text", "").strip()) in self.choices:
            return text
        known = say("、", ", ").join(self.choices)
        raise HTTPException(422, say(f"{known} のどれかです", f"must be one of {known}"))


class HumanHandler(Handler):
    """Performs effects by asking the person at the page; an effect waits for the answer."""

    def __init__(self, conversation: Conversation, read: ReadAnswer = answer_text) -> None:
        self._conversation, self._read = conversation, read

    async def perform(self, effect: Effect[Any], where: Where) -> Any:
        answered = asyncio.get_running_loop().create_future()
        self._conversation.ask(PendingQuestion(where.step, effect, self._read, answered))
        return await answered


class NotingHandler(Handler):
    """Performs effects, and tells the person meanwhile what is being done: `doing` of each."""

    def __init__(
        self, inner: Any, context: ConversationContext, doing: Callable[[Any], str]
    ) -> None:
        self._inner, self._context, self._doing = inner, context, doing

    async def perform(self, effect: Any, where: Where) -> Any:
        self._context.note(self._doing(effect))
        return await self._inner.perform(effect, where)


class Prepared(NamedTuple):
    """A flow about to begin, and its world. The flow returns a pydantic model."""

    flow: Flow[Any]
    world: World


class OpenWorld(Protocol):
    """See `naisei.web.state.ServerState.world`."""

    async def __call__(
        self,
        models: Mapping[str, str],
        *,
        sampling_of: Mapping[str, Sampling] = ...,
        embedder: str = ...,
        resends_of: Mapping[str, int] = ...,
    ) -> World: ...


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """What a conversation may use.

    world: a base world (Chat, Embed, Now) for role → model, shared by all who ask for the same.
    human: makes the handler through which an effect is answered by the person at the page.
    note: says what is going on now, in a few words for the person; it is not kept. folder: the
    visitor's own, for what is kept from one conversation to the next. language: of the
    conversation; `say` speaks it while the flow runs. options: of the server.
    """

    world: OpenWorld
    human: Callable[[ReadAnswer | None], HumanHandler]
    note: Callable[[str], None]
    folder: Path
    language: Literal["ja", "en"]
    options: WebOptions


def _line(conversation: Conversation, event: Event) -> str:
    """What was asked and answered, and what was said."""
    if event.kind not in ("ask", "say"):
        return ""
    return fragment("_line_event.html", event=event)


def _nothing(conversation: Conversation) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationKind(Generic[C]):
    """One kind of conversation.

    name: unique among all pages; the page's own name, or `<page>-<more>`. config: everything
    that the flow depends on, frozen with the conversation. open: prepares the flow and its
    world, and clears up on leaving; it is called again when a conversation is resumed, and must
    then give the same flow. line: the HTML that a new event adds to the page, in `hx-swap-oob`
    pieces, empty for none. shown: what the template `<page>/_status.html` is given besides
    `conversation`. limits: of one conversation, all its effects together.
    """

    name: str
    config: type[C]
    open: Callable[[C, ConversationContext], AbstractAsyncContextManager[Prepared]]
    line: Callable[[Conversation, Event], str] = _line
    shown: Callable[[Conversation], Mapping[str, Any]] = _nothing
    limits: Limits = field(default_factory=Limits)

    @property
    def page(self) -> str:
        """The name of the page that it belongs to."""
        return self.name.partition("-")[0]

    def status(self, conversation: Conversation) -> str:
        """The HTML of whose turn it is, sent whenever that changes: `<page>/_status.html`, or
        `_status.html` where a page has none of its own."""
        given = self.shown(conversation)
        return fragment("_status_event.html", conversation=conversation, **given)
