"""The local engine passes the kit of engines, and so does Ray's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from in_process_ray import InProcessRay
from naisei.core import FlowError
from naisei.runs.cluster import RayEngine, ray_cluster
from naisei.runs.cluster_pool import Cluster
from naisei.runs.engine import Engine, run_task
from naisei.testing import EngineKit


@asynccontextmanager
async def _local(concurrency: int) -> AsyncIterator[Engine]:
    yield run_task


@asynccontextmanager
async def _in_process(concurrency: int) -> AsyncIterator[Engine]:
    cluster = Cluster(InProcessRay(), workers=2, slots=-(-concurrency // 2))
    try:
        yield RayEngine(cluster)
    finally:
        await cluster.aclose()


@asynccontextmanager
async def _on_ray(concurrency: int) -> AsyncIterator[Engine]:
    async with ray_cluster("ray", concurrency=concurrency) as cluster:
        yield RayEngine(cluster)


class TestLocal(EngineKit):
    def engine(self, concurrency: int) -> AbstractAsyncContextManager[Engine]:
        return _local(concurrency)


class TestMessages(EngineKit):
    """Driver and workers as on Ray, in one process."""

    def engine(self, concurrency: int) -> AbstractAsyncContextManager[Engine]:
        return _in_process(concurrency)


@pytest.fixture(scope="class")
def ray_here() -> Iterator[None]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.usefixtures("ray_here")
class TestRay(EngineKit):
    def engine(self, concurrency: int) -> AbstractAsyncContextManager[Engine]:
        return _on_ray(concurrency)


def test_an_engine_that_begins_anew_fails() -> None:
    class Forgetful(EngineKit):
        def engine(self, concurrency: int) -> AbstractAsyncContextManager[Engine]:
            return _forgetful(concurrency)

    @asynccontextmanager
    async def _forgetful(concurrency: int) -> AsyncIterator[Engine]:
        async def engine(task, directory, world, **options):  # type: ignore[no-untyped-def]
            directory.log.erase(instances=[where.instance for where in task.episodes()])
            return await run_task(task, directory, world, **options)

        yield engine

    failed = Forgetful().failures()
    assert "test_a_finished_run_does_nothing" in failed
    assert "test_a_run_stopped_by_a_budget_resumes" in failed
    assert "test_results_equal_the_local_engine" not in failed
    assert FlowError.__name__ not in "".join(failed.values())
