"""The cuts of the routing, and how far feedback may move them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_serializer

from naisei.intent.schemas import Extended, Grade

__all__ = ["Thresholds"]


class Thresholds(BaseModel):
    """An indicator holds if its grade is at most its threshold.

    The defaults are the article's: clear at 1, everything else at 2. 5 makes an indicator hold
    always. ask_person decides no case: it adds whom to ask. extended: the cases beyond the
    article that are switched on, none by default. ask_profile: whether `ask_user_meta_info` may
    be asked where the article would search with an unclear intent (③); off by default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    clarity: Grade = 1
    is_question: Grade = 2
    is_consultation: Grade = 2
    in_internal_docs: Grade = 2
    ask_person: Grade = 2
    extended: frozenset[Extended] = frozenset()
    ask_profile: bool = False

    @field_serializer("extended")
    def _ordered(self, extended: frozenset[Extended]) -> list[Extended]:
        return sorted(extended)  # a set has another order in every process
