"""Questions that name the likeliest things: 「AのことですかBのことですか、それともCのことですか」.

Only the thing is named, not the deed. The things depend on the belief, so these questions are made
at every step and parsed back from their text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from naisei.clarify.agents.knowledge import Item
from naisei.clarify.agents.questions import Question
from naisei.clarify.schemas import Language
from naisei.japanese.answers import PLACES, Answer, Stance, repaired
from naisei.japanese.morph import is_japanese

Array = npt.NDArray[np.float64]

#: Most things in one question.
MOST = 3
#: P(the side is taken | it is wanted), of another one, of none of them, of no usable answer.
WANTED, OTHER, NONE, SILENT = 0.88, 0.02, 0.03, 0.05
#: The same if none of the things is wanted.
STRAY, DENIED = 0.03, 0.8
_TEXT: dict[Language, tuple[str, str, str]] = {
    "ja": ("{}のことですか", "、", "、それとも{}のことですか？"),
    "en": ("Is it about the {}", ", the ", " or the {}?"),
}


def _name(item: Item, language: Language) -> str:
    wanted = language == "ja"
    return next((n for n in item.names if is_japanese(n) == wanted), "")


def naming(items: Sequence[Item], belief: Array, language: Language) -> tuple[Question, ...]:
    """Questions for the two, three and the next likeliest things by `belief`, shape (actions,)."""
    mass: dict[str, float] = {}
    for item, p in zip(items, belief, strict=True):
        if name := _name(item, language):
            mass[name] = mass.get(name, 0.0) + float(p)
    likely = sorted(mass, key=lambda n: -mass[n])[: MOST + 2]
    groups = [likely[:2], likely[:MOST], likely[1 : MOST + 1], likely[2 : MOST + 2]]
    return tuple(_question(g, items, language) for g in groups if len(g) > 1)


def _question(names: Sequence[str], items: Sequence[Item], language: Language) -> Question:
    head, comma, tail = _TEXT[language]
    if language == "ja":
        text = comma.join(head.format(n) for n in names[:-1]) + tail.format(names[-1])
    else:
        text = head.format(comma.join(names[:-1])) + tail.format(names[-1])
    sides = {name: str(at) for at, name in enumerate(names)}
    return Question(
        id=f"named:{'/'.join(names)}",
        kind="named",
        text=text,
        topic=f"named:{'/'.join(names)}",
        truth=tuple(sides.get(_name(item, language), "none") for item in items),
    )


def read_back(text: str, items: Sequence[Item], language: Language) -> Question | None:
    """The question with this text; `None` if it is not such a question."""
    known = sorted({n for item in items if (n := _name(item, language))}, key=len, reverse=True)
    found = re.findall("|".join(map(re.escape, known)), text) if known else []
    if not 2 <= len(found) <= MOST:
        return None
    made = _question(found, items, language)
    return made if made.text == text else None


def named_table(question: Question) -> Array:
    """P(reply | action), shape (MOST + 2, actions): one row per side, none of them, no usable
    answer."""
    table = np.zeros((MOST + 2, len(question.truth)))
    for i, truth in enumerate(question.truth):
        table[:MOST, i] = STRAY if truth == "none" else OTHER
        table[MOST, i] = DENIED if truth == "none" else NONE
        table[MOST + 1, i] = 1 - DENIED - MOST * STRAY if truth == "none" else SILENT
        if truth != "none":
            table[int(truth), i] = WANTED
    return table


def side_named(
    question: Question, answer: Answer, said: str, items: Sequence[Item]
) -> tuple[int, ...]:
    """The rows of `named_table` that an answer stands for; empty if it says nothing of them."""
    if answer.stance in (Stance.REFUSED, Stance.UNSURE):
        return (MOST + 1,)
    names: dict[int, set[str]] = {}
    for item, truth in zip(items, question.truth, strict=True):
        if truth != "none":
            names.setdefault(int(truth), set()).update(n.lower() for n in item.names)
    # What comes before a correction was a slip; the choice stands before the reason.
    for sentence in re.split(r"(?<=[。.!！])", repaired(said)):
        by_name = [at for at, own in names.items() if any(n in sentence.lower() for n in own)]
        by_place = [at for at, p in enumerate(PLACES[: len(names)]) if p.search(sentence)]
        for hits in (by_place, by_name):
            if len(hits) == 1:
                return (hits[0],)
    if answer.stance in (Stance.NEITHER, Stance.NO):
        return (MOST,)
    return tuple(sorted(names)) if answer.stance is Stance.BOTH else ()
