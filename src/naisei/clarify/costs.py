"""Cost of success in questions, and the score of blind draws from the plausible set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, nan

from naisei.clarify.config import ClarifyConfig
from naisei.clarify.schemas import EpisodeResult, Instance
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Table


def blind_draws(instance: Instance, k: int, *, beta: float = 0.5) -> tuple[float, float, float]:
    """A baseline that draws blindly from the plausible set without repetition.

    Where several actions are wanted it draws among sets of that size.

    Returns:
        Its expected pass@k, score@k and wrong acts within k trials.
    """
    n = comb(len(instance.plausible) or 1, len(instance.wanted)) or 1
    tries = min(k, n)
    score = sum(beta**j for j in range(tries)) / n
    wrong = (sum(range(tries)) + tries * (n - tries)) / n
    return tries / n, score, wrong


def oracle(instances: Sequence[Instance], k: int, beta: float) -> tuple[float, float, float]:
    """Mean pass@k, score@k and wrong acts of blind draws from the plausible set; NaN without."""
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
