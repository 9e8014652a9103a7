"""Flows are typed: what `yield from` gives is known to mypy --strict."""

from pathlib import Path

import pytest
from mypy import api

GOOD = """
from datetime import datetime
from typing import Any, assert_type
from pydantic import BaseModel
from naisei.core import (Act, AskUser, Chat, Evidence, Flow, Gather, Now, Observation, Remember,
                         Say, Search, World, arun, play, run, user)

class Guess(BaseModel):
    action: int

def inner() -> Flow[int]:
    text = yield from Chat("agent", [user("?")])
    assert_type(text, str)
    guess = yield from Chat("agent", [user("?")], Guess)
    assert_type(guess, Guess)
    return guess.action

def outer() -> Flow[tuple[int, str]]:
    assert_type((yield from inner()), int)
    answer = yield from AskUser("お茶ですか？")
    assert_type(answer, str)
    assert_type((yield from Act(3)), Observation)
    assert_type((yield from Search("茶")), list[Evidence])
    assert_type((yield from Now()), datetime)
    assert_type((yield from Gather([Now(), inner()])), list[Any])
    yield from Remember("note")
    yield from Say("line")
    return 1, answer

async def use() -> None:
    assert_type(run(outer(), World({})), tuple[int, str])
    assert_type(await arun(inner(), World({})), int)
    assert_type(play(inner(), []).result, int)
"""

BAD = """
from pydantic import BaseModel
from naisei.core import AskUser, Chat, Flow, user

class Guess(BaseModel):
    action: int

def wrong_result() -> Flow[int]:
    return (yield from AskUser("?"))

def wrong_field() -> Flow[int]:
    guess = yield from Chat("agent", [user("?")], Guess)
    return guess.acton

def wrong_schema() -> Flow[str]:
    return (yield from Chat("agent", [user("?")], int))
"""


def mypy(source: str, folder: Path) -> str:
    file = folder / "snippet.py"
    file.write_text(source, encoding="utf-8")
    out, err, _ = api.run(
        ["--strict", "--config-file=", f"--cache-dir={folder / 'cache'}", str(file)]
    )
    assert not err
    return out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_results_are_typed_and_mistakes_are_found(tmp_path: Path) -> None:
    out = mypy(GOOD, tmp_path)
    assert "Success" in out, out
    errors = [line for line in mypy(BAD, tmp_path).splitlines() if ": error: " in line]
    assert {int(line.split(":")[1]) for line in errors} == {9, 13, 16}
    assert "[return-value]" in errors[0]
    assert any('"acton"' in line for line in errors)
