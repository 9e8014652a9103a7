"""Effects: requests of a flow to the world. A flow yields an effect and receives its result.

An effect is a frozen value. It defines how it is logged (`request`), and how its result is
encoded (`encode`) and decoded (`decode`). It never executes actions.

    answer = yield from AskUser("のどが渇きましたか？")     # typed: str

New effects are made by subclassing `Effect` with a new `kind`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core.events import plain
from naisei.core.messages import Message, Sampling, fingerprint

if TYPE_CHECKING:  # only commands that embed load numpy
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
R = TypeVar("R")


class Effect(Generic[T]):
    """One request of a flow to the world; `T` is the type of its result."""

    kind: ClassVar[str] = ""
    #: True if order matters because state changes. Such effects are never
    #: performed concurrently (see `Gather`).
    ordered: ClassVar[bool] = False

    def __iter__(self) -> Generator[Effect[Any], Any, T]:
        result: T = yield self
        return result

    def request(self) -> JsonValue:
        """Return the request as JSON, which is logged and compared on replay."""
        raise NotImplementedError

    def encode(self, result: T) -> JsonValue:
        """Encode the result as JSON for the log. Raises `TypeError` for another type."""
        return result  # type: ignore[return-value]

    def decode(self, data: JsonValue) -> T:
        """Decode a logged result. The flow always receives this, performed or replayed."""
        return data  # type: ignore[return-value]


#: What a flow function returns: a generator of effects that ends with a `T`.
Flow = Generator[Effect[Any], Any, T]


class Observation(BaseModel):
    """An environment's answer to an action."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    reward: float = 0.0
    done: bool = False
    info: dict[str, JsonValue] = {}


class Evidence(BaseModel):
    """One thing found: an id that can be cited, its text and its score (higher is better)."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str
    score: float
    meta: dict[str, JsonValue] = {}


def _expect(result: Any, kind: type[R]) -> R:
    if not isinstance(result, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(result).__name__}")
    return result


@lru_cache(maxsize=512)
def _schema_digest(schema: type[BaseModel]) -> str:
    return fingerprint(schema.model_json_schema())


@dataclass(frozen=True, init=False)
class Chat(Effect[T]):
    """A call of a language model in a role; the result is text, or a validated `schema`.

    Args:
        role: the speaker: `agent`, `simulator`, `reflector`, `judge`, … A run maps each role to a
            model.
        messages: the conversation, oldest first.
        schema: a pydantic model that the reply must match; `None` for plain text.
        sampling: overrides of the role's sampling parameters.
        preview: a pure function from the partial reply to the part that a page may show; not part
            of the request.
        on_text: called with the reply's text so far while a model streams it; set by a handler, not
            part of the request.

    Raises (in the flow):
        InstrumentFailure: no usable reply after retries and one repair.
    """

    kind: ClassVar[str] = "chat"
    role: str
    messages: tuple[Message, ...]
    schema: type[BaseModel] | None
    sampling: Sampling
    preview: Callable[[str], str] | None = field(default=None, compare=False, repr=False)
    on_text: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    @overload
    def __init__(
        self: Chat[str],
        role: str,
        messages: Sequence[Message],
        schema: None = None,
        *,
        sampling: Sampling = ...,
        preview: Callable[[str], str] | None = ...,
        on_text: Callable[[str], None] | None = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: Chat[M],
        role: str,
        messages: Sequence[Message],
        schema: type[M],
        *,
        sampling: Sampling = ...,
        preview: Callable[[str], str] | None = ...,
        on_text: Callable[[str], None] | None = ...,
    ) -> None: ...

    def __init__(
        self,
        role: str,
        messages: Sequence[Message],
        schema: type[BaseModel] | None = None,
        *,
        sampling: Sampling = Sampling(),
        preview: Callable[[str], str] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "preview", preview)
        object.__setattr__(self, "on_text", on_text)
        object.__setattr__(self, "messages", tuple(messages))
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "sampling", sampling)

    def request(self) -> JsonValue:
        out: dict[str, JsonValue] = {
            "role": self.role,
            "messages": [m.to_json() for m in self.messages],
        }
        if self.schema is not None:
            out["schema"] = f"{self.schema.__name__}:{_schema_digest(self.schema)}"
        if (sampling := self.sampling.to_json()) != {}:
            out["sampling"] = sampling
        return out

    def encode(self, result: T) -> JsonValue:
        if self.schema is None:
            return _expect(result, str)
        return _expect(result, self.schema).model_dump(mode="json", by_alias=True, round_trip=True)

    def decode(self, data: JsonValue) -> T:
        if self.schema is None:
            return str(data)  # type: ignore[return-value]
        return self.schema.model_validate(data)  # type: ignore[return-value]


@dataclass(frozen=True)
class AskUser(Effect[str]):
    """A question to a person, a web page or a user simulator; the result is the answer."""

    kind: ClassVar[str] = "ask"
    ordered: ClassVar[bool] = True
    question: str

    def request(self) -> JsonValue:
        return {"question": self.question}

    def encode(self, result: str) -> JsonValue:
        return _expect(result, str)


@dataclass(frozen=True)
class Act(Effect[Observation]):
    """An action in the environment (a home, a game, a tool)."""

    kind: ClassVar[str] = "act"
    ordered: ClassVar[bool] = True
    action: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "action", plain(self.action))

    def request(self) -> JsonValue:
        return {"action": self.action}

    def encode(self, result: Observation) -> JsonValue:
        return _expect(result, Observation).model_dump(mode="json")

    def decode(self, data: JsonValue) -> Observation:
        return Observation.model_validate(data)


@dataclass(frozen=True)
class Search(Effect[list[Evidence]]):
    """A query to an index or a memory; the result is ranked evidence, best first."""

    kind: ClassVar[str] = "search"
    query: str
    k: int = 5
    source: str = ""

    def request(self) -> JsonValue:
        return {"query": self.query, "k": self.k, "source": self.source}

    def encode(self, result: list[Evidence]) -> JsonValue:
        return [_expect(e, Evidence).model_dump(mode="json") for e in result]

    def decode(self, data: JsonValue) -> list[Evidence]:
        assert isinstance(data, list)
        return [Evidence.model_validate(e) for e in data]


@dataclass(frozen=True)
class Embed(Effect["npt.NDArray[np.float32]"]):
    """Texts to unit vectors: the result has shape (texts, dimensions), float32.

    `kind_of_text` is `query` or `passage`: retrieval models treat them differently.
    """

    kind: ClassVar[str] = "embed"
    texts: tuple[str, ...]
    kind_of_text: str = "query"

    def request(self) -> JsonValue:
        return {"texts": list(self.texts), "kind_of_text": self.kind_of_text}

    def encode(self, result: npt.NDArray[np.float32]) -> JsonValue:
        import numpy as np

        raw = np.ascontiguousarray(result, dtype="<f4")
        return {"shape": list(raw.shape), "f4": base64.b64encode(raw.tobytes()).decode("ascii")}

    def decode(self, data: JsonValue) -> npt.NDArray[np.float32]:
        import numpy as np

        assert isinstance(data, dict)
        raw = base64.b64decode(str(data["f4"]))
        return np.frombuffer(raw, dtype="<f4").reshape(data["shape"])  # type: ignore[arg-type]


@dataclass(frozen=True)
class Say(Effect[None]):
    """A line sent to the other party. A line without a `Say` was never sent."""

    kind: ClassVar[str] = "say"
    ordered: ClassVar[bool] = True
    text: str
    speaker: str = ""
    meta: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "meta", plain(self.meta))

    def request(self) -> JsonValue:
        return {"speaker": self.speaker, "text": self.text, "meta": dict(self.meta)}

    def encode(self, result: None) -> JsonValue:
        return None


@dataclass(frozen=True)
class Remember(Effect[None]):
    """A write to a memory. The log's `Remember` effects determine the memory."""

    kind: ClassVar[str] = "remember"
    ordered: ClassVar[bool] = True
    item: JsonValue
    memory: str = "memo"

    def __post_init__(self) -> None:
        object.__setattr__(self, "item", plain(self.item))

    def request(self) -> JsonValue:
        return {"memory": self.memory, "item": self.item}

    def encode(self, result: None) -> JsonValue:
        return None


@dataclass(frozen=True)
class Now(Effect[datetime]):
    """The current time. A flow never reads a clock itself."""

    kind: ClassVar[str] = "now"

    def request(self) -> JsonValue:
        return {}

    def encode(self, result: datetime) -> JsonValue:
        return _expect(result, datetime).isoformat()

    def decode(self, data: JsonValue) -> datetime:
        return datetime.fromisoformat(str(data))


@dataclass(frozen=True, init=False)
class Gather(Effect[list[Any]]):
    """Several effects or flows at once; the result is a tuple of their results, in order.

    Parts run concurrently. Effects that change state (`ordered`) are performed
    sequentially in the given order, and only as direct parts: inside a gathered
    *flow* they are rejected, since their order would depend on the network.
    If parts fail, the others finish (and are logged) before the first failure, in the
    given order, is raised.
    """

    kind: ClassVar[str] = "gather"
    parts: tuple[Effect[Any] | Flow[Any], ...]

    def __init__(self, parts: Sequence[Effect[Any] | Flow[Any]]) -> None:
        object.__setattr__(self, "parts", tuple(parts))

    def request(self) -> JsonValue:
        return {"parts": len(self.parts)}


# Flows within flows.


def through(flow: Flow[T], perform: Callable[[Effect[Any]], Flow[Any]]) -> Flow[T]:
    """Run `flow` with each effect performed by the flow `perform`, which may yield the effect,
    another one, or none. An exception of `perform` is raised in `flow` at the effect."""
    step: Callable[[], Effect[Any]] = lambda: next(flow)  # noqa: E731
    while True:
        try:
            effect = step()
        except StopIteration as stop:
            returned: T = stop.value
            return returned
        try:
            result = yield from perform(effect)
        except Exception as error:
            step = lambda failed=error: flow.throw(failed)  # type: ignore[misc] # noqa: E731
        else:
            step = lambda got=result: flow.send(got)  # type: ignore[misc] # noqa: E731
