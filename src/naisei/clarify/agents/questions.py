"""Questions of the model-free agents: a table's, or judged from the actions' texts.

Without a table the questions are fixed; the actions that a "yes" supports follow from their texts'
embeddings and from shared words.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from naisei.clarify.schemas import ActionSet, Language
from naisei.japanese.morph import lemmas
from naisei.models.base import Embedder
from naisei.similarity import cosines, unit

Array = npt.NDArray[np.float64]
Kind = Literal["polar", "either", "open", "named"]

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
    """A question of the bank, or one that names things (`naisei.clarify.agents.naming`).

    truth: one word per action, in the order of the action set: `yes`, `maybe`, `no` for a
    polar question; `first`, `second`, `maybe`, `none` for an either one; empty for an open
    one; the place of the thing, or `none`, for a named one. cues: words by which an answer to an
    either question picks its side. topic: questions of one topic are similar; an episode uses only
    one.
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
    """Question id → a sentence of someone whose answer is yes, if given."""
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


#: Standardised nearness from which an action counts as fitting, or as perhaps fitting.
FITS, MAY_FIT = 1.0, 0.3

_ABOUT = {"ja": "「{word}」に関わることでしょうか？", "en": 'Does it have to do with "{word}"?'}


def judge(
    questions: tuple[Question, ...],
    about: Mapping[str, str],
    actions: ActionSet,
    embedder: Embedder,
) -> tuple[Question, ...]:
    """The questions with their truth tables filled in where `about` (id → text) has them."""
    asked = [q for q in questions if q.id in about]
    if not asked:
        return questions
    texts = unit(embedder.embed([a.text for a in actions], "passage"))
    near = cosines(texts, embedder.embed([about[q.id] for q in asked], "query")).T
    # First over the questions: some actions are near to everything; then over the actions.
    near -= near.mean(axis=1, keepdims=True)
    near = (near - near.mean(axis=0)) / np.maximum(near.std(axis=0), 1e-9)
    truths = {
        q.id: tuple("yes" if z >= FITS else "maybe" if z >= MAY_FIT else "no" for z in near[:, i])
        for i, q in enumerate(asked)
    }
    return tuple(replace(q, truth=truths[q.id]) if q.id in truths else q for q in questions)


def shared_words(actions: ActionSet, language: Language, *, most: int = 20) -> tuple[Question, ...]:
    """A yes/no question for each word that at least two actions share, and at most half.

    A word of a single action is left out: it would give the action away.
    """
    words = [set(lemmas(a.text)) for a in actions]
    counts = Counter(word for held in words for word in held if len(word) > 1)
    chosen = [w for w, n in sorted(counts.items()) if 2 <= n <= len(words) / 2]
    chosen.sort(key=lambda w: abs(counts[w] - len(words) / 3))
    return tuple(
        Question(
            id=f"word:{word}",
            kind="polar",
            text=_ABOUT[language].format(word=word),
            topic=f"word:{word}",
            truth=tuple("yes" if word in held else "no" for held in words),
        )
        for word in chosen[:most]
    )
