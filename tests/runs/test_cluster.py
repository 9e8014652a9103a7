"""Workers that die, a driver that dies, limits of a whole cluster: in one process, and on Ray."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from in_process_ray import InProcessRay
from naisei.core import Event, World
from naisei.models.base import ModelSettings
from naisei.models.pacing import Throttle
from naisei.runs.cluster import RayEngine
from naisei.runs.cluster_pool import Cluster
from naisei.runs.directory import RunDirectory
from naisei.runs.result import finish
from waiting import PATIENCE, until


@asynccontextmanager
async def _workers(ray: InProcessRay, n: int = 2, slots: int = 4) -> AsyncIterator[Cluster]:
    cluster = Cluster(ray, workers=n, slots=slots)
    try:
        yield cluster
    finally:
        await cluster.aclose()


async def _run(
    cluster: Cluster, toy: Any, path: Path, on_event: Callable[[Event], None], **more: Any
) -> Any:
    task = toy.Toy(12)
    with RunDirectory.of(task, path) as directory:
        engine = RayEngine(cluster, load=lambda: toy.Toy(12), **more)
        outcome = await engine(task, directory, World({}), concurrency=8, on_event=on_event)
        return finish(task, directory, outcome)


@asynccontextmanager
async def _toy_world(throttle: object) -> AsyncIterator[World]:
    import naisei_toy  # type: ignore[import-not-found]

    yield naisei_toy.model()


def test_a_worker_that_dies_is_replaced_and_its_episodes_go_on(
    tmp_path: Path, toy: Any, run_toy: Callable[..., Any]
) -> None:
    ray = InProcessRay()
    seen: list[Event] = []

    def kill_some(event: Event) -> None:
        seen.append(event)
        if len(seen) in (20, 40):
            ray.kill(ray.actors[-1])

    async def go() -> Any:
        async with _workers(ray) as cluster:
            return await _run(cluster, toy, tmp_path / "run", kill_some, world=_toy_world)

    result = asyncio.run(go())
    assert result.outcome.scored == 12 and len(ray.actors) == 4
    steps = [(event.where.episode, event.where.path) for event in seen]
    assert len(steps) == len({*steps})
    run_toy(tmp_path / "local", toy.Toy(12))
    assert (tmp_path / "run/results.jsonl").read_bytes() == (
        tmp_path / "local/results.jsonl"
    ).read_bytes()


def test_an_episode_that_ends_every_worker_is_given_up(tmp_path: Path, toy: Any) -> None:
    ray = InProcessRay()

    @asynccontextmanager
    async def deadly(throttle: object) -> AsyncIterator[World]:
        async def die(chat: object) -> None:
            for actor in ray.actors:
                ray.kill(actor)
            await asyncio.Future()

        yield World({toy.Chat: die})

    async def go() -> Any:
        async with _workers(ray) as cluster:
            return await _run(cluster, toy, tmp_path / "run", lambda event: None, world=deadly)

    outcome = asyncio.run(go()).outcome
    assert outcome.failed == len(outcome.rows) and outcome.scored == 0
    assert outcome.rows and all("3 times" in row.failure for row in outcome.rows)


def test_other_data_on_a_worker_is_refused(tmp_path: Path, toy: Any) -> None:
    async def go() -> None:
        async with _workers(InProcessRay()) as cluster:
            task = toy.Toy(2)
            with RunDirectory.of(task, tmp_path / "run") as directory:
                engine = RayEngine(cluster, load=lambda: toy.Toy(2, data_hash="data-2"))
                await engine(task, directory, World({}))

    with pytest.raises(Exception, match="another program or other data: data-2, not data-1"):
        asyncio.run(go())


def test_workers_share_the_limits_a_minute(
    tmp_path: Path, toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ModelSettings] = []
    monkeypatch.setattr("naisei.runs.cluster_worker.Throttle", made.append)

    @asynccontextmanager
    async def world(throttle: Callable[[str, ModelSettings], Throttle]) -> AsyncIterator[World]:
        limited = ModelSettings(requests_per_minute=60, tokens_per_minute=900)
        throttle("m", limited)
        throttle("m", ModelSettings())
        yield toy.model()

    async def go() -> Any:
        async with _workers(InProcessRay(), 3) as cluster:
            return await _run(cluster, toy, tmp_path / "run", lambda event: None, world=world)

    assert asyncio.run(go()).outcome.scored == 12
    assert {(m.requests_per_minute, m.tokens_per_minute, m.concurrency) for m in made} == {
        (20, 300, 4),
        (None, None, 4),
    }


def _logged(run: Path) -> list[str]:
    if not (run / "log.sqlite").exists():
        return []
    with RunDirectory.look(run, check=False) as directory:
        return [
            f"{event.where.instance} {event.where.step}"
            for episode in directory.log.known_episodes()
            for event in directory.log.read(episode)
            if event.kind == "chat"
        ]


@pytest.fixture
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Ray cluster of a head and two nodes with workers, each with a raylet of its own."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster as Nodes  # type: ignore[import-not-found]

    head = {"num_cpus": 0, "include_dashboard": False}
    nodes = Nodes(initialize_head=True, head_node_args=head)
    nodes.workers = [nodes.add_node(num_cpus=2) for _ in range(2)]
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    yield nodes
    nodes.shutdown()


@pytest.mark.slow
def test_a_node_and_the_driver_are_killed(
    tmp_path: Path,
    start_toy: Callable[..., Any],
    run_toy: Callable[..., Any],
    toy: Any,
    two_nodes: Any,
) -> None:
    n, total = 40, 40 * 6
    run, calls = tmp_path / "run", tmp_path / "calls"

    def start(latency: float) -> Any:
        return start_toy(run, calls, "--n", n, "--latency", latency, "--engine", "ray")

    def performed() -> list[str]:
        return calls.read_text().splitlines() if calls.exists() else []

    driver = start(0.2)
    until(lambda: len(_logged(run)) > total // 4, driver)
    two_nodes.remove_node(two_nodes.workers[0], allow_graceful=False)
    after_node = len(performed()), {*_logged(run)}
    until(lambda: len(_logged(run)) > total // 2, driver)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    after_driver = len(performed()), {*_logged(run)}
    last = start(0)
    out, err = last.communicate(timeout=PATIENCE)
    assert last.returncode == 0, err
    for lines, logged in (after_node, after_driver):
        assert not logged & {*performed()[lines:]}, "a recorded call was made again"
    assert len({*performed()}) == total
    assert len(performed()) - total <= 2 * 8 * 2, "more than those in flight"
    assert json.loads(out.splitlines()[-1])["n"] == n
    run_toy(tmp_path / "local", toy.Toy(n))
    assert (run / "results.jsonl").read_bytes() == (tmp_path / "local/results.jsonl").read_bytes()
    assert os.environ["RAY_ADDRESS"] == two_nodes.address
