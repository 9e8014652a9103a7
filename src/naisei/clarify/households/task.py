"""Households as a task: requests in order, a memory between them, the learning curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.clarify import flow as clarify
from naisei.clarify.agent import Agent, AgentContext, build_agent
from naisei.clarify.config import HouseholdsConfig, Rules
from naisei.clarify.costs import oracle
from naisei.clarify.describe import transcript
from naisei.clarify.households.data import Home, Homes, Request, load_homes
from naisei.clarify.households.memory import HomeMemory, home_memory
from naisei.clarify.metrics import definition
from naisei.clarify.schemas import ActionSet, EpisodeResult, Past, Scene
from naisei.clarify.simulator import simulator
from naisei.clarify.task import Household as Judge
from naisei.core import (
    Act,
    AskUser,
    Embed,
    Flow,
    Handler,
    Observation,
    Remember,
    Where,
    World,
)
from naisei.lang import say
from naisei.memory.none import NoMemory
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.runs.compare import differences
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Summary, Table, Task
from naisei.system.execute import Study


class HouseholdResult(BaseModel):
    """One household: the episode of each request, in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    household: str
    requests: tuple[EpisodeResult, ...]


class _Now:
    """Which request a household is at; the user and the judge of actions go by it."""

    def __init__(self) -> None:
        self.request: Request | None = None


def situation(scene: Scene) -> str:
    """Time, place, posture and utterance in one line: by it requests are told alike."""
    user = scene.user
    return "、".join(p for p in (user.time, user.place, user.posture) if p) + (
        f"「{scene.utterance}」"
    )


def household(
    home: Home, actions: ActionSet, agent: Agent, memory: HomeMemory, rules: Rules, now: _Now
) -> Flow[HouseholdResult]:
    """All requests in order; after each, what came of it is remembered."""
    results: list[EpisodeResult] = []
    for request in home.requests:
        now.request = request
        scene = request.instance.scene
        vector = None
        if memory.searches:
            vector = (yield from Embed((situation(scene),)))[0]
        past = memory.recall(situation(scene), vector, n=request.n, day=request.day)
        result = yield from clarify.episode(
            request.instance, actions, agent, NoMemory(), rules, past
        )
        results.append(result)
        if memory.name != "none":
            yield from Remember(_remembered(request, result, vector))
    return HouseholdResult(household=home.id, requests=tuple(results))


def _remembered(request: Request, result: EpisodeResult, vector: object) -> JsonValue:
    won = next((t for t in result.trials if t.success), None)
    told = [turn.answer for t in result.trials for turn in t.turns if not turn.refused]
    return Past(
        n=request.n,
        day=request.day,
        person=request.person,
        situation=situation(request.instance.scene),
        right=tuple(sorted(won.executed)) if won else (),
        wrong=tuple(sorted({a for t in result.trials if not t.success for a in t.executed})),
        questions=result.questions,
        answers=tuple(told),
        vector=() if vector is None else tuple(float(x) for x in np.asarray(vector)),
    ).model_dump(mode="json")


class _User(Handler):
    """The person who asks now; fresh for every request."""

    def __init__(self, config: HouseholdsConfig, actions: ActionSet, now: _Now) -> None:
        self._config, self._actions, self._now = config, actions, now
        self._users: dict[int, Handler] = {}

    def _user(self) -> Handler:
        request = self._now.request
        assert request is not None
        if request.n not in self._users:
            config = self._config
            self._users[request.n] = simulator(
                config.simulator,
                request.instance,
                self._actions,
                seed=config.seed,
                manner=config.manner,
            )
        return self._users[request.n]

    def perform(self, effect: AskUser, where: Where) -> object:
        return self._user().perform(effect, where)

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        self._user().restore(effect, result, where)


class _Judge(Handler):
    def __init__(self, now: _Now) -> None:
        self._now = now

    def perform(self, effect: Act, where: Where) -> Observation:
        assert self._now.request is not None
        return Judge(self._now.request.instance.wanted).perform(effect, where)


class _Keeper(Handler):
    def __init__(self, memory: HomeMemory) -> None:
        self._memory = memory

    def perform(self, effect: Remember, where: Where) -> None:
        self._memory.add(effect.item)

    def restore(self, effect: Remember, result: None, where: Where) -> None:
        self._memory.add(effect.item)


class HouseholdsTask(Task[HouseholdsConfig]):
    """Plays every household with one agent and one memory. An episode is a household."""

    system = "clarify"
    each = "requests.trials"
    row_names: ClassVar[Mapping[str, str]] = {"turns": "questions", "cluster": "household"}

    def __init__(self, config: HouseholdsConfig, data: Homes) -> None:
        self.config, self.data = config, data
        self.data_hash = data.digest
        self._homes = {h.id: h for h in data.homes}
        home_memory(config.memory)
        self._agent = build_agent(
            config.agent,
            AgentContext(
                actions=data.actions,
                seed=config.seed,
                alpha=config.alpha,
                beta=config.beta,
                trials=config.rules.trials,
                options=config.agent_options,
                embedder=lambda: KeptEmbedder(open_embedder(config.embedder)),
            ),
        )

    @staticmethod
    def of(config: HouseholdsConfig) -> HouseholdsTask:
        """On the households that a configuration names. Raises `InputError`."""
        return HouseholdsTask(
            config, load_homes(config.data, split=config.split, limit=config.limit)
        )

    def episodes(self) -> list[Where]:
        return [Where(h.id, 0) for h in self.data.homes]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        memory, now = home_memory(self.config.memory), _Now()
        world = base.having(
            {
                Act: _Judge(now),
                AskUser: _User(self.config, self.data.actions, now),
                Remember: _Keeper(memory),
            }
        )
        home = self._homes[where.instance]
        return household(
            home, self.data.actions, self._agent, memory, self.config.rules, now
        ), world

    def shown(self, where: Where, result: JsonValue) -> str:
        home = self._homes[where.instance]
        played = HouseholdResult.model_validate(result)
        pairs = zip(home.requests, played.requests, strict=True)
        return "\n\n———\n\n".join(
            transcript(request.instance, one, self.data.actions) for request, one in pairs
        )

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        played = [HouseholdResult.model_validate(r.result) for r in rows if r.scored]
        pairs = [
            (self._homes[p.household], request, result)
            for p in played
            for request, result in zip(self._homes[p.household].requests, p.requests, strict=True)
        ]
        units = [f"{h.id}/{q.n}" for h, q, _ in pairs]
        clusters = [h.id for h, _, _ in pairs]

        given = {**definition(self.config), "alpha": self.config.alpha, "beta": self.config.beta}
        count = partial(mean_metric, clusters=clusters, paired=True, definition=given)
        share = partial(count, share=True)
        worth = [_worth(r, self.config) for _, _, r in pairs]
        known = [h.known_before(q) for h, q, _ in pairs]
        later = [2 * q.n > len(h.requests) for h, q, _ in pairs]
        first = [float(r.trials[0].success) for _, _, r in pairs]
        no_habit = "no request rests on a habit seen before"
        k = self.config.rules.trials
        metrics = (
            share(f"score@{k}", worth),
            share("score_known_habit", _where(worth, known), reason=no_habit),
            share("score_other", _where(worth, [not x for x in known])),
            share("score_second_half", _where(worth, later)),
            share("pass@1", first),
            share("pass@1_known_habit", _where(first, known), reason=no_habit),
            share(f"pass@{k}", [float(r.first_success is not None) for _, _, r in pairs]),
            count("questions", [float(r.questions) for _, _, r in pairs]),
            count("wrong_acts", [float(r.wrong_acts) for _, _, r in pairs]),
        )
        drawn = oracle([q.instance for _, q, _ in pairs], k, self.config.beta)
        note = say(
            f"候補から当てずっぽうに引くと: pass@{k} {drawn[0]:.3f}、score@{k} {drawn[1]:.3f}",
            f"blind draws from the plausible set: pass@{k} {drawn[0]:.3f}, "
            f"score@{k} {drawn[1]:.3f}",
        )
        return Summary(
            metrics=metrics,
            tables=(_curve(pairs, worth),),
            notes=(note, *self.model_notes()),
            extra={"units": units, "clusters": clusters},
        )


def _worth(result: EpisodeResult, config: HouseholdsConfig) -> float:
    if result.first_success is None:
        return 0.0
    return config.alpha**result.questions * config.beta**result.wrong_acts


def _where(values: Sequence[float], kept: Sequence[bool]) -> list[float | None]:
    return [v if k else None for v, k in zip(values, kept, strict=True)]


def _curve(pairs: Sequence[tuple[Home, Request, EpisodeResult]], worth: Sequence[float]) -> Table:
    """The learning curve: success, questions and wrong acts by the number of the request."""
    rows = []
    for n in sorted({q.n for _, q, _ in pairs}):
        at = [i for i, (_, q, _) in enumerate(pairs) if q.n == n]
        results = [pairs[i][2] for i in at]
        rows.append(
            (
                n,
                sum(worth[i] for i in at) / len(at),
                sum(r.trials[0].success for r in results) / len(at),
                sum(r.questions for r in results) / len(at),
                sum(r.wrong_acts for r in results) / len(at),
                len(at),
            )
        )
    columns = ("request", "score", "pass@1", "questions", "wrong acts", "n")
    return Table("learning curve", columns, tuple(rows))


def study_tables(study: Study) -> tuple[Table, ...]:
    """The memories side by side, and each against the first, paired by request."""
    summaries = {label: result.summary for label, result in study.results.items()}
    by_row = {label: {m.name: m for m in s.metrics} for label, s in summaries.items()}
    names = list(next(iter(by_row.values())))
    columns = ["configuration"]
    for name in names:
        columns += [name, f"{name} low", f"{name} high"]
    rows: list[tuple[str | float | int, ...]] = [
        (label, *(x for n in names for x in (ms[n].value, ms[n].low, ms[n].high)))
        for label, ms in by_row.items()
    ]
    tables = [Table("Success", tuple(columns), tuple(rows))]
    if len(summaries) > 1:
        compared = (names[0], names[1], "score_second_half", "questions", "wrong_acts")
        seed = next(iter(study.configs.values())).seed
        tables.append(differences(summaries, compared, seed=seed, note=_paired_note()))
    return tuple(tables)


def _paired_note() -> str:
    return say(
        "依頼ごとの差 (対応あり)。世帯をまとまりとする符号反転の並べ替え検定",
        "paired by request; sign-flip permutation test, households as clusters",
    )
