"""Tables of a run (success by questions, scores of blind draws from the plausible set) and of a
study (questions at equal success, the worst user).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, comb, nan
from typing import TYPE_CHECKING

from naisei.clarify.config import ClarifyConfig
from naisei.clarify.schemas import EpisodeResult, Instance
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric, Table

if TYPE_CHECKING:
    from naisei.system.studies import Study


def blind_draws(instance: Instance, k: int, *, beta: float = 0.5) -> tuple[float, float, float]:
    """A baseline that draws blindly from the plausible set without repetition.

    If several actions are wanted, it draws sets of that size.

    Returns:
        The expected pass@k, score@k and wrong acts within k trials.
    """
    n = comb(len(instance.plausible) or 1, len(instance.wanted)) or 1
    tries = min(k, n)
    score = sum(beta**j for j in range(tries)) / n
    wrong = (sum(range(tries)) + tries * (n - tries)) / n
    return tries / n, score, wrong


def oracle(instances: Sequence[Instance], k: int, beta: float) -> tuple[float, float, float]:
    """Mean pass@k, score@k and wrong acts of blind draws; NaN without plausible sets."""
    drawn = [blind_draws(i, k, beta=beta) for i in instances if i.plausible]
    if not drawn:
        return (nan, nan, nan)
    passed, score, wrong = (sum(column) / len(drawn) for column in zip(*drawn, strict=True))
    return passed, score, wrong


def cost_tables(
    config: ClarifyConfig, instances: Mapping[str, Instance], results: Sequence[EpisodeResult]
) -> tuple[Table, ...]:
    """Success by number of questions, and the blind-draw baseline."""
    if not results:
        return ()
    most = max(r.questions for r in results)
    rows: list[tuple[str | float | int, ...]] = []
    for n in range(most + 1):
        won = [r.first_success is not None and r.questions <= n for r in results]
        clean = [w and not r.wrong_acts for w, r in zip(won, results, strict=True)]
        scenes = [instances[r.instance].scene_id or r.instance for r in results]
        share = mean_metric("", [float(w) for w in won], clusters=scenes, share=True)
        no_wrong = sum(clean) / len(clean)
        rows.append((n, share.value, share.low, share.high, no_wrong, len(results)))
    columns = ("questions", "solved", "95 % low", "95 % high", "solved without a wrong act", "n")
    curve = Table(
        "solved within so many questions",
        columns,
        tuple(rows),
        note=say(
            "試行全体の質問の合計がこの数以下で解けた割合",
            "share solved with at most so many questions in all trials",
        ),
    )
    known = [instances[r.instance] for r in results]
    if not any(i.plausible for i in known):
        return (curve,)
    lines = [(k, *oracle(known, k, config.beta)) for k in range(1, config.rules.trials + 1)]
    drawn = Table(
        "plausible-set oracle",
        ("k", "pass@k", "score@k", "wrong acts"),
        tuple(lines),
        note=say(
            "もっともらしい行動の集合を知っていて、質問せずにそこから重複なく引く場合の期待値",
            "expected of one who knows the plausible actions and draws among them without asking",
        ),
    )
    return (curve, drawn)


def more_tables(study: Study) -> tuple[Table, ...]:
    """Questions at equal success, and each configuration's worst kind of user."""
    tables = [_at_equal_success(study.metrics)] if len(study.results) > 1 else []
    worst = _worst(study.configs, study.metrics)
    return (*tables, worst) if worst else tuple(tables)


_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def _at_equal_success(by_row: Mapping[str, Mapping[str, Metric]]) -> Table:
    """Questions needed to solve a share of the instances; NaN if never reached."""
    rows: list[tuple[str | float | int, ...]] = []
    for label, metrics in by_row.items():
        passed = [m for n, m in metrics.items() if n.startswith("pass@") and m.n]
        asked = metrics["questions"].per_unit
        won = passed[-1].per_unit if passed else ()
        spent = sorted(q for q, w in zip(asked, won, strict=bool(won)) if w)
        needed = [
            spent[ceil(s * len(won)) - 1] if ceil(s * len(won)) <= len(spent) else nan
            for s in _LEVELS
        ]
        rows.append((label, *(needed if won else [nan] * len(_LEVELS))))
    return Table(
        "Questions at equal success",
        ("configuration", *(f"{s:.0%}" for s in _LEVELS)),
        tuple(rows),
        note=say(
            "これだけの割合を解くのに要る質問の数 (試行全体の合計)",
            "the questions, in all trials, within which so large a share is solved",
        ),
    )


def _worst(
    configs: Mapping[str, ClarifyConfig], by_row: Mapping[str, Mapping[str, Metric]]
) -> Table | None:
    """Robustness: the lowest score over the users' manners."""
    alike: dict[str, list[str]] = {}
    for label, config in configs.items():
        apart = config.model_copy(update={"manner": "cooperative"})
        alike.setdefault(apart.model_dump_json(), []).append(label)
    rows: list[tuple[str | float | int, ...]] = []
    for labels in alike.values():
        if len(labels) < 2:
            continue
        k = configs[labels[0]].rules.trials
        scores = {label: by_row[label][f"score@{k}"] for label in labels}
        lowest = min(scores, key=lambda label: scores[label].value)
        low = scores[lowest]
        rows.append((lowest, configs[lowest].manner, low.value, low.low, low.high))
    if not rows:
        return None
    columns = ("configuration", "manner", "score", "95 % low", "95 % high")
    return Table("Robustness: the user it fares worst with", columns, tuple(rows))
