"""One metric over runs: against a value of their configurations, or their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.compare import LoadedRun, same_definitions
from naisei.runs.frozen import flattened
from naisei.runs.pooling import pooled_metric
from naisei.runs.task import Summary, Table

#: Keys that differ between runs but are not settings.
_APART = ("seed", "models")


def across_runs(loaded: Sequence[LoadedRun], metric: str, x: str = "") -> Table:
    """A line for each value of a setting, with the 95 % interval; runs that differ in nothing but
    the seed are pooled, and runs that differ in other settings are lines of their own.

    Args:
        x: the setting, by its path (`rules.quota`) or the end of it (`quota`), or `seed`; by
            default the only one in which the runs differ.

    Raises:
        InputError: fewer than two runs, none of them with the metric or the setting, several
            settings to choose from, or metrics that mean different things.
    """
    if len(loaded) < 2:
        raise InputError(
            say("実行が二つ以上必要です", "two runs or more are needed"), place="naisei runs chart"
        )
    same_definitions(loaded, [metric])
    flat = [dict(flattened(run.frozen.config)) for run in loaded]
    apart = varied(loaded)
    x = _setting(x, apart, list(flat[0]))
    others = [k for k in apart if k not in (x, "seed")]
    groups: dict[tuple[str, ...], dict[Any, dict[int, Summary]]] = {}
    for run, settings in zip(loaded, flat, strict=True):
        name = tuple(f"{k.rpartition('.')[2]} {settings.get(k)}" for k in others)
        at = groups.setdefault(name, {}).setdefault(_value(settings.get(x)), {})
        seed = 0 if x == "seed" else int(str(settings.get("seed") or 0))
        if seed in at:
            raise InputError(
                say("同じ設定とシードの実行が二つあります", "two runs have one setting and seed"),
                place=run.name,
                remedy=say("どちらかを外してください", "leave one out"),
            )
        at[seed] = run.stored.summary
    lines = [
        (", ".join(name) or metric, value, m.value, m.low, m.high, len(seeds), m.n)
        for name, values in groups.items()
        for value, seeds in sorted(values.items(), key=lambda each: (str(type(each[0])), each[0]))
        if (m := pooled_metric(metric, seeds)).value == m.value
    ]
    if not lines:
        raise InputError(
            say(f"指標 {metric} の値がありません", f"no run has a value of {metric}"),
            place="--metric",
            remedy=", ".join(m.name for m in loaded[0].stored.summary.metrics),
        )
    if len(groups) == 1 and not all(isinstance(row[1], int | float) for row in lines):
        lines = [(str(row[1]), row[1], *row[2:]) for row in lines]
    columns = ("configuration", x, metric, f"{metric} low", f"{metric} high", "seeds", "n")
    title = f"{loaded[0].frozen.system}: {metric}"
    return Table(title, columns, tuple(lines))


def varied(loaded: Sequence[LoadedRun]) -> list[str]:
    """Paths of the settings in which runs differ."""
    flat = [dict(flattened(run.frozen.config)) for run in loaded]
    keys = dict.fromkeys(key for each in flat for key in each)
    return [k for k in keys if any(each.get(k) != flat[0].get(k) for each in flat)]


def _setting(given: str, apart: list[str], known: list[str]) -> str:
    usual = [key for key in apart if key.partition(".")[0] not in _APART]
    fitting = [key for key in known if given in (key, key.rpartition(".")[2])] if given else usual
    if not given and not fitting and "seed" in apart:
        return "seed"
    if len(fitting) == 1:
        return fitting[0]
    raise InputError(
        say("横軸にする設定を一つ選んでください", "choose one setting for the x axis"),
        place="--x",
        remedy=", ".join(sorted(fitting) or apart),
    )


def _value(found: Any) -> Any:
    """A number, or text."""
    return found if isinstance(found, int | float) and not isinstance(found, bool) else str(found)
