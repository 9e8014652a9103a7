"""Clarify as a task of the run engine: episodes, worlds, and what is measured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import BaseModel, JsonValue

from naisei.clarify import flow, metrics
from naisei.clarify.agent import Agent, AgentContext
from naisei.clarify.agents.registry import build_agent
from naisei.clarify.audited import AuditNote
from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.data import Dataset
from naisei.clarify.describe import transcript
from naisei.clarify.home import Home
from naisei.clarify.paraphrases import Paraphrases, data_hash, with_speakers
from naisei.clarify.schemas import EpisodeResult, Instance
from naisei.clarify.simulator import simulator
from naisei.core import Act, AskUser, Flow, Handler, Remember, Where, World
from naisei.memory import MemoryHandler, memory_policy
from naisei.models.embedders.registry import KeptEmbedder, open_embedder
from naisei.runs.directory import RunDirectory
from naisei.runs.task import EpisodeRow, Summary, Task

__all__ = ["ClarifyTask"]


class ClarifyTask(Task[ClarifyConfig]):
    """Plays every instance of a data set with one agent under one configuration.

    train: what an agent may learn from. speakers: whose words a simulator without a table of
    needs may borrow; `data` by default.
    """

    system = "clarify"

    def __init__(
        self,
        config: ClarifyConfig,
        data: Dataset,
        *,
        train: tuple[Instance, ...] = (),
        speakers: Dataset | None = None,
    ) -> None:
        self.config = config
        self.data = data
        speakers = speakers or data
        self.data_hash = data_hash(data, speakers)
        self._instances = {i.id: i for i in data.instances}
        self._paraphrases = Paraphrases(speakers.instances)
        self._rules = (
            config.rules.model_copy(update={"trials": 1}) if config.independent else config.rules
        )
        self._memory = memory_policy(config.memory)
        self.audit = AuditNote(config, self._instances, data.actions, self._paraphrases)
        self._user(data.instances[0])  # an unknown simulator is an error now, not in an episode
        self._agents = {trial: self._agent(trial, train) for trial in self._trials()}

    @staticmethod
    def of(config: ClarifyConfig) -> ClarifyTask:
        """On the data that a configuration names. Raises `InputError` for unusable data."""
        data, speakers = with_speakers(config, actions=config.actions)
        return ClarifyTask(config, data, speakers=speakers)

    def _trials(self) -> Sequence[int]:
        return range(1, self.config.rules.trials + 1) if self.config.independent else (0,)

    def _agent(self, trial: int, train: tuple[Instance, ...]) -> Agent:
        """One agent per repetition: only its seed differs."""
        config = self.config
        return build_agent(
            config.agent,
            AgentContext(
                actions=self.data.actions,
                seed=config.seed + trial,
                alpha=config.alpha,
                trials=self._rules.trials,
                options=config.agent_options,
                embedder=lambda: KeptEmbedder(open_embedder(config.embedder)),
                train=train,
            ),
        )

    @property
    def rules(self) -> Rules:
        """The rules of one episode."""
        return self._rules

    def episodes(self) -> list[Where]:
        return [Where(i.id, trial) for i in self.data.instances for trial in self._trials()]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        instance = self._instances[where.instance]
        remembered = self._memory()
        world = base.having(
            {
                Act: Home(instance.gold),
                AskUser: self._user(instance),
                Remember: MemoryHandler(remembered),
            }
        )
        agent = self._agents[where.trial]
        return flow.episode(instance, self.data.actions, agent, remembered, self._rules), world

    def _user(self, instance: Instance) -> Handler:
        return simulator(
            self.config.simulator,
            instance,
            self.data.actions,
            seed=self.config.seed,
            paraphrases=self._paraphrases(instance),
        )

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        notes = (self.audit.text(), *self.data.notes, *self.model_notes())
        return metrics.summarise(self.config, self._instances, rows, notes)

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        """The audit of the simulator is worked out while the run waits for its models."""
        audit = asyncio.create_task(self.audit.meanwhile())
        yield
        if audit.done():
            audit.result()  # a crash of it is a crash of the run
        audit.cancel()

    def shown(self, where: Where, result: JsonValue) -> str:
        instance = self._instances[where.instance]
        return transcript(instance, EpisodeResult.model_validate(result), self.data.actions)
