"""What a page has to say about its conversations: how one is played and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from naisei.core import Flow, Limits, Sampling, World

if TYPE_CHECKING:
    from naisei.core import Event
    from naisei.web.options import WebOptions
    from naisei.web.sittings.person import Person, Read
    from naisei.web.sittings.sitting import Sitting

__all__ = ["Kind", "OpenWorld", "Room", "Scene", "default_standing"]

Language = Literal["ja", "en"]
C = TypeVar("C", bound=BaseModel)


class Scene(NamedTuple):
    """A flow about to begin, and its world. The flow returns a pydantic model."""

    flow: Flow[Any]
    world: World


class OpenWorld(Protocol):
    """See `naisei.web.house.House.world`."""

    async def __call__(
        self,
        models: Mapping[str, str],
        *,
        sampling_of: Mapping[str, Sampling] = ...,
        embedder: str = ...,
        resends_of: Mapping[str, int] = ...,
    ) -> World: ...


@dataclass(frozen=True, slots=True)
class Room:
    """What a conversation may use.

    world: a base world (Chat, Embed, Now) for role → model, shared by all who ask for the same.
    person: makes the handler through which an effect is answered by the person at the page.
    note: says what is going on now, in a few words for the person; it is not kept.
    folder: the visitor's own, for what is kept from one conversation to the next. language: of
    the conversation; `say` speaks it while the flow runs. options: of the server.
    """

    world: OpenWorld
    person: Callable[[Read | None], Person]
    note: Callable[[str], None]
    folder: Path
    language: Language
    options: WebOptions


def default_standing(sitting: Sitting) -> str:
    """What `_standing.html` makes of it: the question's number for the form, or what is done."""
    from naisei.web.html import fragment

    return fragment("_standing.html", sitting=sitting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[C]):
    """One kind of conversation.

    name: unique among all pages; the page's own name, or `<page>-<more>`. config: everything
    that the flow depends on, frozen with the conversation. open: prepares the flow and its
    world, and clears up on leaving; it is called again when a conversation is resumed, and must
    then give the same flow. line: the HTML that a new event adds to the page, in
    `hx-swap-oob` pieces, empty for none. standing: the HTML when it is somebody else's turn.
    limits: of one conversation, all its effects together.
    """

    name: str
    config: type[C]
    open: Callable[[C, Room], AbstractAsyncContextManager[Scene]]
    line: Callable[[Sitting, Event], str]
    standing: Callable[[Sitting], str] = default_standing
    limits: Limits = field(default_factory=Limits)

    @property
    def page(self) -> str:
        """The name of the page that it belongs to."""
        return self.name.partition("-")[0]
