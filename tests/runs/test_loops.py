"""The README's Python example where an event loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from pathlib import Path

import pytest

from naisei.clarify.config import ClarifyConfig
from naisei.clarify.system import RUN
from naisei.core import InputError
from naisei.system.declare import blocking
from naisei.system.execute import RunOptions

SPOKEN: contextvars.ContextVar[str] = contextvars.ContextVar("spoken")


async def acalled(word: str) -> tuple[str, str, int]:
    await asyncio.sleep(0)
    if word == "bad":
        raise InputError("no such word")
    return word, SPOKEN.get("nothing"), threading.get_ident()


called = blocking(acalled)


async def cell(word: str) -> tuple[str, str, int]:
    """A cell of a notebook: plain code within a running loop."""
    SPOKEN.set("日本語")
    return called(word)


def test_it_runs_where_it_is_called_or_beside_a_loop_that_runs() -> None:
    assert called.__name__ == "called"
    assert called("a") == ("a", "nothing", threading.get_ident())
    word, spoken, thread = asyncio.run(cell("a"))
    assert (word, spoken) == ("a", "日本語") and thread != threading.get_ident()
    for call in (lambda: called("bad"), lambda: asyncio.run(cell("bad"))):
        with pytest.raises(InputError, match="no such word"):
            call()


def test_a_run_in_a_notebook_is_the_same_run(tmp_path: Path) -> None:
    config, options = ClarifyConfig(agent="random", limit=2), RunOptions(quiet=True)

    async def cells() -> list[object]:
        plain = RUN.run(config, options, run_dir=tmp_path / "plain")
        awaited = await RUN.arun(config, options, run_dir=tmp_path / "awaited")
        return [plain.to_json()["metrics"], awaited.to_json()["metrics"]]

    plain, awaited = asyncio.run(cells())
    outside = RUN.run(config, options, run_dir=tmp_path / "outside")
    assert plain == awaited == outside.to_json()["metrics"]
