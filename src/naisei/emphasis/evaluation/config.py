"""What a run of the evaluation is: everything that changes its results, frozen."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from naisei.lang import Language

__all__ = ["EvalConfig"]


class EvalConfig(BaseModel):
    """One tagger on one corpus: a row of the thesis' Tables 4.1 to 4.3.

    corpus: a file of JSON lines. tagger: a name of `naisei.emphasis.evaluation.recipes`; options:
    its settings. parts: of the cross-validation by document; seed: of the order in which the
    documents are dealt to them; dev: sentences set aside from the end of each training part.
    seeds: trainings with different random numbers, where the tagger has any. first: only the
    first so many documents of the file are scored (Table 4.2); with `None`, all.
    empty_title: the same trained tagger is also given the documents without their titles
    (Table 4.3). language: of the prompt of the language model. models, sampling: of the role
    `editor`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str = "eval"
    corpus: str
    tagger: str
    options: dict[str, JsonValue] = {}
    parts: int = Field(default=5, ge=2)
    dev: int = Field(default=500, ge=0)
    seed: int = 0
    seeds: int = Field(default=3, ge=1)
    first: int | None = Field(default=None, ge=1)
    empty_title: bool = False
    language: Language = "ja"
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
