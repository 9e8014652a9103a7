"""Metrics of clarify: score@k, success within k trials (paper §5.1), wrong acts, questions, tokens.

score@k, the main metric: the mean over instances of alpha ** questions * beta ** wrong acts if
solved within k trials, else 0; questions and wrong acts of all trials up to the success count.
Unlike DPass@k, which discounts only the questions of the successful trial and no wrong acts, it
does not reward acting blindly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import JsonValue

from naisei.clarify.agent import asks
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.schemas import EpisodeResult, Instance, TrialLog
from naisei.clarify.tables import cost_tables, oracle
from naisei.lang import say
from naisei.runs.statistics import (
    discounted_within,
    mean_metric,
    pass_at_k,
    pass_hat_k,
    succeeded_within,
)
from naisei.runs.task import Digest, EpisodeRow, Metric, Summary, Table

#: Roles outside the system under test.
INSTRUMENT = frozenset({"simulator", "judge"})
#: Reason for missing token metrics in runs without language models.
NO_MODEL = "no model was called"


def _tokens(row: EpisodeRow, *, reflection: bool) -> int:
    """Input and output tokens of one episode, for the reflector or the whole system."""
    return sum(
        sum(u.used)
        for u in row.usage
        if (u.role == "reflector" if reflection else u.role not in INSTRUMENT)
    )


def token_metrics(
    rows: Sequence[EpisodeRow], results: Sequence[EpisodeResult], scenes: Sequence[Hashable]
) -> tuple[Metric, ...]:
    """Mean tokens per instance, over successful instances (Table 3) and over all.

    The total covers agent and reflector; a user simulator's tokens are reported only in the table
    by role. Replies made unusable by the endpoint are excluded; only the ledger counts them.
    """
    called = any(row.usage for row in rows)
    out = []
    for over, keep in (
        ("success", [r.first_success is not None for r in results]),
        ("all", [True] * len(results)),
    ):
        for what in ("reflection", "total"):
            values = [
                float(_tokens(row, reflection=what == "reflection"))
                for row, k in zip(rows, keep, strict=True)
                if k and called
            ]
            clusters = [s for s, k in zip(scenes, keep, strict=True) if k and called]
            why = "no instance succeeded" if called else NO_MODEL if rows else "no scored instance"
            # Paired if each unit has one episode and all of them count.
            paired = over == "all" and len({r.instance for r in results}) == len(results)
            out.append(
                mean_metric(
                    f"tokens_{what}_{over}", values, clusters=clusters, paired=paired, reason=why
                )
            )
    return tuple(out)


def token_table(rows: Sequence[EpisodeRow], results: Sequence[EpisodeResult]) -> Table:
    """Mean input and output tokens per instance by role, over successful and over all."""
    roles = sorted({u.role for row in rows for u in row.usage})
    won = [r.first_success is not None for r in results]
    lines: list[tuple[str | float | int, ...]] = []
    for role in roles:
        line: list[str | float | int] = [role]
        for keep in (won, [True] * len(won)):
            chosen = [row for row, k in zip(rows, keep, strict=True) if k]
            for side in (0, 1):
                total = sum(u.used[side] for r in chosen for u in r.usage if u.role == role)
                line.append(total / len(chosen) if chosen else float("nan"))
        lines.append(tuple(line))
    return Table(
        "tokens per instance by role",
        ("role", "input (success)", "output (success)", "input (all)", "output (all)"),
        tuple(lines),
        note=say(
            "指標の合計はエージェントと内省。ユーザー役の分は計測のための費用",
            "Total in the metrics is agent and reflector; the simulator is the instrument's.",
        ),
    )


#: Values of k in every report; NaN, with the reason, beyond the run's trials.
KS = (1, 2, 3, 5)


def ks(trials: int) -> tuple[int, ...]:
    """Every k up to the trials of a run, plus those of `KS`."""
    return tuple(sorted({*KS, *range(1, trials + 1)}))


def summarise(
    config: ClarifyConfig,
    instances: Mapping[str, Instance],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
) -> Summary:
    """All metrics over the scored rows. Intervals are over scenes, not instances, since
    instances of one scene share their utterance and are not independent evidence."""
    scored = [r for r in rows if r.scored]
    results = [EpisodeResult.model_validate(r.result) for r in scored]
    if config.independent:
        success = _independent(config, instances, results)
    else:
        success = _sequential(config, instances, results)
    asking = _asking(config, instances, results)
    tokens = token_metrics(scored, results, _scenes(instances, [r.instance for r in results]))
    metrics = (*success, *asking, *tokens)
    by_kind = _by_ambiguity(instances, results, config)
    by_role = token_table(scored, results)
    tables = (
        *(() if config.independent else cost_tables(config, instances, results)),
        *by_kind,
        *([by_role] if by_role.rows else []),
    )
    units = list(dict.fromkeys(r.instance for r in results))
    extra = {
        "units": units,
        "clusters": _scenes(instances, units),
        "oracle": {
            f"{name}@{k}": value
            for k in range(1, config.rules.trials + 1)
            for name, value in zip(
                ("pass", "score", "wrong_acts"),
                oracle([instances[i] for i in units], k, config.beta),
                strict=True,
            )
        },
    }
    return Summary(metrics=metrics, tables=tables, notes=tuple(notes), extra=extra)


def _scenes(instances: Mapping[str, Instance], ids: Sequence[str]) -> list[Hashable]:
    return [instances[i].scene_id or i for i in ids]


def definition(config: ClarifyConfig) -> dict[str, JsonValue]:
    """The settings that define a run's metrics."""
    return {
        "trials": config.rules.trials,
        "repeats": config.rules.repeats,
        "independent": config.independent,
        "simulator": config.simulator,
        "manner": config.manner,
    }


def _sequential(
    config: ClarifyConfig, instances: Mapping[str, Instance], results: Sequence[EpisodeResult]
) -> tuple[Metric, ...]:
    """Pass@k and DPass@k of sequential trials (paper §5.1)."""
    first = [r.first_success for r in results]
    steps = [r.trials[t - 1].steps if (t := r.first_success) else None for r in results]
    scenes = _scenes(instances, [r.instance for r in results])
    trials = config.rules.trials
    worth = [
        config.alpha**r.questions * config.beta**r.wrong_acts if t else 0.0
        for r, t in zip(results, first, strict=True)
    ]
    share = partial(mean_metric, clusters=scenes, share=True, paired=True)
    given, alpha = definition(config), {"alpha": config.alpha}
    scored = {**given, **alpha, "beta": config.beta}
    out = []
    for k in ks(trials):
        reason = f"k = {k}, but the run allows {trials} trial(s)" if k > trials else ""
        passed = succeeded_within(first, k, trials=trials)
        discounted = discounted_within(first, steps, k, alpha=config.alpha, trials=trials)
        within = [w if t and t <= k else 0.0 for w, t in zip(worth, first, strict=True)]
        if k > trials:
            within = [float("nan")] * len(within)
        out += [
            share(f"score@{k}", within, definition=scored, reason=reason),
            share(f"pass@{k}", passed, definition=given, reason=reason),
            share(f"dpass@{k}", discounted, definition={**given, **alpha}, reason=reason),
        ]
    why = "trials in sequence stop at the first success; pass^k needs --independent"
    out += [Metric(f"pass^{k}", float("nan"), reason=why) for k in ks(trials)]
    return tuple(out)


def _independent(
    config: ClarifyConfig, instances: Mapping[str, Instance], results: Sequence[EpisodeResult]
) -> tuple[Metric, ...]:
    """The unbiased pass@k and pass^k over independent repetitions."""
    by_instance: dict[str, list[EpisodeResult]] = {}
    for r in results:
        by_instance.setdefault(r.instance, []).append(r)
    scenes = _scenes(instances, list(by_instance))
    trials = config.rules.trials
    metrics: list[Metric] = []
    for k in ks(trials):
        few = [len(rs) for rs in by_instance.values() if len(rs) < k]
        reason = f"k = {k}, but some instances have {min(few)} scored trial(s)" if few else ""
        if k > trials:
            reason = f"k = {k}, but the run has {trials} trial(s)"
        estimates: list[tuple[str, Callable[[int, int, int], float]]] = [
            (f"pass@{k}", pass_at_k),
            (f"pass^{k}", pass_hat_k),
        ]
        for name, estimate in estimates:
            values = [
                estimate(len(rs), sum(r.trials[0].success for r in rs), k)
                for rs in by_instance.values()
            ]
            metrics.append(
                mean_metric(
                    name,
                    values,
                    clusters=scenes,
                    share=True,
                    paired=True,
                    definition=definition(config),
                    reason=reason,
                )
            )
    why = "DPass@k is defined on trials in sequence; leave out --independent"
    metrics += [Metric(f"dpass@{k}", float("nan"), reason=why) for k in ks(trials)]
    why = "score@k is defined on trials in sequence; leave out --independent"
    metrics += [Metric(f"score@{k}", float("nan"), reason=why) for k in ks(trials)]
    return tuple(metrics)


def _first_guess(log: TrialLog) -> int | None:
    """The agent's first guess in a trial, before any question."""
    return log.turns[0].guess if log.turns else log.action


def _asking(
    config: ClarifyConfig, instances: Mapping[str, Instance], results: Sequence[EpisodeResult]
) -> tuple[Metric, ...]:
    """Metrics of questions: number, necessity and fairness.

    over_asking: share of first trials that asked, among those whose first guess was right.
    under_asking: share that did not ask, among those whose first guess was wrong.
    """

    def over(name: str, units: Sequence[tuple[str, float]], reason: str = "") -> Metric:
        scenes = _scenes(instances, [i for i, _ in units])
        values = [v for _, v in units]
        return mean_metric(name, values, clusters=scenes, share=True, reason=reason)

    def count(name: str, of: Callable[[EpisodeResult], int], most: float = math.inf) -> Metric:
        scenes = _scenes(instances, [r.instance for r in results])
        values = [float(of(r)) for r in results]
        paired, given = not config.independent, definition(config)
        return mean_metric(
            name, values, clusters=scenes, most=most, paired=paired, definition=given
        )

    firsts = [(r, r.trials[0], _first_guess(r.trials[0])) for r in results]
    right = [(r.instance, float(bool(t.turns))) for r, t, g in firsts if g == r.gold]
    wrong = [
        (r.instance, float(not t.turns)) for r, t, g in firsts if g is not None and g != r.gold
    ]
    turns = [(r.instance, turn) for r in results for t in r.trials for turn in t.turns]
    no_question = "no question was asked"
    cannot = "" if config.rules.clarify and config.rules.quota else "the agent may not ask"
    cannot = cannot if asks(config.agent) else "the agent never asks"
    again = [(r.instance, float(t.repeated)) for r in results for t in r.trials if t.trial > 1]
    many = [r for r in results if instances[r.instance].also]
    tries = 1 if config.independent else config.rules.trials
    return (
        count("wrong_acts", lambda r: r.wrong_acts, math.inf if many else tries),
        over(
            "credit_of_several",
            [(r.instance, max(t.credit for t in r.trials)) for r in many],
            "no instance wants several actions",
        ),
        count("questions", lambda r: r.questions),
        count("questions_first_trial", lambda r: len(r.trials[0].turns)),
        over("over_asking", [] if cannot else right, cannot or "no first guess was right"),
        over("under_asking", [] if cannot else wrong, cannot or "no first guess was wrong"),
        over("refused_answers", [(i, float(t.refused)) for i, t in turns], no_question),
        over(
            "presence_questions",
            [(i, float(t.offence == "presence")) for i, t in turns],
            no_question,
        ),
        over(
            "outright_questions",
            [(i, float(t.offence == "outright")) for i, t in turns],
            no_question,
        ),
        over("repeated_actions", again, "no second trial"),
    )


def _by_ambiguity(
    instances: Mapping[str, Instance], results: Sequence[EpisodeResult], config: ClarifyConfig
) -> tuple[Table, ...]:
    """Success by kind of ambiguity, if the data has kinds."""
    kinds = sorted({k for r in results if (k := instances[r.instance].ambiguity)})
    if not kinds or config.independent:
        return ()
    rows = []
    for kind in kinds:
        group = [r for r in results if instances[r.instance].ambiguity == kind]
        won = [float(r.first_success is not None) for r in group]
        scenes = _scenes(instances, [r.instance for r in group])
        solved = mean_metric("", won, clusters=scenes, share=True)
        questions = sum(len(t.turns) for r in group for t in r.trials) / len(group)
        rows.append((kind, solved.value, solved.low, solved.high, questions, len(group)))
    columns = ("ambiguity", "solved", "95 % low", "95 % high", "questions", "n")
    return (Table("by kind of ambiguity", columns, tuple(rows)),)


def digest(result: Any) -> Digest:
    """An episode's summary for lists: trial of success, and number of questions."""
    found = EpisodeResult.model_validate(result)
    solved, trials = found.first_success, len(found.trials)
    did = (
        say(f"{solved} 回目で成功", f"solved at trial {solved}")
        if solved
        else say(f"{trials} 回とも失敗", f"failed {trials} of {trials}")
    )
    return Digest(float(solved is not None), did, found.questions)
