"""Which worry a message tells of: by words, and by how near it is in meaning to examples.

A ridge regression from the vectors of the examples (worries.toml) says how much a message is like
a worry and like which. Its bound is the value that 98 % of the ordinary questions among the
examples stay below when each is left out in turn (exact for ridge regression, Hastie, Tibshirani &
Friedman 2009, 7.10): so every embedder brings its own. Words (urgent.toml) move the bound.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal, NamedTuple, cast
from zlib import crc32

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Effect, Handler, Where
from naisei.intent.schemas import Urgent
from naisei.japanese.morph import is_japanese, normalise
from naisei.models.embedders import open_embedder
from naisei.retrieval.index import Index

Vectors = npt.NDArray[np.float32]


class Kind(NamedTuple):
    """said: how it is told; certain: whatever else it says. sought: what the documents call it.
    passage: what a passage that serves holds. call: the public numbers of Japan, where a life may
    depend on them, by language."""

    name: Urgent
    said: re.Pattern[str]
    certain: re.Pattern[str] | None
    sought: str
    passage: re.Pattern[str]
    call: Mapping[str, str]


class Words(NamedTuple):
    """phone: a number to call. step: what to do at once. life: where a life is at stake.
    asked: no worry but a question of money, of rules, of what would be."""

    phone: re.Pattern[str]
    step: re.Pattern[str]
    life: re.Pattern[str]
    asked: re.Pattern[str]
    kinds: Mapping[Urgent, Kind]


@cache
def words() -> Words:
    """Those of urgent.toml."""
    data = tomllib.loads((files("naisei.intent") / "urgent.toml").read_text(encoding="utf-8"))
    kinds = {
        kind["name"]: Kind(
            name=kind["name"],
            said=re.compile(kind["said"], re.I),
            certain=re.compile(kind["certain"], re.I) if "certain" in kind else None,
            sought=kind["sought"],
            passage=re.compile(kind["passage"]),
            call=data["call"].get(kind.get("call"), {}),
        )
        for kind in data["kind"]
    }
    phone, step, life, asked = (
        re.compile(data[name]) for name in ("phone", "step", "life", "asked")
    )
    return Words(phone, step, life, asked, kinds)


def certain(text: str) -> Kind | None:
    """The first kind that the words of a message tell of, whatever it is near to in meaning."""
    folded = normalise(text)
    kinds = words().kinds.values()
    return next((k for k in kinds if k.certain is not None and k.certain.search(folded)), None)


def said(text: str) -> Kind | None:
    """The first kind that the words of a message may tell of."""
    folded = normalise(text)
    return next((kind for kind in words().kinds.values() if kind.said.search(folded)), None)


class Worried(BaseModel):
    """kind: which worry a message tells of; empty for none."""

    model_config = ConfigDict(frozen=True)

    kind: Urgent | Literal[""] = ""


@dataclass(frozen=True)
class Worry(Effect[Worried]):
    """Which worry a message tells of."""

    kind: ClassVar[str] = "worry"
    text: str

    def request(self) -> JsonValue:
        return {"text": self.text}

    def encode(self, result: Worried) -> JsonValue:
        return result.model_dump(mode="json")

    def decode(self, data: JsonValue) -> Worried:
        return Worried.model_validate(data)


#: Strength of the regression's penalty, and the share of ordinary questions below the bound.
_PENALTY, _BELOW = 2.0, 0.96
#: How far above the bound a message is that no words tell of.
_SURE = 0.1
#: By how much words that tell of a worry lower the bound; words that ask raise it.
_SAID, _ASKED = 0.6, 0.3


class _Told(NamedTuple):
    """mean: of the examples' vectors (dim). weights: (dim + 1, 1 + kinds), of any worry first.
    bound: from which a message tells of one."""

    mean: Vectors
    weights: Vectors
    names: tuple[Urgent, ...]
    bound: float

    def __call__(self, vector: Vectors) -> tuple[float, Urgent]:
        """How far above the bound a message is, and the kind that it is most like."""
        found = _row(vector[None], self.mean) @ self.weights
        return float(found[0, 0]) - self.bound, self.names[int(found[0, 1:].argmax())]


def _row(vectors: Vectors, mean: Vectors) -> Vectors:
    moved = vectors - mean
    moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return np.hstack([moved, np.ones((len(moved), 1), np.float32)])


def _examples() -> str:
    return (files("naisei.intent") / "worries.toml").read_text(encoding="utf-8")


def _learnt(embed: Callable[[list[str]], Vectors]) -> _Told:
    examples = [
        (k, line) for k, v in tomllib.loads(_examples()).items() for line in v.split("\n") if line
    ]
    names = tuple(words().kinds)
    of = np.array([k for k, _ in examples])
    vectors = np.asarray(embed([line for _, line in examples]), np.float32)
    mean = vectors.mean(axis=0)
    rows, calm = _row(vectors, mean).astype(np.float64), of == "calm"
    wanted = np.stack([~calm, *(of == name for name in names)], axis=1) * 2.0 - 1.0
    # Worries and ordinary questions weigh the same, however many there are of each.
    weighed = rows * np.where(calm, 0.5 / calm.mean(), 0.5 / (1 - calm.mean()))[:, None]
    inverse = np.linalg.inv(weighed.T @ rows + _PENALTY * np.eye(rows.shape[1]))
    weights = inverse @ weighed.T @ wanted
    leverage = ((rows @ inverse) * weighed).sum(axis=1)
    left_out = wanted[:, 0] - (wanted[:, 0] - rows @ weights[:, 0]) / (1 - leverage)
    bound = float(np.quantile(left_out[calm], _BELOW))
    return _Told(mean, weights.astype(np.float32), names, bound)


@cache
def _learnt_by_pieces() -> _Told:
    return _learnt(open_embedder("fast").embed)


class WorryHandler(Handler):
    """Tells worries with the embedder of an index; with the bundled vectors of word pieces where it
    has none. What was learnt is kept with the index's generation."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> Worried:
        text = cast(Worry, effect).text
        if (plain := certain(text)) is not None:
            return Worried(kind=plain.name)
        named = said(text)
        if not is_japanese(text):  # the examples are Japanese
            return Worried(kind=named.name) if named else Worried()
        found = self._index.embed([text])
        if found is None:
            above, like = _learnt_by_pieces()(open_embedder("fast").embed([text])[0])
        else:
            above, like = self._kept()(found[0])
        above -= _ASKED * bool(words().asked.search(normalise(text)))
        # Without a word that tells of one it has to be far above the bound.
        if above + (_SAID if named else -_SURE) <= 0:
            return Worried()
        return Worried(kind=named.name if named else like)

    def _kept(self) -> _Told:
        def made() -> str:
            told = _learnt(cast("Callable[[list[str]], Vectors]", self._index.embed))
            plain: dict[str, Any] = told._asdict()
            plain["mean"], plain["weights"] = told.mean.tolist(), told.weights.tolist()
            return json.dumps(plain)

        kept = json.loads(
            self._index.cached(f"worries-{crc32(_examples().encode()):08x}.json", made)
        )
        return _Told(
            np.array(kept["mean"], np.float32),
            np.array(kept["weights"], np.float32),
            tuple(kept["names"]),
            kept["bound"],
        )
