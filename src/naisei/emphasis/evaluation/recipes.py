"""The taggers that can be compared, by name: every row of the thesis' tables, and more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from naisei.core import InputError
from naisei.emphasis.schemas import Article, Tagger
from naisei.emphasis.taggers import stack
from naisei.emphasis.taggers.learning import train
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.taggers.plan import BASELINE, CONTEXT, CrfPlan
from naisei.emphasis.taggers.rule import FirstSentence
from naisei.emphasis.taggers.stack import StackPlan
from naisei.lang import say

__all__ = ["LLM", "NAMES", "Recipe", "neural_plan", "recipe"]

P = TypeVar("P", bound=BaseModel)
#: Not trained: a language model is asked (thesis, section 4.6).
LLM = "llm"


class Recipe(Protocol):
    """How a tagger of a row is made from a training part."""

    @property
    def random(self) -> bool:
        """Whether a seed changes what is made; if not, one training is enough."""
        ...

    def make(
        self,
        articles: Sequence[Article],
        dev: Sequence[Article],
        *,
        seed: int,
        folder: Path | None = None,
    ) -> Tagger:
        """folder: where a training that was broken off left what it had."""
        ...


class _Rule:
    random = False

    def make(
        self,
        articles: Sequence[Article],
        dev: Sequence[Article],
        *,
        seed: int,
        folder: Path | None = None,
    ) -> Tagger:
        return FirstSentence()


class _Crf:
    random = False

    def __init__(self, plan: CrfPlan) -> None:
        self.plan = plan

    def make(
        self,
        articles: Sequence[Article],
        dev: Sequence[Article],
        *,
        seed: int,
        folder: Path | None = None,
    ) -> Tagger:
        return train(articles, dev, plan=self.plan)


class _Neural:
    random = True

    def __init__(self, plan: NeuralPlan) -> None:
        self.plan = plan

    def make(
        self,
        articles: Sequence[Article],
        dev: Sequence[Article],
        *,
        seed: int,
        folder: Path | None = None,
    ) -> Tagger:
        # It needs the extra `train`, and says so if it is not there.
        from naisei.emphasis.taggers.neural.learning import train as train_neural

        return train_neural(articles, dev, plan=self.plan, seed=seed, folder=folder)


class _Stack:
    random = True

    def __init__(self, plan: StackPlan) -> None:
        self.plan = plan

    def make(
        self,
        articles: Sequence[Article],
        dev: Sequence[Article],
        *,
        seed: int,
        folder: Path | None = None,
    ) -> Tagger:
        return stack.train(articles, dev, plan=self.plan, seed=seed, folder=folder)


#: What neural taggers say, and what the whole article tells.
_STACKS = {"stack": StackPlan(), "stack-tuned": StackPlan(networks=(stack.HEAD, stack.TUNED))}


_CRFS = {"crf": BASELINE, "crf-context": CONTEXT}
_NEURAL: dict[str, NeuralPlan] = {
    "bilstm": NeuralPlan(body="bilstm"),
    "transformer": NeuralPlan(),
    "transformer-title": NeuralPlan(title=True),
    "transformer-crf": NeuralPlan(crf=True),
    "transformer-title-crf": NeuralPlan(title=True, crf=True),
}
#: As they stand in the tables: the baselines first.
NAMES = ("rule", "crf", *_NEURAL, "crf-context", *_STACKS, LLM)


def recipe(name: str, options: Mapping[str, JsonValue]) -> Recipe:
    """The recipe of a name, with its settings changed as given.

    Raises:
        InputError: no such name, no such setting, or a value that does not fit.
    """
    if name in _CRFS:
        return _Crf(_changed(_CRFS[name], options))
    if name in _NEURAL:
        return _Neural(_changed(_NEURAL[name], options))
    if name in _STACKS:
        return _Stack(_changed(_STACKS[name], options))
    if name != "rule":
        raise InputError(
            say(f"'{name}' というタガーはありません", f"no tagger is called '{name}'"),
            place="--tagger",
            remedy=say("使えるもの: ", "known: ") + ", ".join(NAMES),
        )
    if options:
        raise InputError(
            say("このタガーに設定はありません", "this tagger has no settings"), place="--tagger"
        )
    return _Rule()


def neural_plan(name: str, options: Mapping[str, JsonValue]) -> NeuralPlan:
    """The plan of a tagger that is put on an encoder.

    Raises:
        InputError: another tagger, no such setting, or a value that does not fit.
    """
    if name not in _NEURAL:
        raise InputError(
            say(f"'{name}' はエンコーダーを使いません", f"'{name}' is put on no encoder"),
            place="--tagger",
            remedy=say("使えるもの: ", "known: ") + ", ".join(_NEURAL),
        )
    return _changed(_NEURAL[name], options)


def _changed(plan: P, options: Mapping[str, JsonValue]) -> P:
    try:
        # In lax mode: "2" is a whole number, "false" is no.
        return type(plan).model_validate({**plan.model_dump(), **options})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{first['msg'].removeprefix('Value error, ')}: {first['input']!r}",
            place=f"--tagger … {'.'.join(map(str, first['loc']))}",
            remedy=say("使えるもの: ", "known: ") + ", ".join(type(plan).model_fields),
        ) from error
