"""Agents: their input, decisions and factories, and how to build one by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol

from pydantic import AfterValidator, BaseModel, JsonValue

from naisei import lang, plugins
from naisei.clarify.schemas import ActionSet, Decision, Scene, TrialLog, Turn
from naisei.core import Flow
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.plugins import typed, untyped


@dataclass(frozen=True, slots=True)
class View:
    """The agent's input to a decision.

    asked: this trial's questions and answers. tried: sets of actions executed in earlier trials,
    all wrong, as far as `--repeats` reveals them. masked: whether those sets are forbidden.
    history: the earlier trials in full (used by agents with a posterior, not by agents with a
    memo). memo: the memory policy's text. may_ask: whether a question is allowed now. quota_left:
    questions left. trials_left: trials after this one; `None` if unlimited. several: whether more
    than one action may be wanted. declines: whether possibly none is, as in talks with people.
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
        """The actions that may still be executed on their own, in order."""
        barred = self.tried if self.masked else ()
        return tuple(a for a in self.actions.ids if frozenset({a}) not in barred)


class Agent(Protocol):
    """Decides in a flow; model calls and embeddings are effects."""

    @property
    def name(self) -> str: ...

    def decide(self, view: View) -> Flow[Decision]:
        """Return a `Clarify` only if `view.may_ask`, a `Decline` only if `view.declines`, or an
        `Execute` of an action of the set."""
        ...


class NotingAgent:
    """Wraps an agent and records its decisions in `made`, oldest first."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent
        self.made: list[Decision] = []

    def decide(self, view: View) -> Flow[Decision]:
        decision = yield from self._agent.decide(view)
        self.made.append(decision)
        return decision


@dataclass(frozen=True)
class AgentContext:
    """The input of an agent factory. Entry-point group: `naisei.agents`.

    A factory is a callable `(AgentContext) -> Agent`, or an `AgentFactory`.

    options: the agent's own settings. alpha, beta: discounts of score@k per question and per wrong
    act. embedder: a constructor, called only by agents that need embeddings.
    """

    actions: ActionSet
    seed: int = 0
    alpha: float = 0.9
    beta: float = 0.5
    trials: int = 3
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    embedder: object = None

    def get_embedder(self) -> Embedder:
        assert callable(self.embedder), "this agent needs an embedder"
        built: Embedder = self.embedder()
        return built


@dataclass(frozen=True, slots=True)
class AgentFactory:
    """Builds an agent, and describes it to runs beforehand.

    model_free: whether the agent needs no language model. True: it gets no memory policy and no
    role. False: a run without a model for the role `agent` is an error. `None`: it may reflect, but
    needs no model. options: a pydantic model of its settings, validated before a run. asks:
    whether it can ask at all; if not, over- and under-asking are undefined.
    """

    build: Callable[[AgentContext], Agent]
    model_free: bool | None = None
    options: type[BaseModel] | None = None
    asks: bool = True

    def __call__(self, context: AgentContext) -> Agent:
        return self.build(context)


#: Entry-point group of agents.
GROUP = "naisei.agents"


def _factory(name: str) -> AgentFactory:
    found = plugins.load(GROUP, name, what=("エージェント", "agent"), option="--agent")
    return found if isinstance(found, AgentFactory) else AgentFactory(found)


def asks(name: str) -> bool:
    """Whether an agent can ask at all."""
    return _factory(name).asks


def is_model_free(name: str) -> bool:
    """Whether an agent tracks earlier trials itself: it needs no language model and no memory
    policy.

    Raises:
        InputError: the agent does not exist.
    """
    return _factory(name).model_free is True


def calls_model(name: str) -> bool:
    """Whether an agent declares calls of a model in the role `agent`."""
    return _factory(name).model_free is False


def settings_of(
    name: str, given: Mapping[str, str], *, beside: Sequence[str] = ()
) -> dict[str, JsonValue]:
    """Parse the settings of an agent.

    Args:
        given: key → value as typed.
        beside: agents that share them; keys that only another agent knows are ignored.

    Raises:
        InputError: an unknown setting, or an invalid value.
    """
    declared = _factory(name).options
    if declared is None:
        return untyped(given)
    others = [known for other in beside if (known := _factory(other).options) is not None]
    theirs = {key for known in others for key in known.model_fields}
    mine = {k: v for k, v in given.items() if k in declared.model_fields or k not in theirs}
    return typed(declared, mine)


def build_agent(name: str, context: AgentContext) -> Agent:
    """Build an agent by name.

    Raises:
        InputError: the agent does not exist, or its settings are invalid.
    """
    factory = _factory(name)
    if factory.options is not None:
        context = replace(context, options=typed(factory.options, context.options))
    return factory(context)


def _known_prompt(name: str) -> str:
    known = lang.names("naisei.clarify")
    if name not in known:
        listed = ", ".join(known)
        raise ValueError(
            say(
                f"'{name}' というプロンプトはありません (あるもの: {listed})",
                f"there is no prompt '{name}'; known: {listed}",
            )
        )
    return name


#: The name of a clarify prompt, such as `agent.v1`.
PromptName = Annotated[str, AfterValidator(_known_prompt)]
