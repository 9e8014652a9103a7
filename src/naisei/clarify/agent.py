"""What an agent is: it sees a view and decides. Nothing else of the system is its business."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from naisei.clarify.schemas import ActionSet, Decision, Instance, Scene, TrialLog, Turn
from naisei.core import Flow
from naisei.models.base import Embedder

__all__ = ["Agent", "AgentContext", "View", "declares"]

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class View:
    """All that an agent may look at before a decision.

    asked: this trial's questions and answers. tried: actions already executed in earlier
    trials, all wrong. history: the earlier trials in full (an agent that works by a memo
    must not read it; one that keeps a posterior does). memo: the memory policy's text.
    may_ask: whether a question is allowed now; quota_left: how many more.
    """

    scene: Scene
    actions: ActionSet
    asked: tuple[Turn, ...] = ()
    tried: tuple[int, ...] = ()
    history: tuple[TrialLog, ...] = ()
    memo: str = ""
    may_ask: bool = True
    quota_left: int = 2
    trial: int = 1


class Agent(Protocol):
    """Decides, as a flow: its models and embeddings are effects."""

    name: str

    def decide(self, view: View) -> Flow[Decision]:
        """A `Clarify` only if `view.may_ask`; an `Execute` of an action of the set."""
        ...


@dataclass(frozen=True)
class AgentContext:
    """What a factory gets to build an agent. Entry-point group: `naisei.agents`.

    A factory is a callable `(AgentContext) -> Agent`. Its attribute `model_free` says whether
    the agent does without a language model: True takes it out of memory policies and roles,
    False makes a run without a model for the role `agent` an error, and where there is none
    the agent is taken to reflect, and nothing is asked of its models.

    Its attribute `options`, if any, is a pydantic model of the agent's settings: it types and
    checks them before there is a run.

    options: the agent's own settings.
    embedder: built lazily by calling it, so that agents without one pay nothing.
    train: instances that may be learnt from (never those being run).
    """

    actions: ActionSet
    seed: int = 0
    alpha: float = 0.9
    trials: int = 3
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    embedder: object = None
    train: tuple[Instance, ...] = ()

    def get_embedder(self) -> Embedder:
        assert callable(self.embedder), "this agent needs an embedder"
        built: Embedder = self.embedder()
        return built


def declares(*, model_free: bool, options: type[BaseModel]) -> Callable[[F], F]:
    """A decorator that sets these attributes of a factory; see `AgentContext`."""

    def declared(factory: F) -> F:
        factory.model_free = model_free  # type: ignore[attr-defined]
        factory.options = options  # type: ignore[attr-defined]
        return factory

    return declared
