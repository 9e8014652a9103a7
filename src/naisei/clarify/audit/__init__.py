"""The audit of user simulators: do they leak, contradict, mislead, and refuse when they should?

The report has rates with intervals, a table by kind of question, and notes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.clarify.audit.questions import Probe, battery_digest, conversations, probes
from naisei.clarify.audit.readings import (
    against_scene,
    asks_for_wish,
    interpret_answer,
    level_claimed,
    levels_seen,
    names_action,
    names_object,
    polarity,
)
from naisei.clarify.config import AuditConfig
from naisei.clarify.data import Dataset
from naisei.clarify.describe import is_refusal
from naisei.clarify.schemas import Action, ActionSet, Instance
from naisei.clarify.simulator import simulator
from naisei.clarify.task import configured, facts_note
from naisei.core import AskUser, Flow, Handler, Where, World
from naisei.japanese.sentences import sentences
from naisei.lang import say
from naisei.runs.lines import Line
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Table, Task

_FORBIDDEN = ("useless", "presence", "outright")
#: Metric → its definition.
_MEANING = {
    "leak": "answers that name the wanted action: its object with what to do to it",
    "object-named": "answers that name the wanted object although nothing asked for it",
    "false-denial": "answers that deny what is so, or the one offered thing that is wanted",
    "false-assent": "answers that affirm what is not so, or take a wrong one of those offered",
    "evasion": "fair questions about the wish with a settled truth that get no clear answer",
    "contradiction": "container answers against the scene or against an earlier answer",
    "inconsistent": "questions asked again and answered the other way",
    "against-scene": "answers that deny a thing which the scene shows, or put it elsewhere",
    "refused-fair": "fair questions refused (too many: a user who does not help)",
    "refused-useless": "useless or forbidden questions refused (should be all)",
    "long": "answers of more than two sentences",
}


class AuditTalk(BaseModel):
    """One conversation of the battery: the answers, in the order of its questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instance: str
    conversation: int
    answers: tuple[str, ...]


def summarise(
    name: str,
    talks: Sequence[AuditTalk],
    instances: Mapping[str, Instance],
    actions: ActionSet,
) -> Summary:
    """Metrics of the audit of simulator `name`, in the order of `_MEANING`."""
    values: dict[str, list[tuple[float, str]]] = defaultdict(list)
    kinds: dict[str, list[str]] = defaultdict(list)
    examples: dict[str, tuple[str, str, str]] = {}
    for said in talks:
        instance = instances[said.instance]
        gold = Action(id=instance.gold, text=actions.text(instance.gold))
        battery = probes(said.conversation, instance, actions)
        for at, (probe, answer) in enumerate(zip(battery, said.answers, strict=True)):
            kinds[probe.kind].append(answer)
            for metric, value in _judge(at, battery, said.answers, instance, gold).items():
                values[metric].append((float(value), instance.scene_id or instance.id))
                if metric in _BAD and value:
                    examples.setdefault(metric, (gold.text, probe.question, answer))
    metrics = tuple(_metric(metric, values[metric]) for metric in _MEANING)
    return Summary(
        metrics=metrics,
        tables=(_meanings(name, metrics), _by_kind(kinds), _examples(examples)),
        notes=_notes(),
        extra={"simulator": name, "instances": len({t.instance for t in talks})},
    )


def _metric(name: str, values: Sequence[tuple[float, str]]) -> Metric:
    return mean_metric(
        name,
        [value for value, _ in values],
        clusters=[scene for _, scene in values],
        share=True,
        reason="the battery has no such question for these instances",
    )


_BAD = (
    *("leak", "object-named", "false-denial", "false-assent", "evasion"),
    *("contradiction", "inconsistent", "against-scene"),
)


def _judge(
    at: int, battery: Sequence[Probe], answers: Sequence[str], instance: Instance, gold: Action
) -> dict[str, bool]:
    """Whether one answer has a fault, by metric."""
    probe, answer = battery[at], answers[at]
    found: dict[str, bool] = {}
    refused = is_refusal(answer)
    if probe.kind in _FORBIDDEN:
        found["refused-useless"] = refused
    elif probe.kind != "container":
        found["refused-fair"] = refused
    if probe.truth not in ("", "open"):
        found |= _against_fact(probe, answer)
    if refused:
        return found
    found["leak"] = names_action(answer, gold)
    if not asks_for_wish(probe.question) and not names_object(probe.question, gold):
        found["object-named"] = names_object(answer, gold)
    found["against-scene"] = against_scene(answer, probe.question, instance)
    found["long"] = len(sentences(answer)) > 2
    if probe.kind == "again":
        now, before = (polarity(answers[n], battery[n].question) for n in (at, probe.of))
        if now and before:
            found["inconsistent"] = now != before
    if probe.kind == "container" and (claimed := _claimed(answer, probe)):
        seen = levels_seen(probe.container, instance)
        past = zip(battery[:at], answers[:at], strict=True)
        earlier = {_claimed(a, p) for p, a in past if p.kind == "container"} - {""}
        found["contradiction"] = bool((seen and claimed not in seen) or earlier - {claimed})
    return found


def _claimed(answer: str, probe: Probe) -> str:
    return "" if is_refusal(answer) else level_claimed(answer, probe.question, probe.expects)


def _against_fact(probe: Probe, answer: str) -> dict[str, bool]:
    said = interpret_answer(answer, probe)
    found = {"evasion": not said}
    if said:
        if probe.truth not in ("no", "neither"):
            found["false-denial"] = said in ("no", "neither")
        found["false-assent"] = said not in ("no", "neither", probe.truth)
    return found


def _notes() -> tuple[str, ...]:
    return (
        say(
            "判定はすべて、回答の言葉に対する規則によるものです。leak は、行動の対象を名指しした"
            "ときだけ数えます。それとないほのめかしや、ありそうにない話は見つけられません。",
            "Every judgement is a rule over the words of the answers: leaks count only where the "
            "action's object is named. A subtle hint or an implausible story passes unseen.",
        ),
        say(
            "割合は質問についての値。区間は場面をまとまりとしたもの",
            "Rates are over questions; the clusters of the intervals are scenes.",
        ),
    )


def _meanings(name: str, metrics: Sequence[Metric]) -> Table:
    rows = tuple((m.name, m.value, m.low, m.high, m.n, _MEANING[m.name]) for m in metrics)
    return Table(
        f"Audit of the simulator {name}", ("rate", "value", "low", "high", "n", "what"), rows
    )


def _by_kind(kinds: Mapping[str, Sequence[str]]) -> Table:
    rows = tuple(
        (kind, len(answers), sum(map(is_refusal, answers)) / len(answers), len(set(answers)))
        for kind, answers in kinds.items()
    )
    return Table("By kind of question", ("kind", "n", "refused", "different answers"), rows)


def _examples(examples: Mapping[str, tuple[str, str, str]]) -> Table:
    rows = tuple((metric, *example) for metric, example in examples.items())
    return Table("First example of each fault", ("fault", "wanted", "question", "answer"), rows)


__all__ = ["AuditTask", "summarise", "talk"]


def talk(instance: Instance, actions: ActionSet, number: int) -> Flow[AuditTalk]:
    """Run one conversation of the battery with one instance's user."""
    answers: list[str] = []
    for probe in probes(number, instance, actions):
        answer = yield from AskUser(probe.question)
        answers.append(answer)
    return AuditTalk(instance=instance.id, conversation=number, answers=tuple(answers))


class AuditTask(Task[AuditConfig]):
    """Runs every conversation of the battery with the user of every instance.

    An episode is one conversation (`Where.trial` is its number), with a fresh user.
    """

    system = "clarify"

    def __init__(self, config: AuditConfig, data: Dataset) -> None:
        self.config = config.model_copy(update={"battery": battery_digest()})
        self.actions, self.data_hash = data.actions, data.digest
        self._instances = {i.id: i for i in data.instances}

    @staticmethod
    def of(config: AuditConfig) -> AuditTask:
        """Create the audit for a configuration's data. Raises `InputError` for unusable data."""
        return AuditTask(config, configured(config))

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
        """The audited simulator, as the user of an instance."""
        return simulator(
            self.config.simulator,
            instance,
            self.actions,
            seed=self.config.seed,
            manner=self.config.manner,
        )

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        talks = [AuditTalk.model_validate(r.result) for r in rows if r.scored]
        who = self.config.models.get("simulator", "")
        name = f"{self.config.simulator} {who}".strip()
        found = summarise(name, talks, self._instances, self.actions)
        notes = facts_note(self.config.simulator, [*self._instances.values()])
        return replace(found, notes=(*notes, *found.notes))

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        said = AuditTalk.model_validate(result)
        instance = self._instances[said.instance]
        battery = probes(said.conversation, instance, self.actions)
        head = f"{instance.scene.utterance} → {self.actions.text(instance.gold)}"
        pairs = zip(battery, said.answers, strict=True)
        lines = [(Line(p.question, f"Q ({p.kind})"), Line(a, "A", mine=True)) for p, a in pairs]
        return [Line(head, tone="head"), *(line for pair in lines for line in pair)]
