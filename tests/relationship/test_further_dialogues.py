"""The estimate from speech on dialogues that its authors have never seen: the bars of the issue."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from naisei.relationship.effect import spearman
from naisei.relationship.speech import estimate
from naisei.relationship.vector import DIMENSIONS

FILE = Path(__file__).with_name("further_dialogues.txt")
HEAD = re.compile(r"## (\S+) .* a=(\S+) b=(\S+) (asym|sym)")


class Known(NamedTuple):
    """labels: of the first to speak toward the other, and back."""

    id: str
    lines: list[tuple[str, str]]
    labels: tuple[list[int], list[int]]
    asymmetric: bool


def known() -> list[Known]:
    out: list[Known] = []
    for row in FILE.read_text("utf-8").splitlines():
        if (head := HEAD.fullmatch(row)) is not None:
            a, b = ([int(n) for n in head[at].split(",")] for at in (2, 3))
            out.append(Known(head[1], [], (a, b), head[4] == "asym"))
        elif row and not row.startswith("#"):
            name, text = row.split(": ", 1)
            out[-1].lines.append((name, text))
    return out


@pytest.fixture(scope="module")
def read() -> list[tuple[Known, np.ndarray, np.ndarray]]:
    """Each direction: the dialogue, the labels and the estimates, in the order of DIMENSIONS."""
    out = []
    for one in known():
        names = list(dict.fromkeys(name for name, _ in one.lines))
        for labels, found in zip(
            one.labels, estimate(one.lines, (names[0], names[1])), strict=True
        ):
            estimates = np.array([found[name].score for name in DIMENSIONS])
            out.append((one, np.array(labels), estimates))
    return out


def test_they_are_many_and_of_many_kinds() -> None:
    found = known()
    assert len(found) == 32 and sum(one.asymmetric for one in found) == 18
    assert all(len(one.lines) >= 5 and len({n for n, _ in one.lines}) == 2 for one in found)


def test_who_is_above_is_heard(read: list[tuple[Known, np.ndarray, np.ndarray]]) -> None:
    clear = [(labels[0], found[0]) for one, labels, found in read if one.asymmetric]
    right = [np.sign(label) == np.sign(value) for label, value in clear]
    told = [right for right, (_, value) in zip(right, clear, strict=True) if abs(value) >= 0.5]
    assert len(right) == 36 and np.mean(right) >= 0.85
    assert len(told) >= 0.8 * len(right) and np.mean(told) >= 0.9


@pytest.mark.parametrize("dimension", [1, 2])
def test_nearness_and_task_are_ranked(
    read: list[tuple[Known, np.ndarray, np.ndarray]], dimension: int
) -> None:
    labels = [float(label[dimension]) for _, label, _ in read]
    found = [float(value[dimension]) for _, _, value in read]
    assert spearman(labels, found) >= 0.6
