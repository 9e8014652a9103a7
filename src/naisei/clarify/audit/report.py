"""What the audit found: rates with intervals, a table by kind of question, notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from naisei.clarify.audit.checks import (
    Probe,
    asks_for_wish,
    level_claimed,
    levels_seen,
    names_action,
    names_object,
    polarity,
    probes,
    sentence_count,
)
from naisei.clarify.audit.facts import FactProbe, against_scene, heard
from naisei.clarify.describe import is_refusal
from naisei.clarify.schemas import Action, ActionSet, Instance
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric, Summary, Table

_FORBIDDEN = ("useless", "presence", "outright")
#: Metric → what it counts.
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
    "characters": "mean length of an answer that is no refusal, in characters",
    "long": "answers of more than two sentences",
}


class AuditTalk(BaseModel):
    """One conversation of the battery: the answers, in the order of its questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instance: str
    conversation: int
    answers: tuple[str, ...]


class _Counts:
    """Values of each metric, with the scene that each belongs to."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = defaultdict(list)
        self.scenes: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, value: bool | float, scene: str) -> None:
        self.values[name].append(float(value))
        self.scenes[name].append(scene)

    def metric(self, name: str) -> Metric:
        return mean_metric(
            name,
            self.values[name],
            clusters=self.scenes[name],
            share=name != "characters",
            reason="the battery has no such question for these instances",
        )


def summarise(
    name: str,
    talks: Sequence[AuditTalk],
    instances: Mapping[str, Instance],
    actions: ActionSet,
) -> Summary:
    """Metrics of the audit of simulator `name`, in the order of `_MEANING`."""
    counts = _Counts()
    kinds: dict[str, list[str]] = defaultdict(list)
    examples: dict[str, tuple[str, str, str]] = {}
    for said in talks:
        instance = instances[said.instance]
        gold = Action(id=instance.gold, text=actions.text(instance.gold))
        asked = probes(said.conversation, instance, actions)
        for at, (probe, answer) in enumerate(zip(asked, said.answers, strict=True)):
            kinds[probe.fact.form if probe.fact else probe.kind].append(answer)
            found = _judge(probe, answer, at, asked, said.answers, instance, gold)
            for metric, value in found.items():
                counts.add(metric, value, instance.scene_id or instance.id)
                if metric in _BAD and value:
                    examples.setdefault(metric, (gold.text, probe.question, answer))
    metrics = tuple(counts.metric(metric) for metric in _MEANING)
    return Summary(
        metrics=metrics,
        tables=(_meanings(name, metrics), _by_kind(kinds), _examples(examples)),
        notes=_notes(),
        extra={"simulator": name, "instances": len({t.instance for t in talks})},
    )


_BAD = (
    *("leak", "object-named", "false-denial", "false-assent", "evasion"),
    "contradiction",
    "inconsistent",
    "against-scene",
)


def _judge(
    probe: Probe,
    answer: str,
    at: int,
    asked: Sequence[Probe],
    answers: Sequence[str],
    instance: Instance,
    gold: Action,
) -> dict[str, bool | float]:
    found: dict[str, bool | float] = {}
    refused = is_refusal(answer)
    if probe.kind in _FORBIDDEN:
        found["refused-useless"] = refused
    elif probe.kind != "container":
        found["refused-fair"] = refused
    if probe.fact is not None and probe.fact.truth != "open":
        found |= _against_fact(probe.fact, answer)
    if refused:
        return found
    found["leak"] = names_action(answer, gold)
    if not asks_for_wish(probe.question) and not names_object(probe.question, gold):
        found["object-named"] = names_object(answer, gold)
    found["against-scene"] = against_scene(answer, probe.question, instance)
    found["characters"] = len(answer)
    found["long"] = sentence_count(answer) > 2
    stance = polarity(answer, probe.question)
    if probe.kind == "again":
        before = polarity(answers[probe.of], asked[probe.of].question)
        if stance and before:
            found["inconsistent"] = stance != before
    if probe.kind == "container":
        claimed = level_claimed(answer, probe.question, probe.expects)
        if claimed:
            seen = levels_seen(probe.container, instance)
            earlier = {
                level_claimed(a, p.question, p.expects)
                for p, a in zip(asked[:at], answers[:at], strict=True)
                if p.kind == "container" and not is_refusal(a)
            } - {""}
            found["contradiction"] = bool((seen and claimed not in seen) or earlier - {claimed})
    return found


def _against_fact(probe: FactProbe, answer: str) -> dict[str, bool | float]:
    said = heard(answer, probe)
    found: dict[str, bool | float] = {"evasion": not said}
    if said:
        holds = probe.truth not in ("no", "neither")
        if holds:
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
            "割合は質問についての値。区間は場面を再標本化したもの",
            "Rates are over questions; intervals resample scenes.",
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
