"""Agents: what one sees and decides, what its factory declares, and agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, JsonValue

from naisei import lang, plugins
from naisei.clarify.schemas import ActionSet, Decision, Instance, Scene, TrialLog, Turn
from naisei.core import Flow, InputError
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.plugins import typed, untyped

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class View:
    """All that an agent may look at before a decision.

    asked: this trial's questions and answers. tried: the sets of actions executed in earlier
    trials, none of them just what is wanted, as far as the agent is told (`--repeats`). masked:
    those sets must not be executed again.
    history: the earlier trials in full (an agent that works by a memo must not read it; one that
    keeps a posterior does). memo: the memory policy's text.
    may_ask: whether a question is allowed now; quota_left: how many more. trials_left: after this
    one, if it fails; `None` where nobody counts them. several: whether more than one action may be
    wanted. declines: whether none may be, as where people talk.
    """

    scene: Scene
    actions: ActionSet
    asked: tuple[Turn, ...] = ()
    tried: tuple[frozenset[int], ...] = ()
    history: tuple[TrialLog, ...] = ()
    memo: str = ""
    masked: bool = True
    may_ask: bool = True
    quota_left: int = 2
    trial: int = 1
    trials_left: int | None = None
    several: bool = False
    declines: bool = False

    @property
    def allowed(self) -> tuple[int, ...]:
        """The actions that may be executed alone, in their order."""
        barred = self.tried if self.masked else ()
        return tuple(a for a in self.actions.ids if frozenset({a}) not in barred)


class Agent(Protocol):
    """Decides, as a flow: its models and embeddings are effects."""

    name: str

    def decide(self, view: View) -> Flow[Decision]:
        """A `Clarify` only if `view.may_ask`; an `Execute` of an action of the set; a `Decline`
        only if `view.declines`."""
        ...


class NotingAgent:
    """Decides as another one does, and keeps what it decided. made: oldest first."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent
        self.made: list[Decision] = []

    def decide(self, view: View) -> Flow[Decision]:
        decision = yield from self._agent.decide(view)
        self.made.append(decision)
        return decision


@dataclass(frozen=True)
class AgentContext:
    """What a factory gets to build an agent. Entry-point group: `naisei.agents`.

    A factory is a callable `(AgentContext) -> Agent`. Its attribute `model_free` says whether
    the agent does without a language model: True takes it out of memory policies and roles,
    False makes a run without a model for the role `agent` an error, and where there is none
    the agent is taken to reflect, and nothing is asked of its models.

    Its attribute `asks` says whether it can ask at all; False leaves over- and under-asking
    undefined.

    Its attribute `options`, if any, is a pydantic model of the agent's settings: it types and
    checks them before there is a run.

    options: the agent's own settings. alpha, beta: discounts of score@k per question and per wrong
    act.
    embedder: built lazily by calling it, so that agents without one pay nothing.
    train: instances that may be learnt from (never those being run).
    """

    actions: ActionSet
    seed: int = 0
    alpha: float = 0.9
    beta: float = 0.5
    trials: int = 3
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    embedder: object = None
    train: tuple[Instance, ...] = ()

    def get_embedder(self) -> Embedder:
        assert callable(self.embedder), "this agent needs an embedder"
        built: Embedder = self.embedder()
        return built


def declares(
    *, model_free: bool, options: type[BaseModel] | None = None, asks: bool = True
) -> Callable[[F], F]:
    """A decorator that sets these attributes of a factory; see `AgentContext`."""

    def declared(factory: F) -> F:
        factory.model_free = model_free  # type: ignore[attr-defined]
        factory.asks = asks  # type: ignore[attr-defined]
        if options is not None:
            factory.options = options  # type: ignore[attr-defined]
        return factory

    return declared


#: Entry-point group of agents.
GROUP = "naisei.agents"


def _factory(name: str) -> Callable[[AgentContext], Agent]:
    factory: Callable[[AgentContext], Agent] = plugins.load(
        GROUP, name, what=("エージェント", "agent"), option="--agent"
    )
    return factory


def asks(name: str) -> bool:
    """Whether an agent can ask at all, so that what it did not ask tells of it."""
    return bool(getattr(_factory(name), "asks", True))


def is_model_free(name: str) -> bool:
    """Whether an agent keeps its own account of earlier trials, so that it needs no language
    model and no memory policy applies to it.

    Raises:
        InputError: no such agent.
    """
    return getattr(_factory(name), "model_free", None) is True


def calls_model(name: str) -> bool:
    """Whether an agent declares that it calls a model in the role `agent`."""
    return getattr(_factory(name), "model_free", None) is False


def options_of(name: str) -> type[BaseModel] | None:
    """The model of an agent's settings; `None` where it declares none."""
    declared: type[BaseModel] | None = getattr(_factory(name), "options", None)
    return declared


def settings_of(
    name: str, given: Mapping[str, str], *, beside: Sequence[str] = ()
) -> dict[str, JsonValue]:
    """The settings of an agent in their types.

    Args:
        given: key → value as typed. beside: the agents that share them; a key that only another
            one knows is left to it.

    Raises:
        InputError: a setting that none of them knows, or a value that does not fit.
    """
    declared = options_of(name)
    if declared is None:
        return untyped(given)
    others = [known for other in beside if (known := options_of(other)) is not None]
    theirs = {key for known in others for key in known.model_fields}
    mine = {k: v for k, v in given.items() if k in declared.model_fields or k not in theirs}
    return typed(declared, mine)


def build_agent(name: str, context: AgentContext) -> Agent:
    """The agent.

    Raises:
        InputError: no such agent, settings that it does not take, or one that says of itself
            what its factory does not.
    """
    factory = _factory(name)
    if (model := options_of(name)) is not None:
        context = replace(context, options=typed(model, context.options))
    agent = factory(context)
    free = is_model_free(name)
    if getattr(agent, "model_free", free) is not free:
        raise InputError(
            say(
                f"エージェント '{name}' の model_free は {not free} ですが、"
                "ファクトリにその属性がありません",
                f"the agent '{name}' has model_free = {not free}, which its factory has not",
            ),
            place="--agent",
            remedy=say(
                f"エージェントを作る前に調べるので、ファクトリにも設定してください: "
                f"{getattr(factory, '__name__', 'build')}.model_free = {not free}",
                f"set it on the factory, which is asked before there is an agent: "
                f"{getattr(factory, '__name__', 'build')}.model_free = {not free}",
            ),
        )
    return agent


def _known_prompt(name: str) -> str:
    known = lang.names("naisei.clarify")
    if name not in known:
        raise ValueError(f"there is no prompt '{name}'; known: {', '.join(known)}")
    return name


#: The name of a prompt of clarify, such as `agent.v1`.
PromptName = Annotated[str, AfterValidator(_known_prompt)]
