"""The audit of user simulators: do they leak, contradict, mislead, and refuse where they should?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, JsonValue

from naisei.clarify.audit.questions import battery_digest, conversations, probes
from naisei.clarify.audit.report import AuditTalk, summarise
from naisei.clarify.config import AuditConfig
from naisei.clarify.schemas import ActionSet, Instance
from naisei.clarify.simulator import simulator
from naisei.clarify.task import Paraphrases as Speakers
from naisei.clarify.task import borrowing_note, with_speakers
from naisei.clarify.task import data_hash as digest_of
from naisei.core import AskUser, Flow, Handler, Where, World, fingerprint
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Task

__all__ = ["AuditTask", "summarise", "talk"]


ParaphrasesOf = Callable[[Instance], Mapping[int, Sequence[str]]]


def talk(instance: Instance, actions: ActionSet, number: int) -> Flow[AuditTalk]:
    """One conversation of the battery with the user of one instance."""
    answers: list[str] = []
    for probe in probes(number, instance, actions):
        answer = yield from AskUser(probe.question)
        answers.append(answer)
    return AuditTalk(instance=instance.id, conversation=number, answers=tuple(answers))


class AuditTask(Task[AuditConfig]):
    """Puts every conversation of the battery to the user of every instance.

    An episode is one conversation (`Where.trial` is its number), with a fresh user.
    """

    system = "clarify"

    def __init__(
        self,
        config: AuditConfig,
        instances: Sequence[Instance],
        actions: ActionSet,
        *,
        data_hash: str = "",
        paraphrases: ParaphrasesOf | None = None,
    ) -> None:
        self.config = config.model_copy(update={"battery": battery_digest()})
        self.actions = actions
        self.data_hash = data_hash or fingerprint([i.model_dump(mode="json") for i in instances])
        self._instances = {i.id: i for i in instances}
        self._paraphrases = paraphrases

    @staticmethod
    def of(config: AuditConfig) -> AuditTask:
        """The audit on the data that a configuration names. Raises `InputError` for unusable
        data, or an unknown simulator."""
        data, speakers = with_speakers(config)
        task = AuditTask(
            config,
            data.instances,
            data.actions,
            data_hash=digest_of(data, speakers),
            paraphrases=Speakers(speakers.instances),
        )
        task.user(data.instances[0])
        return task

    def episodes(self) -> list[Where]:
        numbers = conversations(self.actions)
        return [
            Where(i.id, n)
            for i in self._instances.values()
            for n in numbers
            if probes(n, i, self.actions)
        ]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        instance = self._instances[where.instance]
        world = base.having({AskUser: self.user(instance)})
        return talk(instance, self.actions, where.trial), world

    def user(self, instance: Instance) -> Handler:
        """The simulator that is audited, as the user of an instance."""
        return simulator(
            self.config.simulator,
            instance,
            self.actions,
            seed=self.config.seed,
            manner=self.config.manner,
            paraphrases=self._paraphrases(instance) if self._paraphrases else None,
        )

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        talks = [AuditTalk.model_validate(r.result) for r in rows if r.scored]
        who = self.config.models.get("simulator", "")
        name = f"{self.config.simulator} {who}".strip()
        found = summarise(name, talks, self._instances, self.actions)
        every = self._instances.values()
        notes = borrowing_note(self.config.simulator, every, self._paraphrases or (lambda one: {}))
        return replace(found, notes=(*notes, *found.notes))

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        said = AuditTalk.model_validate(result)
        instance = self._instances[said.instance]
        asked = probes(said.conversation, instance, self.actions)
        head = f"{instance.scene.utterance} → {self.actions.text(instance.gold)}"
        pairs = zip(asked, said.answers, strict=True)
        told = [(Line(p.question, f"Q ({p.kind})"), Line(a, "A", mine=True)) for p, a in pairs]
        return [Line(head, tone="head"), *(line for pair in told for line in pair)]
