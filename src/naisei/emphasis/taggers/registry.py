"""Taggers by name: their names on the command line, training and storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, JsonValue, ValidationError

from naisei.core import InputError
from naisei.emphasis.schemas import Article, Tagger
from naisei.emphasis.taggers import crf
from naisei.emphasis.taggers.editor import bundled_tagger
from naisei.emphasis.taggers.people import Person, people_of
from naisei.emphasis.taggers.plans import (
    ADAPTED,
    BASELINE,
    CONTEXT,
    CrfPlan,
    NeuralPlan,
)
from naisei.lang import say
from naisei.plugins import pairs


class FirstSentence:
    """Marks the first sentence of each paragraph; probabilities are 0 or 1."""

    name = "rule.v1"

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return [np.array(row, np.float64) for row in self.labels(article)]

    def labels(self, article: Article) -> list[list[bool]]:
        seen: set[int] = set()
        out: list[list[bool]] = []
        for sentence in article.sentences:
            first = sentence.block not in seen
            out.append([first and can for can in sentence.counted])
            seen.add(sentence.block)
        return out


def parsed(spec: str) -> tuple[str, dict[str, JsonValue]]:
    """Name and settings; values are unconverted strings.

    >>> parsed("crf:l2=2,steps=50")
    ('crf', {'l2': '2', 'steps': '50'})

    Raises:
        InputError: see `naisei.plugins.pairs`.
    """
    name, _, rest = spec.partition(":")
    return name.strip(), dict(pairs(rest.split(",") if rest else (), f"--tagger {name}"))


P = TypeVar("P", bound=BaseModel)
#: The first sentence of each paragraph; not trained.
RULE = "rule"
#: The tagger bundled with naisei; not trained further.
BUNDLED = "bundled"
#: A language model, not trained for the task (thesis, section 4.6).
LLM = "llm"
#: People's marks (`people:marks=FILE`), one person per seed.
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Trainer:
    """Creates a row's tagger from a training part. plan: `None` for untrained taggers, which come
    from `ready`, or for each seed are the next of `people`."""

    plan: CrfPlan | NeuralPlan | None
    ready: Callable[[], Tagger] = FirstSentence
    people: tuple[Person, ...] = ()

    @property
    def random(self) -> bool:
        """Whether the tagger depends on a seed; if not, one training is enough."""
        return isinstance(self.plan, NeuralPlan)

    @property
    def documents(self) -> frozenset[str]:
        """Digests of the documents that the tagger was trained on beforehand."""
        starts = isinstance(self.plan, CrfPlan) and self.plan.start == "bundled"
        ready = self.ready is bundled_tagger
        return crf.default_documents() if starts or ready else frozenset()

    def train(
        self,
        articles: Sequence[Article],
        dev: Sequence[Article],
        *,
        seed: int,
        folder: Path | None = None,
        device: str = "auto",
        report: Callable[[Mapping[str, float]], None] = lambda logs: None,
    ) -> Tagger:
        """Train a tagger. folder: for checkpoints, from which an interrupted training resumes.
        report: called with the log entries of a neural tagger's trainer."""
        plan = self.plan
        if isinstance(plan, CrfPlan):
            base = crf.default_tagger() if plan.start == "bundled" else None
            return crf.train(articles, dev, plan=plan, base=base)
        if isinstance(plan, NeuralPlan):
            # It needs the extra `train`, and says so if it is not there.
            from naisei.emphasis.taggers.neural.tagger import train

            return train(
                articles, dev, plan=plan, seed=seed, folder=folder, device=device, report=report
            )
        return self.people[seed - 1] if self.people else self.ready()


_READY: dict[str, Callable[[], Tagger]] = {RULE: FirstSentence, BUNDLED: bundled_tagger}
#: In the order of the tables: baselines first.
_PLANS: dict[str, CrfPlan | NeuralPlan] = {
    "crf": BASELINE,
    "bilstm": NeuralPlan(body="bilstm"),
    "transformer": NeuralPlan(),
    "transformer-title": NeuralPlan(title=True),
    "transformer-crf": NeuralPlan(crf=True),
    "transformer-title-crf": NeuralPlan(title=True, crf=True),
    "crf-context": CONTEXT,
    "adapted": ADAPTED,
}
NAMES = (*_READY, *_PLANS, LLM, PEOPLE)


def trainer(name: str, options: Mapping[str, JsonValue]) -> Trainer:
    """The trainer of a name, with `options` as changed settings.

    Raises:
        InputError: no such name, no such setting, or an invalid value.
    """
    if name in _PLANS:
        return Trainer(_changed(_PLANS[name], options))
    if name == PEOPLE:
        return Trainer(None, people=_people(options))
    if name not in _READY:
        raise InputError(
            say(f"'{name}' というタガーはありません", f"no tagger is called '{name}'"),
            place="--tagger",
            remedy=say("使えるもの: ", "known: ") + ", ".join(NAMES),
        )
    if options:
        raise InputError(
            say("このタガーに設定はありません", "this tagger has no settings"), place="--tagger"
        )
    return Trainer(None, _READY[name])


def _people(options: Mapping[str, JsonValue]) -> tuple[Person, ...]:
    if set(options) != {"marks"}:
        raise InputError(
            say("印のファイルが必要です", "a file of markings is needed"),
            place=f"--tagger {PEOPLE}",
            remedy=f"{PEOPLE}:marks=FILE",
        )
    return people_of(Path(str(options["marks"])))


def _changed(plan: P, options: Mapping[str, JsonValue]) -> P:
    try:
        # Lax mode: "2" is an integer, "false" is False.
        return type(plan).model_validate({**plan.model_dump(), **options})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{first['msg'].removeprefix('Value error, ')}: {first['input']!r}",
            place=f"--tagger … {'.'.join(map(str, first['loc']))}",
            remedy=say("使えるもの: ", "known: ") + ", ".join(type(plan).model_fields),
        ) from error


def load_tagger(name: str | Path) -> Tagger:
    """Load `rule`, `bundled`, or a path: a CRF tagger's file, or a training's output folder.

    Raises:
        InputError: no such file or folder, or not a tagger.
    """
    path = Path(name)
    if str(name) in _READY:
        return _READY[str(name)]()
    if (path / "tagger.npz").is_file() and not (path / "tagger.json").is_file():
        return crf.load(path / "tagger.npz")
    if path.is_dir():
        # It needs the extra `train`, and says so if it is not there.
        from naisei.emphasis.taggers.neural.tagger import load

        return load(path)
    if not path.is_file():
        raise InputError(
            say(f"タガーがありません: {name}", f"there is no tagger {name}"),
            place="--tagger",
            remedy=say(
                f"{'、'.join(_READY)}、または学習で書かれたファイルかフォルダーを指定してください",
                f"give {', '.join(_READY)}, or the file or folder that training wrote",
            ),
        )
    return crf.load(path)


def save_tagger(tagger: Tagger, path: Path) -> None:
    """Save a tagger for `load_tagger`: a CRF as a file, others as a folder."""
    if isinstance(tagger, crf.CrfTagger):
        crf.save(tagger, path)
    else:
        from naisei.emphasis.taggers.neural.tagger import NeuralTagger, save

        assert isinstance(tagger, NeuralTagger)
        save(tagger, path)
