"""A page's kind of conversation: how it runs and how it is displayed."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Chat, Event, Handler, HandlerWrapper, Limits, Sampling, Where, World
from naisei.runs.asking import HumanHandler, ReadAnswer
from naisei.runs.conversation import ConversationStatus, LiveConversation, Prepared
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.system.config import Parameters
from naisei.system.registry import Text
from naisei.web.html import fragment, pretty

if TYPE_CHECKING:
    from naisei.web.options import WebOptions

C = TypeVar("C", bound=BaseModel)
#: System name in the run directories of conversations.
SYSTEM = "web"
#: Name of the single episode of a conversation.
WHERE = Where("conversation")
#: The current activity, shared with other processes of the server.
_NOTE = "note"
#: Kinds of events that may change the side panels.
_TOLD = ("ask", "act", "say", "remember")
#: Sampling of a role that rates or extracts.
INSTRUMENT: Parameters = {"temperature": 0.0}


class ConversationConfig(BaseModel):
    """The frozen configuration of a conversation. kind: name of the kind. language: of texts for
    the flow. settings: the kind's own configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    title: str
    language: Literal["ja", "en"]
    settings: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ConversationRun:
    """A conversation as input of `RunDirectory.of`."""

    config: ConversationConfig
    system: str = SYSTEM
    data_hash: str = ""


class NotingHandler(HandlerWrapper):
    """Performs effects while showing the note `doing`."""

    def __init__(
        self, inner: Handler, context: ConversationContext, doing: Callable[[Any], str]
    ) -> None:
        super().__init__(inner)
        self._context, self._doing = context, doing

    def perform(self, effect: Any, where: Where) -> Any:
        self._context.note(self._doing(effect))
        return super().perform(effect, where)


class SamplingHandler(HandlerWrapper):
    """Performs `Chat` effects with the role's default sampling parameters.

    sampling: role → parameters.
    """

    def __init__(self, inner: Handler, sampling: Mapping[str, Parameters]) -> None:
        super().__init__(inner)
        self._sampling = sampling

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        given = Sampling(**self._sampling.get(effect.role, {}))  # type: ignore[arg-type]
        return super().perform(replace(effect, sampling=effect.sampling.over(given)), where)


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """The resources of a conversation.

    world: a base world (Chat, Embed, Now) for role → model, shared between equal requests; see
    `naisei.web.state.ServerState.world`. human: makes a handler that lets the user answer an
    effect. note: shows the user the current activity in a few words; it is not stored. folder: the
    visitor's own, for data shared between conversations. language: language of the conversation and
    of `say` while the flow runs. options: the server's options. past: the events of earlier parts,
    for a kind that renews.
    """

    world: Callable[..., Awaitable[World]]
    human: Callable[[ReadAnswer | None], HumanHandler]
    note: Callable[[str], None]
    folder: Path
    language: Literal["ja", "en"]
    options: WebOptions
    past: Sequence[Event] = ()


class PageConversation(LiveConversation):
    """A visitor's conversation at a page; made by `Conversations`.

    id: its id in URLs. config: the kind's configuration. followers: current viewers; users:
    requests using it. touched: time of the last use.
    """

    def __init__(
        self,
        id: str,
        kind: ConversationKind[Any],
        frozen: ConversationConfig,
        directory: RunDirectory,
        rested: Callable[[PageConversation], None],
        *,
        shared: bool = False,
    ) -> None:
        self.id, self.kind, self.title = id, kind, frozen.title
        self._rested = rested
        self._note = directory.path / _NOTE if shared else None
        self.config: Any = kind.config.model_validate(frozen.settings)
        self.directory = directory
        self.followers = self.users = 0
        self.touched = time.monotonic()
        super().__init__(
            directory.log,
            WHERE.instance,
            language=frozen.language,
            limits=kind.limits,
            renews=kind.renews,
        )

    async def follow(
        self, after: int
    ) -> AsyncIterator[tuple[int, list[Event], ConversationStatus | None]]:
        self.followers += 1
        try:
            async for told in super().follow(after):
                yield told
        finally:
            self.followers -= 1
            self.touched = time.monotonic()

    def _set_status(self, status: ConversationStatus) -> None:
        super()._set_status(status)
        if status.state != "going":
            if self._note is not None:
                self._note.unlink(missing_ok=True)
            self._rested(self)

    def note(self, text: str) -> None:
        super().note(text)
        if self._note is not None:
            self._note.write_text(text, encoding="utf-8")

    def heard_note(self) -> bool:
        """Read the note of the process working on it; returns whether the note changed."""
        assert self._note is not None
        try:
            text = self._note.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        new = text != self.status.note
        super().note(text)
        return new


@dataclass(frozen=True, slots=True)
class Panel:
    """A side panel of a conversation. id: id of its element. html: its content. folded: collapsed
    at first."""

    id: str
    title: str
    html: str
    folded: bool = False


def _lines(config: Any, id: str, event: Event) -> Sequence[Line]:
    """Return the default lines: questions, answers and utterances."""
    request: Any = event.request
    if event.kind == "say":
        return (Line(request["text"], request["speaker"]),)
    if event.kind != "ask":
        return ()
    said = Line(event.result if isinstance(event.result, str) else pretty(event.result), mine=True)
    return (Line(request["question"]), said) if request["question"] else (said,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationKind(Generic[C]):
    """One kind of conversation.

    name: unique among all pages; the page's own name, or `<page>-<more>`. config: all settings of
    the flow, frozen with the conversation. open: context manager that prepares the flow and its
    world; it is called again when a conversation is resumed, and must then return the same flow.
    lines: the lines that an event adds, from the configuration, the conversation's id and the
    event. panels: the side panels after some events. about: a short description under the title.
    writes: whether the page has a text field for the user. spoken: the language of the lines, if it
    differs from the page's. placeholder: placeholder of that field. shown: context of the template
    `<page>/_status.html` besides `conversation`. roles: model roles of the page, each with its
    sampling (`INSTRUMENT`: temperature 0). limits: limits on all effects of one part together.
    renews: see `naisei.runs.conversation`.
    """

    name: str
    config: type[C]
    open: Callable[[C, ConversationContext], AbstractAsyncContextManager[Prepared]]
    lines: Callable[[C, str, Event], Sequence[Line]] = _lines
    panels: Callable[[C, Sequence[Event]], Sequence[Panel]] = lambda config, events: ()
    about: Callable[[C], str] = lambda config: ""
    writes: Callable[[C], bool] = lambda config: True
    spoken: str = ""
    placeholder: Text | None = None
    shown: Callable[[PageConversation], Mapping[str, Any]] = lambda conversation: {}
    roles: Mapping[str, Parameters] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    renews: bool = False

    @property
    def page(self) -> str:
        """The name of its page."""
        return self.name.partition("-")[0]

    def added(self, conversation: PageConversation, event: Event, seen: dict[str, str]) -> str:
        """Return the HTML that a new event adds, as `hx-swap-oob` fragments; empty if nothing is
        added. seen: the panels shown on the page, by id; updated after the last event."""
        config = conversation.config
        lines = self.lines(config, conversation.id, event)
        panels: list[Panel] = []
        if event.kind in _TOLD and event is conversation.events[-1]:
            now = self.panels(config, conversation.events)
            panels = [panel for panel in now if seen.get(panel.id) != panel.html]
            seen |= {panel.id: panel.html for panel in panels}
        return fragment("_added.html", lines=lines, panels=panels) if lines or panels else ""

    def status(self, conversation: PageConversation) -> str:
        """Return the HTML of the status, sent whenever it changes: `<page>/_status.html`, or else
        `_status.html`."""
        given = self.shown(conversation)
        return fragment("_status_event.html", conversation=conversation, kind=self, **given)
