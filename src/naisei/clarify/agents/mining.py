"""Questions for actions about which no table exists: what is asked is fixed, which actions a
"yes" speaks for is judged from their texts' embeddings, and words that several share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from naisei.clarify.agents.questions import Question
from naisei.clarify.schemas import ActionSet, Language
from naisei.japanese.morph import lemmas
from naisei.models.base import Embedder

__all__ = ["judge", "shared_words"]

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
    texts = embedder.embed([a.text for a in actions], "passage")
    near = (texts @ embedder.embed([about[q.id] for q in asked], "query").T).astype(float)
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

    A word of a single action is left out: asking for it would be asking for the action.
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
