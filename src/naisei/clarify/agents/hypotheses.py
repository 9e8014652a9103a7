"""The reply of a language model that gives hypotheses and a question, for the `hybrid` agent."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, create_model

__all__ = ["COUNT", "Hypotheses", "hypotheses_schema"]

Array = npt.NDArray[np.float64]
Expected = Literal["yes", "no", "unknown"]

#: How many hypotheses the model gives.
COUNT = 5
#: Chances in steps of five per cent: an enumeration, since endpoints do not enforce bounds.
_PERCENT = tuple(range(0, 101, 5))


class Hypotheses(BaseModel):
    """A thought, `COUNT` actions with their chances, and perhaps a yes/no question.

    Flat fields, all required: action_1, percent_1, answer_1, … where answer_i is what the
    user is expected to say to the question if action_i is the wanted one.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str

    def belief(self, ids: tuple[int, ...], floor: float) -> Array:
        """P(action), shape (ids,), sums to 1; `floor` of it is spread over all of `ids`."""
        mass = np.zeros(len(ids))
        given: list[int] = self._column("action")
        for action, percent in zip(given, self._column("percent"), strict=True):
            mass[ids.index(action)] += percent
        if mass.sum() <= 0:
            # No chances were given: the order is all there is.
            mass[ids.index(given[0])] = 1.0
        out: Array = (1 - floor) * mass / mass.sum() + floor / len(ids)
        return out

    def expected(self, ids: tuple[int, ...]) -> tuple[Expected, ...]:
        """The expected answer for each of `ids`; `unknown` where none was given."""
        found: dict[int, Expected] = {}
        for action, answer in zip(self._column("action"), self._column("answer"), strict=True):
            found.setdefault(action, answer)
        return tuple(found.get(a, "unknown") for a in ids)

    def _column(self, name: str) -> list[Any]:
        return [getattr(self, f"{name}_{i}") for i in range(1, COUNT + 1)]


@lru_cache(maxsize=1024)
def hypotheses_schema(allowed: tuple[int, ...], may_ask: bool) -> type[Hypotheses]:
    """The schema for this step: only actions still allowed; question and answers if asking is."""
    fields: dict[str, Any] = {}
    for i in range(1, COUNT + 1):
        fields[f"action_{i}"] = (Literal[allowed], Field(description=f"hypothesis {i}: action id"))
        fields[f"percent_{i}"] = (Literal[_PERCENT], Field(description="its chance in per cent"))
    if may_ask:
        fields["question"] = (str, Field(description="one short yes/no question"))
        for i in range(1, COUNT + 1):
            fields[f"answer_{i}"] = (
                Expected,
                Field(description=f"the user's answer if hypothesis {i} is right"),
            )
    return create_model("Hypotheses", __base__=Hypotheses, **fields)
