"""The clarify task: episodes, the judge of actions, and the summary."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, JsonValue

from naisei.clarify import flow, metrics
from naisei.clarify.agent import Agent, AgentContext, NotingAgent, build_agent
from naisei.clarify.config import AuditConfig, ClarifyConfig, Rules
from naisei.clarify.data import Dataset, load
from naisei.clarify.describe import scene_text
from naisei.clarify.lines import episode_lines
from naisei.clarify.schemas import Decision, EpisodeResult, Instance
from naisei.clarify.simulator import simulator
from naisei.core import (
    Act,
    AskUser,
    Effect,
    Event,
    Flow,
    Handler,
    InputError,
    Observation,
    Remember,
    Where,
    World,
    replay_prefix,
)
from naisei.lang import say
from naisei.memory import Memory, MemoryHandler, memory_policy
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.training_documents import learnt_from, training_note


class ActJudge(Handler):
    """Judges actions by an instance's hidden intent: reward 1 for exactly the wanted ones, else 0.

    info: `credit`, |intersection| / |union| of executed and wanted actions, and `wrong`, the
    number of unwanted ones.
    """

    def __init__(self, wanted: frozenset[int]) -> None:
        self._wanted = wanted

    def perform(self, effect: Act, where: Where) -> Observation:
        assert isinstance(effect.action, dict)
        also = effect.action.get("also", [])
        assert isinstance(also, list)
        done = {effect.action["execute"], *also}
        return Observation(
            reward=float(done == self._wanted),
            done=True,
            info={
                "credit": len(done & self._wanted) / len(done | self._wanted),
                "wrong": len(done - self._wanted),
            },
        )


def facts_note(simulator: str, instances: Sequence[Instance]) -> tuple[str, ...]:
    """A note on instances without facts, about which the rule simulator knows little."""
    silent = sum(one.facts is None for one in instances)
    if simulator != "rule" or not silent:
        return ()
    return (
        say(
            f"{silent} 件には facts がないので、規則のユーザー役が知るのは望みの行動の文だけです。"
            "答えられない質問が増えます (--simulator llm なら言語モデルが答えます)。",
            f"{silent} instance(s) have no facts: the rule simulator knows only the text of the "
            "wanted action and refuses more questions (--simulator llm asks a language model).",
        ),
    )


def configured(config: ClarifyConfig | AuditConfig, *, actions: str = "") -> Dataset:
    """Load a configuration's data. Raises `InputError` for unusable data."""
    return load(
        config.data,
        split=config.split,
        limit=config.limit,
        seed=config.seed,
        actions=actions or None,
    )


class ClarifyTask(Task[ClarifyConfig]):
    """Runs one agent on every instance of a data set."""

    system = "clarify"
    each = "trials"
    row_names: ClassVar[Mapping[str, str]] = {"turns": "questions", "cluster": "scene"}

    def __init__(self, config: ClarifyConfig, data: Dataset) -> None:
        self.config = config
        self.data = data
        self.data_hash = data.digest
        self._instances = {i.id: i for i in data.instances}
        self._several = any(i.also for i in data.instances)
        self._rules = (
            config.rules.model_copy(update={"trials": 1}) if config.independent else config.rules
        )
        self._memory = memory_policy(config.memory, prompts="naisei.clarify")
        self._agents = {trial: self._agent(trial) for trial in self._trials()}

    @staticmethod
    def of(config: ClarifyConfig) -> ClarifyTask:
        """Create the task for a configuration's data. Raises `InputError` for unusable data."""
        return ClarifyTask(config, configured(config, actions=config.actions))

    def _trials(self) -> Sequence[int]:
        return range(1, self.config.rules.trials + 1) if self.config.independent else (0,)

    def _agent(self, trial: int) -> Agent:
        """The agent of a repetition; only the seed differs."""
        config = self.config
        return build_agent(
            config.agent,
            AgentContext(
                actions=self.data.actions,
                seed=config.seed + trial,
                alpha=config.alpha,
                beta=config.beta,
                trials=self._rules.trials,
                options=config.agent_options,
                embedder=lambda: KeptEmbedder(open_embedder(config.embedder)),
            ),
        )

    @property
    def rules(self) -> Rules:
        """The rules of one episode."""
        return self._rules

    def titles(self) -> Mapping[str, str]:
        return {i.id: i.scene.utterance for i in self.data.instances}

    def targets(self) -> Mapping[str, str]:
        wanted = {i.id: sorted(i.wanted) for i in self.data.instances}
        return {id: " + ".join(map(self.data.actions.text, acts)) for id, acts in wanted.items()}

    def clusters(self) -> Mapping[str, str]:
        return {i.id: i.scene_id or i.id for i in self.data.instances}

    def episodes(self) -> list[Where]:
        return [Where(i.id, trial) for i in self.data.instances for trial in self._trials()]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        instance = self._instances[where.instance]
        remembered = self._memory()
        world = base.having(
            {
                Act: ActJudge(instance.wanted),
                AskUser: self._user(instance),
                Remember: MemoryHandler(remembered),
            }
        )
        agent = self._agents[where.trial]
        return self._episode(instance, agent, remembered), world

    def _episode(self, instance: Instance, agent: Agent, memory: Memory) -> Flow[BaseModel]:
        return flow.episode(
            instance, self.data.actions, agent, memory, self._rules, several=self._several
        )

    def instance(self, id: str) -> Instance:
        """The instance of an episode. Raises `InputError` if it belongs to other data."""
        if id not in self._instances:
            raise InputError(
                say(f"データに {id} がありません", f"the data hold no {id}"), place=self.config.data
            )
        return self._instances[id]

    def decisions(self, where: Where, events: Sequence[Event]) -> list[Decision]:
        """The agent's decisions, with beliefs, in the given first events of an episode."""
        noting, remembered = NotingAgent(self._agents[where.trial]), self._memory()
        world = World({Effect: Handler(), Remember: MemoryHandler(remembered)})
        instance = self.instance(where.instance)
        played = self._episode(instance, noting, remembered)
        replay_prefix(played, world, events, where)
        return noting.made

    def _user(self, instance: Instance) -> Handler:
        return simulator(
            self.config.simulator,
            instance,
            self.data.actions,
            seed=self.config.seed,
            manner=self.config.manner,
        )

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        user, data = self.config.simulator, self.data
        silent = facts_note(user, data.instances)
        notes = (self._user_note(), *silent, *self._learnt(), *data.notes, *self.model_notes())
        return metrics.summarise(self.config, self._instances, rows, notes)

    def _user_note(self) -> str:
        """A note on the user simulator, with the command to audit it."""
        config, command = self.config, ["naisei", "clarify", "audit"]
        options = ("simulator", config.simulator), ("data", config.data)
        for name, value in options:
            if value != type(config).model_fields[name].default:
                command += [f"--{name}", value]
        if model := config.models.get("simulator"):
            command += ["--model", model]
        return say(
            f"ユーザー役: {config.simulator} (検査するには `{shlex.join(command)}`)",
            f"user: {config.simulator} (to audit it: `{shlex.join(command)}`)",
        )

    def _learnt(self) -> tuple[str, ...]:
        """A note if the agent's weights were fitted to scored scenes."""
        agent = next(iter(self._agents.values()))
        known: frozenset[str] = getattr(agent, "trained_on", frozenset())
        texts = [scene_text(i.scene) for i in self.data.instances]
        seen = learnt_from(texts, known)
        return training_note(self.config.agent, seen, len(texts))

    def instances(self, where: Where, result: JsonValue) -> tuple[str, list[dict[str, Any]]]:
        """The episode as a labelled instance."""
        row = self._instances[where.instance].model_dump(mode="json", by_alias=True)
        scene, row["scene"] = row["scene"], row.pop("scene_id") or row["id"]
        row |= {key: scene[key] for key in ("utterance", "user", "surroundings")}
        row["user"] = {k: v for k, v in row["user"].items() if k != "name" or v}
        return "ambigact40-open/ja", [{k: v for k, v in row.items() if v not in (None, [])}]

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        instance = self._instances[where.instance]
        return episode_lines(instance, EpisodeResult.model_validate(result), self.data.actions)
