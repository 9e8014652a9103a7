"""How a CRF tagger is trained and decodes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["BASELINE", "CONTEXT", "CrfPlan"]


class CrfPlan(BaseModel):
    """context: features of the whole article, and a CRF over its sentences, beside those of
    Murata and Abe. decoding: the likeliest labels (`viterbi`), or whole spans tuned on the dev
    part (`spans`). l2: weight of ½‖w‖². min_count: features seen less often are left out.
    steps: of L-BFGS, at most. folds: parts into which the training articles are split so that
    the sentences' CRF says of each what it has not seen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context: bool = False
    decoding: Literal["viterbi", "spans"] = "viterbi"
    l2: float = Field(default=1.0, gt=0)
    sentence_l2: float = Field(default=4.0, gt=0)
    min_count: int = Field(default=2, ge=1)
    steps: int = Field(default=80, ge=1)
    folds: int = Field(default=5, ge=2)

    @property
    def name(self) -> str:
        return f"crf-{'context' if self.context else 'murata'}-{self.decoding}.v1"


#: The CRF of the thesis' Table 4.1, and the one with what the whole article tells.
BASELINE = CrfPlan()
CONTEXT = CrfPlan(context=True, decoding="spans")
