"""naisei director bias: judges that are moved by what should not move them, and one that is not."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from commandline import Naisei
from naisei.core import Chat, World, run
from naisei.director.bias import CHANGES, biases
from naisei.director.judge import Judging
from naisei.director.schemas import Scores
from servers.openai_server import OpenAIServer

Points = Callable[[str, str], int]


def line_of(told: str) -> tuple[str, str]:
    """The line that is judged, and what stands before it."""
    before, _, line = told.strip().rpartition("\n")
    return line.removeprefix("| "), before


def fair(line: str, before: str) -> int:
    half = len(line) // 2
    return 2 if line[:half] == line[half:] else 4


def verbose(line: str, before: str) -> int:
    return 5 if len(line) > 40 else 3


def lax(line: str, before: str) -> int:
    return 4


@pytest.mark.parametrize(
    ("points", "biased"), [(fair, ()), (verbose, ("length", "repeated")), (lax, ("repeated",))]
)
def test_what_moves_a_judge(points: Points, biased: tuple[str, ...]) -> None:
    def heard(asked: Chat[Any]) -> Scores:
        one = points(*line_of(asked.messages[-1].content))
        return Scores(frame=one, roleplay=one, connection=one, density=one, naturalness=one)

    found = run(biases(8, Judging()), World({Chat: heard}))
    assert [b.change for b in found] == list(CHANGES) and all(b.count == 8 for b in found)
    assert tuple(b.change for b in found if b.found) == biased


def test_the_command(naisei: Naisei, openai_server: Callable[..., OpenAIServer]) -> None:
    names = ("frame", "roleplay", "connection", "density", "naturalness")
    scores = {"quote": "", **dict.fromkeys(names, 4), "topic": "", "comment": "", "verdict": "PASS"}
    server = openai_server(lambda messages, schema: json.dumps(scores))
    model = f"openai-compatible:test@{server.url}"
    done = naisei("director", "bias", "--judge-model", model, "--lines", 6, "--json")
    assert done.code == 0 and len(server.requests) == 24
    rows = {row["change"]: row for row in json.loads(done.out)}
    assert {change: row["biased"] for change, row in rows.items()} == {
        "order": False, "length": False, "repeated": True
    }  # fmt: skip
    assert rows["repeated"]["lines"] == 6 and rows["repeated"]["interval"] == [None, None]
