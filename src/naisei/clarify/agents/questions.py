"""Questions of the model-free agents, from a knowledge table or from the actions' texts.

Without a table there are two open questions, yes/no questions about words that several actions
share, and questions that name the likeliest things: 「AのことですかBのことですか、それともCの
ことですか」. The last kind depends on the belief, so it is generated at every step and parsed back
from its text.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from naisei.clarify.agents.knowledge import Item
from naisei.clarify.schemas import ActionSet, Language, Turn
from naisei.japanese.answers import PLACES, Answer, Stance, repaired, understand
from naisei.japanese.morph import is_japanese, lemmas
from naisei.similarity import order

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
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
    """A question of the bank, or one that names things (`naisei.clarify.agents.questions`).

    truth: one word per action, in the order of the action set: `yes`, `maybe`, `no` for a
    polar question; `first`, `second`, `maybe`, `none` for an either one; empty for an open
    one; the index of the thing, or `none`, for a named one. cues: words in an answer that select a
    side of an either question. topic: questions on one topic are similar; an episode uses only one.
    """

    id: str
    kind: Kind
    text: str
    topic: str
    truth: tuple[str, ...] = ()
    cues: tuple[str, str] = ("", "")


@lru_cache(maxsize=16)
def bank(actions: ActionSet, table: str, language: Language) -> tuple[Question, ...]:
    """The questions for a set of actions: hand-written ones from a knowledge table, or, without a
    table (`table=""`), open ones that suit any set."""
    return tuple(_question(row, actions, language) for row in _rows(table))


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


_ABOUT = {"ja": "「{word}」に関わることでしょうか？", "en": 'Does it have to do with "{word}"?'}


def shared_words(actions: ActionSet, language: Language) -> tuple[Question, ...]:
    """A yes/no question for each of 20 words that at least two actions share, and at most half.

    Words of a single action are excluded, since they would reveal it.
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
        for word in chosen[:20]
    )


#: Most things in one question.
MOST = 3
#: If a side is wanted: P(it is chosen), P(another is), P("none of them"), P(no usable answer).
WANTED, OTHER, NONE, SILENT = 0.88, 0.02, 0.03, 0.05
#: If no side is wanted: P(a given side is chosen), P("none of them").
STRAY, DENIED = 0.03, 0.8
_NAMING: dict[Language, tuple[str, str, str]] = {
    "ja": ("{}のことですか", "、", "、それとも{}のことですか？"),
    "en": ("Is it about the {}", ", the ", " or the {}?"),
}


def _name(item: Item, language: Language) -> str:
    wanted = language == "ja"
    return next((n for n in item.names if is_japanese(n) == wanted), "")


def naming(items: Sequence[Item], belief: Array, language: Language) -> tuple[Question, ...]:
    """Questions for the likeliest two, three and next things by `belief`, shape (actions,)."""
    mass: dict[str, float] = {}
    for item, p in zip(items, belief, strict=True):
        if name := _name(item, language):
            mass[name] = mass.get(name, 0.0) + float(p)
    likely = sorted(mass, key=lambda n: -mass[n])[: MOST + 2]
    groups = [likely[:2], likely[:MOST], likely[1 : MOST + 1], likely[2 : MOST + 2]]
    return tuple(_naming(g, items, language) for g in groups if len(g) > 1)


def _naming(names: Sequence[str], items: Sequence[Item], language: Language) -> Question:
    head, comma, tail = _NAMING[language]
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
    """Parse a naming question; `None` if the text is another question."""
    known = sorted({n for item in items if (n := _name(item, language))}, key=len, reverse=True)
    found = re.findall("|".join(map(re.escape, known)), text) if known else []
    if not 2 <= len(found) <= MOST:
        return None
    made = _naming(found, items, language)
    return made if made.text == text else None


def named_table(question: Question) -> Array:
    """P(reply | action), shape (MOST + 2, actions): a row per side, then "none of them" and no
    usable answer."""
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
    """The rows of `named_table` that match an answer; empty if none does."""
    if answer.stance in (Stance.REFUSED, Stance.UNSURE):
        return (MOST + 1,)
    names: dict[int, set[str]] = {}
    for item, truth in zip(items, question.truth, strict=True):
        if truth != "none":
            names.setdefault(int(truth), set()).update(n.lower() for n in item.names)
    # Ignore words before a correction; the choice precedes the reason.
    for sentence in re.split(r"(?<=[。.!！])", repaired(said)):
        by_name = [at for at, own in names.items() if any(n in sentence.lower() for n in own)]
        by_place = [at for at, p in enumerate(PLACES[: len(names)]) if p.search(sentence)]
        for hits in (by_place, by_name):
            if len(hits) == 1:
                return (hits[0],)
    if answer.stance in (Stance.NEITHER, Stance.NO):
        return (MOST,)
    return tuple(sorted(names)) if answer.stance is Stance.BOTH else ()


#: Maximum number of distinct replies considered per question.
REPLIES = 8
#: Prior probability that an open question gets no usable answer, and its weight in questions: a
#: user who ignores one will likely ignore the next.
SILENCE, SILENCE_WEIGHT = 0.2, 1.0


@dataclass(frozen=True, slots=True)
class Bank:
    """The questions in a language with their topics, and P(reply | action) for planning.

    The last reply of every table is silence; for open questions it is set from the estimated
    talkativeness of the user.
    """

    questions: tuple[Question, ...]
    topics: Indices
    tables: Array

    @staticmethod
    def of(actions: ActionSet, table: str, channel: Array, language: Language) -> Bank:
        """channel: P(reply | action) of open questions."""
        questions = bank(actions, table, language)
        if not table:
            questions += shared_words(actions, language)
        topics = sorted({q.topic for q in questions})
        replies = max(len(channel), 4) + 1
        tables = np.zeros((len(questions), replies, channel.shape[1]))
        for i, question in enumerate(questions):
            rows = channel if question.kind == "open" else reply_table(question)
            tables[i, : len(rows)] = rows
        return Bank(questions, np.array([topics.index(q.topic) for q in questions]), tables)

    def only(self, kind: Kind) -> Bank:
        """Only the questions of a kind, or all if there are none."""
        at = [n for n, q in enumerate(self.questions) if q.kind == kind]
        if not at:
            return self
        return Bank(tuple(self.questions[n] for n in at), self.topics[at], self.tables[at])

    def having(self, named: Sequence[Question]) -> Bank:
        """Add questions that name things, each with its own topic."""
        count, known = len(self.questions), self.tables.shape[1]
        size = max(known, MOST + 2)
        tables = np.zeros((count + len(named), size, self.tables.shape[2]))
        tables[:count, : known - 1] = self.tables[:, :-1]
        tables[:count, -1] = self.tables[:, -1]
        for at, question in enumerate(named, start=count):
            rows = named_table(question)
            tables[at, : MOST + 1], tables[at, -1] = rows[:-1], rows[-1]
        own = self.topics.max(initial=0) + 1 + np.arange(len(named), dtype=np.intp)
        return Bank((*self.questions, *named), np.concatenate([self.topics, own]), tables)

    def expected(self, at: Indices, support: Indices, turns: Sequence[Turn]) -> Array:
        """The tables for the questions `at` and the actions `support`, adjusted to this user.

        The rarest replies of each question are merged into one, so that it has at most `REPLIES`.
        """
        silence = self._silence(turns)
        is_open = np.array([q.kind == "open" for q in self.questions])
        tables = self.tables.copy()
        tables[is_open] *= 1 - silence
        tables[is_open, -1] = silence
        held = tables[at][:, :, support]
        if held.shape[1] <= REPLIES:
            return held
        rows = np.take_along_axis(held, order(held.sum(axis=2))[:, :, None], axis=1)
        rest = rows[:, REPLIES - 1 :].sum(axis=1, keepdims=True)
        merged: Array = np.concatenate([rows[:, : REPLIES - 1], rest], axis=1)
        return merged

    def _silence(self, turns: Sequence[Turn]) -> float:
        """P(this user ignores an open question | the answers so far)."""
        kinds = {q.text: q.kind for q in self.questions}
        heard = [understand(t.answer).stance for t in turns if kinds.get(t.question) == "open"]
        silent = sum(stance in (Stance.REFUSED, Stance.UNSURE) for stance in heard)
        return (SILENCE * SILENCE_WEIGHT + silent) / (SILENCE_WEIGHT + len(heard))
