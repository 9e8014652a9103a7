"""The toy task as a module, and ways to run it."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOY = Path(__file__).with_name("toy.py")


def _load() -> ModuleType:
    if "naisei_toy" not in sys.modules:
        spec = importlib.util.spec_from_file_location("naisei_toy", TOY)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["naisei_toy"] = module
        spec.loader.exec_module(module)
    return sys.modules["naisei_toy"]


@pytest.fixture
def toy() -> Any:
    return _load()


@pytest.fixture
def run_toy(toy: Any) -> Callable[..., Any]:
    """Run a toy task into a directory and finish it; returns the `RunResult`."""
    from naisei.runs.directory import RunDirectory
    from naisei.runs.engine import run_task
    from naisei.runs.result import finish

    def run(path: Path, task: Any = None, world: Any = None, **options: Any) -> Any:
        task = toy.Toy() if task is None else task
        with RunDirectory.of(task, path) as directory:
            world = toy.model() if world is None else world
            outcome = asyncio.run(run_task(task, directory, world, **options))
            return finish(task, directory, outcome)

    return run


@pytest.fixture
def start_toy() -> Callable[..., subprocess.Popen[str]]:
    """Start the toy command in a process of its own."""

    def start(*args: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(TOY), *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start
