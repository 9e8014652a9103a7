"""Clarify as a task of the run engine: episodes, worlds, and what is measured."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from naisei.clarify import flow, metrics
from naisei.clarify.agent import Agent, AgentContext
from naisei.clarify.agents.registry import build_agent
from naisei.clarify.audited import AuditNote
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.data import Dataset
from naisei.clarify.describe import transcript
from naisei.clarify.home import Home
from naisei.clarify.paraphrases import Paraphrases, data_hash
from naisei.clarify.rules import Rules
from naisei.clarify.schemas import EpisodeResult, Instance
from naisei.clarify.simulator import simulator
from naisei.core import Act, AskUser, Flow, Handler, Remember, Where, World
from naisei.lang import say
from naisei.memory import MemoryHandler, memory_policy
from naisei.models.embedders.kept import KeptEmbedder
from naisei.models.embedders.registry import open_embedder
from naisei.models.local.notice import NOTICE_EN, NOTICE_JA
from naisei.runs.task import EpisodeRow, Summary

__all__ = ["ClarifyTask"]


class ClarifyTask:
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
        notes = (self.audit.text(), *self.data.notes, *self._small_model())
        return metrics.summarise(self.config, self._instances, rows, notes)

    def _small_model(self) -> tuple[str, ...]:
        """What has to be said beside the figures of the embedded model."""
        local = any(name.startswith("local:") for name in self.config.models.values())
        return (say(NOTICE_JA, NOTICE_EN),) if local else ()

    def transcript(self, row: EpisodeRow) -> str:
        if row.result is None:
            return row.failure
        result = EpisodeResult.model_validate(row.result)
        instance = self._instances[row.where.instance]
        return transcript(instance, result, self.data.actions)
