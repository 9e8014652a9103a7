"""The configuration of an evaluation: everything that changes its results, frozen."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from naisei.lang import Language
from naisei.system.config import Config, flag

#: The default taggers.
_TAGGERS = ("rule", "crf", "crf-context")
_ALL = (
    "rule, bundled, crf, bilstm, transformer, transformer-title, transformer-crf, "
    "transformer-title-crf, crf-context, adapted, llm, people:marks=FILE"
)


class EvalConfig(Config):
    """One tagger on one corpus: a row of the thesis' Tables 4.1 to 4.3.

    options: settings of the tagger, fields of its plan in `naisei.emphasis.taggers.plans`.
    language: of the prompts of a language model.
    """

    corpus: str = flag(
        ...,
        "強調つき文書のコーパス (JSON Lines)",
        "A corpus of emphasised documents (JSON lines).",
        metavar="CORPUS",
        argument=True,
    )
    split: Literal["documents", "within"] = flag(
        "documents",
        "分け方: documents (文書)、within (書き手ごとに、その人の文書だけで学習)",
        "How documents are split: documents; within (each writer apart, learnt from the same "
        "writer's).",
    )
    parts: int = flag(
        5,
        "交差検証の分割数 (文書単位)",
        "Parts of the cross-validation, by document.",
        name="--folds",
        ge=2,
    )
    seeds: int = flag(
        3,
        "乱数を使うタガーの学習の回数。値はその平均",
        "Trainings of a tagger that has random numbers; figures are their mean.",
        needs="random",
        ge=1,
        le=1000,
    )
    dev: int = flag(
        500,
        "学習部分の末尾から開発用に取る文の数",
        "Sentences set aside from the end of each training part.",
        ge=0,
    )
    given: int | None = flag(
        None,
        "学習に使う文書を先頭の N 件に限る (少数例での適応を測る)。llm には例として見せる",
        "Learn from the first N documents of each training part only: few-shot. llm is shown "
        "these as examples.",
        ge=1,
    )
    first: int | None = flag(
        None,
        "コーパスの最初の N 文書だけを採点する (学習には全文書を使う)",
        "Score only the first N documents of the corpus; all are trained on (Table 4.2).",
        ge=1,
    )
    language: Language = "ja"
    task: Literal["eval"] = "eval"
    tagger: str = flag(
        "rule",
        f"タガー (複数可): {_ALL}",
        f"A tagger, repeatable: {_ALL}.",
        metavar="NAME[:KEY=VALUE,…]",
        axis=_TAGGERS,
    )
    options: dict[str, JsonValue] = Field(default={})
    empty_title: bool = flag(
        False,
        "同じ学習済みのタガーに、タイトルを空にした文書も与える",
        "Also give the same trained tagger the documents without titles (Table 4.3).",
    )

    @property
    def random(self) -> bool:
        """Whether training depends on a seed."""
        from naisei.emphasis.taggers.registry import LLM, trainer

        return self.tagger != LLM and trainer(self.tagger, self.options).random
