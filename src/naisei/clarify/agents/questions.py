"""Questions that an agent without a language model can ask, and how answers bear on actions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from naisei.clarify.schemas import ActionSet, Language

__all__ = ["KINDS", "Question", "about", "bank", "reply_table"]

Array = npt.NDArray[np.float64]
Kind = Literal["polar", "either", "open"]
KINDS: tuple[Kind, ...] = ("polar", "either", "open")

#: P(reply | truth) of a polar question; replies: yes, no, nothing usable.
POLAR = {"yes": (0.82, 0.08, 0.10), "maybe": (0.42, 0.38, 0.20), "no": (0.05, 0.72, 0.23)}
#: P(reply | side) of an either question; replies: first, second, neither, nothing usable.
EITHER = {
    "first": (0.78, 0.06, 0.06, 0.10),
    "second": (0.06, 0.78, 0.06, 0.10),
    "maybe": (0.34, 0.34, 0.14, 0.18),
    "none": (0.14, 0.14, 0.47, 0.25),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the bank. All three kinds leave the action and its object unnamed.

    truth: one word per action, in the order of the action set: `yes`, `maybe`, `no` for a
    polar question; `first`, `second`, `maybe`, `none` for an either one; empty for an open
    one. cues: words by which an answer to an either question picks its side. topic:
    questions of one topic ask after much the same thing; only one is asked in an episode.
    """

    id: str
    kind: Kind
    text: str
    topic: str
    truth: tuple[str, ...] = ()
    cues: tuple[str, str] = ("", "")


@lru_cache(maxsize=16)
def bank(actions: ActionSet, table: str, language: Language) -> tuple[Question, ...]:
    """The questions for a set of actions: the hand-written ones of a knowledge table, or, where
    there is none (`table=""`), open ones that suit any set."""
    return tuple(_question(row, actions, language) for row in _rows(table))


def about(table: str) -> dict[str, str]:
    """Question id → what someone would say for whom the answer is yes, where that is given."""
    return {row["id"]: row["about"] for row in _rows(table) if "about" in row}


@lru_cache(maxsize=4)
def _rows(table: str) -> list[dict[str, Any]]:
    source = files("naisei.clarify.agents.knowledge") / f"{table or 'any'}.questions.toml"
    rows: list[dict[str, Any]] = tomllib.loads(source.read_text(encoding="utf-8"))["question"]
    return rows


def _question(row: dict[str, Any], actions: ActionSet, language: Language) -> Question:
    names = {"polar": ("yes", "maybe"), "either": ("first", "second", "maybe"), "open": ()}
    rest = {"polar": "no", "either": "none"}.get(row["kind"], "")
    side = {a: name for name in names[row["kind"]] for a in row.get(name, ())}
    cues = row.get("cues", ("", ""))
    return Question(
        id=row["id"],
        kind=row["kind"],
        text=row[language],
        topic=row.get("topic", row["id"]),
        truth=tuple(side.get(a, rest) for a in actions.ids) if rest else (),
        cues=(cues[0], cues[1]),
    )


def reply_table(question: Question) -> Array:
    """P(reply | action), shape (replies, actions), for a polar or an either question."""
    rows = POLAR if question.kind == "polar" else EITHER
    return np.array([rows[truth] for truth in question.truth]).T
