"""Events and their log, usage, and limits."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, runtime_checkable

from pydantic import JsonValue

from naisei.core.errors import EpisodeBusy


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of one performed effect.

    role, model: role and model of the call. calls: answered requests (0 for a cache hit). attempts:
    requests sent, including failed ones. *_tokens: as counted by the endpoint. lost_*:
    tokens of unusable replies that were requested again. usd: price in US dollars, `None` if the
    price is unknown. cached_input: input tokens that the endpoint read from its cache of prefixes;
    reasoning: reasoning tokens; both are included in the totals. sent: each request as sent, with
    the raw reply.
    """

    role: str = ""
    model: str = ""
    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    cached: bool = False
    repaired: bool = False
    lost_input: int = 0
    lost_output: int = 0
    cached_input: int = 0
    reasoning: int = 0
    sent: tuple[JsonValue, ...] = field(default=(), compare=False, repr=False)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def used(self) -> tuple[int, int]:
        """The input and output tokens of the replies that were used, which do not depend
        on server faults."""
        return self.input_tokens - self.lost_input, self.output_tokens - self.lost_output

    def wasted(self) -> Usage:
        """Return the usage of a failed effect: all tokens count as lost."""
        return replace(self, lost_input=self.input_tokens, lost_output=self.output_tokens)


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds; `None` means unlimited. seconds: time spent performing effects.

    A limit is checked before each effect, so the last effect may exceed it. Parts of a `Gather` are
    each checked against the usage before the gather. A limit in usd counts as reached once a call
    has no known price.
    """

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Meter:
    """Running totals checked against `Limits`. Replayed effects count like performed ones.

    unpriced: calls whose price is unknown.
    """

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    unpriced: int = 0

    def add(self, usage: Usage | None, seconds: float) -> None:
        """Count one effect."""
        self.steps += 1
        self.seconds += seconds
        if usage is not None:
            self.calls += usage.calls
            self.tokens += usage.tokens
            self.usd += usage.usd or 0.0
            self.unpriced += usage.calls if usage.usd is None else 0

    def copy(self) -> Meter:
        """Return an independent copy of this meter."""
        return replace(self)

    def join(self, branches: Iterable[Meter]) -> None:
        """Add the amounts that copies of this meter counted since they were made."""
        start = self.copy()
        for branch in branches:
            for f in fields(Meter):
                since = getattr(branch, f.name) - getattr(start, f.name)
                setattr(self, f.name, getattr(self, f.name) + since)

    def reached(self, limits: Limits) -> str:
        """Return a description of the first exhausted limit, or an empty string."""
        for f in fields(limits):
            bound, used = getattr(limits, f.name), getattr(self, f.name)
            if bound is not None and used >= bound:
                return f"{f.name}: {used:g} of {bound:g}"
        if limits.usd is not None and self.unpriced:
            return f"usd: the price of {self.unpriced} calls is unknown"
        return ""


# Events: the record of a run. One event is one effect with its result.
#
# The log is the single source of truth: results, transcripts, tokens and memories are
# derived from it.


@dataclass(frozen=True, slots=True)
class Where:
    """The position of an effect: its episode, and its step there.

    `path` is the step of the flow, then of the flow inside it, and so on: `(4, 1, 0)` is the
    first step of the second part gathered at the fifth step. It does not depend on the
    order in which the network answered.
    """

    instance: str = ""
    trial: int = 0
    path: tuple[int, ...] = ()

    @property
    def episode(self) -> str:
        return f"{self.instance}#{self.trial}"

    @property
    def step(self) -> str:
        return ".".join(map(str, self.path))

    def at(self, n: int) -> Where:
        return Where(self.instance, self.trial, (*self.path, n))

    def __str__(self) -> str:
        return f"{self.episode} step {self.step}"


@dataclass(frozen=True, slots=True)
class Event:
    """One effect and its result (or its failure, if a flow caught it).

    digest: fingerprint of kind and request, compared on replay. failure: class and
    message of an `EffectFailed`, in which case `result` is `None`. usage, seconds (wall
    clock): of this effect without nested recorded effects, so that sums count each once.
    """

    where: Where
    kind: str
    digest: str
    request: JsonValue
    result: JsonValue = None
    failure: tuple[str, str] | None = None
    usage: Usage | None = None
    seconds: float = 0.0


class EventLog(Protocol):
    """A log to which events are appended."""

    def append(self, event: Event) -> Awaitable[None] | None:
        """Append an event. Returns once it would survive a killed process, or returns an
        awaitable that completes then."""
        ...

    def read(self, episode: str) -> Iterable[Event]:
        """Return the events of an episode, in the order they were appended."""
        ...


@runtime_checkable
class SharedLog(EventLog, Protocol):
    """A log that several objects or processes may share; it locks its own episodes. For any other
    log the runtimes allow one writing call per episode in this process."""

    def writing(self, episode: str) -> AbstractContextManager[None]:
        """Hold the exclusive write lock for the episode.

        Raises:
            EpisodeBusy: another writer holds it; raised immediately, without waiting.
        """
        ...


def writing(log: EventLog, episode: str) -> AbstractContextManager[None]:
    """Hold the exclusive write lock for the episode in this log. Raises `EpisodeBusy` if another
    writer holds it."""
    if isinstance(log, SharedLog):
        return log.writing(episode)
    return claimed((id(log), episode), EpisodeBusy(f"the episode {episode!r} is being run"))


_claims: set[Hashable] = set()
_claiming = threading.Lock()


@contextmanager
def claimed(key: Hashable, busy: EpisodeBusy) -> Iterator[None]:
    """Hold `key` exclusively in this process. Raises `busy` if it is already held."""
    with _claiming:
        if key in _claims:
            raise busy
        _claims.add(key)
    try:
        yield
    finally:
        with _claiming:
            _claims.discard(key)


class MemoryLog:
    """An `EventLog` in memory: for tests, unsaved chats, and embedding naisei."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    def read(self, episode: str) -> list[Event]:
        return [e for e in self.events if e.where.episode == episode]


def plain(value: Any) -> JsonValue:
    """Return an independent copy of `value` as JSON that any log can store.

    Tuples become lists. A lone surrogate, which a model that is cut off inside an escape
    can produce and UTF-8 cannot encode, becomes U+FFFD; surrogate pairs become the
    character they represent.

    Raises:
        TypeError: part of it is not JSON.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of JSON is text, not {type(key).__name__}")
    return _text(key)


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return str(text)
