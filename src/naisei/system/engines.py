"""Runs on a Ray cluster, from the words of `--engine`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from naisei.core import InputError
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.runs.cluster_pool import Cluster
    from naisei.runs.engine import Engine
    from naisei.runs.task import Task

#: Provider of models that a person plays at this terminal.
_BY_HAND = "hand:"


def check_engine(engine: str, task: Task[Any], models: Mapping[str, str]) -> None:
    """Raises `InputError` for an unknown engine, or one that cannot run the task."""
    if engine != "ray" and not engine.startswith("ray://"):
        raise InputError(
            say(f"{engine!r} という実行エンジンはありません", f"there is no engine {engine!r}"),
            place="--engine",
            remedy=say(
                "local、ray、ray://HOST:PORT のどれかにしてください",
                "use local, ray or ray://HOST:PORT",
            ),
        )
    by_hand = any(model.startswith(_BY_HAND) for model in models.values())
    if by_hand or task.in_terminal:
        raise InputError(
            say(
                "この端末の人が答える実行は、ほかのマシンでは進められません",
                "what a person at this terminal answers cannot run elsewhere",
            ),
            place="--engine",
            remedy=say("--engine を外してください", "leave out --engine"),
        )


@asynccontextmanager
async def open_engine(
    engine: str,
    *,
    concurrency: int,
    load: Callable[[], Task[Any]],
    world: Callable[..., Any],
    cluster: Cluster | None = None,
) -> AsyncIterator[Engine]:
    """The engine, closed on leaving.

    Args:
        engine: `ray` or `ray://HOST:PORT`.
        concurrency: episodes at a time.
        load, world: what workers elsewhere make; see `naisei.runs.cluster.RayEngine`.
        cluster: existing workers, left running.

    Raises:
        InputError: the cluster cannot be reached.
    """
    from naisei.runs.cluster import RayEngine, ray_cluster

    if cluster is not None:
        yield RayEngine(cluster, load, world)
        return
    async with ray_cluster(engine, concurrency=concurrency) as opened:
        yield RayEngine(opened, load, world)
