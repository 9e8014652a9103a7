"""Runs on a Ray cluster of a head and two nodes: workers, nodes and drivers are killed."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.attack.base import Attempt
from benchmarks.chaos.fire import Case, Fire, Ground, environment


def missing() -> str:
    """Why there is no Ray here; empty if there is."""
    for package in ("ray", "psutil"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return ""


def _nodes(ground: Ground) -> Any:
    def make() -> Any:
        from ray.cluster_utils import Cluster as Nodes  # type: ignore[import-not-found]

        os.environ |= {"PYTHONPATH": environment()["PYTHONPATH"], "RAY_USAGE_STATS_ENABLED": "0"}
        nodes = Nodes(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        ground.stack.callback(nodes.shutdown)
        nodes.workers = [nodes.add_node(num_cpus=2) for _ in range(2)]
        os.environ["RAY_ADDRESS"] = nodes.address
        return nodes

    return ground.once("ray", make)


def _worker_processes() -> list[int]:
    """Those that run actors of the driver."""
    import psutil

    every = psutil.process_iter(["pid", "cmdline"])
    mine = (p for p in every if (p.info["cmdline"] or [""])[0].startswith("ray::Worker"))
    return sorted(process.info["pid"] for process in mine)


def cluster(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    nodes = _nodes(ground)
    with Fire(ground, folder, "--engine", "ray") as fire:
        for moment in sorted(rng.sample(range(1, fire.total - 8), rng.randint(1, 2))):
            what = rng.choice(("worker", "worker", "node", "driver"))
            process = fire.start()
            if not fire.reached(process, moment):
                fire.ended(process)
                break
            time.sleep(rng.random() * 0.02)  # any moment will do
            if what == "driver":
                process.kill()
                process.communicate()
            elif what == "node":
                nodes.remove_node(nodes.workers.pop(0), allow_graceful=False)
                fire.ended(process)
                nodes.workers.append(nodes.add_node(num_cpus=2))
            else:
                for number in rng.sample(alive := _worker_processes(), min(len(alive), 2)):
                    with suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                fire.ended(process)
            fire.blow()
        fire.finish()
        yield Attempt("worker, node, driver killed", fire.outcome())


KINDS: dict[str, Case] = {"cluster": cluster}
NEEDS = {"cluster": missing}
