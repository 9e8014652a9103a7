"""The six cases: ask back, or search. A pure function of the evaluation.

Source: the intent-aware RAG article, ① to ⑥. Where it leaves a case open: unclear, and neither
is a text given whose indicator holds, is ③, as in its code.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.intent.schemas import Case, Evaluation
from naisei.intent.thresholds import Thresholds

__all__ = ["Route", "route"]


class Route(BaseModel):
    """Where an evaluation leads. question: what to ask; empty where the action is `search`."""

    model_config = ConfigDict(frozen=True)

    case: Case
    action: Literal["ask", "search"]
    question: str = ""


_ARTICLE = Thresholds()


def route(e: Evaluation, t: Thresholds = _ARTICLE) -> Route:
    """The case of an evaluation, exactly as the article describes them."""
    consulting = e.is_consultation <= t.is_consultation
    if e.clarity > t.clarity:
        if e.res_consultation and consulting:
            return Route(case=1, action="ask", question=e.res_consultation)
        if e.ask_missing_info and e.is_question <= t.is_question:
            return Route(case=2, action="ask", question=e.ask_missing_info)
        return Route(case=3, action="search")
    if consulting:
        if e.in_internal_docs <= t.in_internal_docs:
            return Route(case=4, action="search")
        if e.res_consultation:
            return Route(case=5, action="ask", question=e.res_consultation)
    return Route(case=6, action="search")
