"""The README's Python example where an event loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from pathlib import Path

import pytest
from naisei.clarify.execute import arun_config, run_config
from naisei.clarify.session import Session

from naisei.clarify.config import ClarifyConfig
from naisei.core import InputError
from naisei.runs.loops import blocking

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
    config, session = ClarifyConfig(agent="random", limit=2), Session(quiet=True)

    async def cells() -> list[object]:
        plain = run_config(config, session, run_dir=tmp_path / "plain")
        awaited = await arun_config(config, session, run_dir=tmp_path / "awaited")
        return [plain.to_json()["metrics"], awaited.to_json()["metrics"]]

    plain, awaited = asyncio.run(cells())
    outside = run_config(config, session, run_dir=tmp_path / "outside")
    assert plain == awaited == outside.to_json()["metrics"]
