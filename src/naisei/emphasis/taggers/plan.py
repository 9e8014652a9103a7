"""How a CRF tagger is trained and decodes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["BASELINE", "CONTEXT", "CrfPlan"]


class CrfPlan(BaseModel):
    """context: features of the whole article, and a CRF over its sentences, beside those of
    Murata and Abe. decoding: the likeliest labels (`viterbi`), or whole spans tuned on the dev
    part (`spans`). plain: share of the sentences without emphasis that the CRF over the words is
    trained on, at least, drawn by their
    number; calibration puts right what this shifts. tuning: on what
    probabilities are calibrated and spans tuned: on the dev part, or on what is said of each
    training article by a CRF that did not see it (`folds`); then the dev part is trained on, too.
    l2: weight of ½‖w‖². min_count: features seen less often are left out.
    steps: of L-BFGS, at most. folds: parts into which the training articles are split so that
    the sentences' CRF says of each what it has not seen; parts: the same for the words' CRF.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context: bool = False
    decoding: Literal["viterbi", "spans"] = "viterbi"
    plain: float = Field(default=1.0, gt=0, le=1)
    tuning: Literal["dev", "folds"] = "dev"
    l2: float = Field(default=1.0, gt=0)
    sentence_l2: float = Field(default=4.0, gt=0)
    min_count: int = Field(default=2, ge=1)
    steps: int = Field(default=80, ge=1)
    folds: int = Field(default=5, ge=2)
    parts: int = Field(default=3, ge=2)

    @property
    def name(self) -> str:
        return f"crf-{'context' if self.context else 'murata'}-{self.decoding}.v1"


#: The CRF of the thesis' Table 4.1, and the one with what the whole article tells.
BASELINE = CrfPlan()
CONTEXT = CrfPlan(context=True, decoding="spans", plain=0.2, tuning="folds")
