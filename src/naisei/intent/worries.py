"""Which worry a message tells of: by words, and by how near it is in meaning to examples.

A ridge regression from the vectors of the examples (worries.toml), of the index's embedder and of
word pieces, from whether words tell of a worry (urgent.toml) and whether it asks, says how much a
message is like a worry and like which. Its bound is the value that 97 % of the ordinary questions
among the examples stay below when each is left out in turn (exact for ridge regression, Hastie,
Tibshirani & Friedman 2009, 7.10): so every embedder brings its own.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Effect, Handler, Where, fingerprint
from naisei.files import cache_root
from naisei.intent.schemas import Urgent
from naisei.japanese.morph import is_japanese, normalise
from naisei.japanese.query_analysis import analyse_query
from naisei.models.embedders import open_embedder
from naisei.retrieval.index import Index, cached_at

Vectors = npt.NDArray[np.float32]


class WorryKind(NamedTuple):
    """said: how it is told; certain: whatever else it says. sought: what the documents call it.
    passage: what a passage that serves holds. call: the public numbers of Japan, where a life may
    depend on them, by language."""

    name: Urgent
    said: re.Pattern[str]
    certain: re.Pattern[str] | None
    sought: str
    passage: re.Pattern[str]
    call: Mapping[str, str]


class WorryWords(NamedTuple):
    """phone: a number to call. step: what to do at once. life: where a life is at stake."""

    phone: re.Pattern[str]
    step: re.Pattern[str]
    life: re.Pattern[str]
    kinds: Mapping[Urgent, WorryKind]


@cache
def words() -> WorryWords:
    """Those of urgent.toml."""
    data = tomllib.loads((files("naisei.intent") / "urgent.toml").read_text(encoding="utf-8"))
    kinds = {
        kind["name"]: WorryKind(
            name=kind["name"],
            said=re.compile(kind["said"], re.I),
            certain=re.compile(kind["certain"], re.I) if "certain" in kind else None,
            sought=kind["sought"],
            passage=re.compile(kind["passage"]),
            call=data["call"].get(kind.get("call"), {}),
        )
        for kind in data["kind"]
    }
    phone, step, life = (re.compile(data[name]) for name in ("phone", "step", "life"))
    return WorryWords(phone, step, life, kinds)


def certain(text: str) -> WorryKind | None:
    """The first kind that the words of a message tell of, whatever it is near to in meaning."""
    folded = normalise(text)
    kinds = words().kinds.values()
    return next((k for k in kinds if k.certain is not None and k.certain.search(folded)), None)


def worry_kind(text: str) -> WorryKind | None:
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
_PENALTY, _BELOW = 1.0, 0.97
#: What the vectors of word pieces and the words count beside the index's vectors.
_PIECES, _WORDS = 0.7, 0.6

#: Texts → the vectors of each embedder (len(texts), dim).
Embed = Callable[[list[str]], list[Vectors]]


class _Classifier(NamedTuple):
    """means: of the examples' vectors, an embedder each (dim). weights: (sum of dims + 3,
    1 + kinds), of any worry first. bound: from which a message tells of one."""

    means: tuple[Vectors, ...]
    weights: Vectors
    names: tuple[Urgent, ...]
    bound: float

    def __call__(self, text: str, embed: Embed) -> Urgent | None:
        """The kind that a message is most like, if it tells of a worry."""
        found = _rows([text], embed([text]), self.means) @ self.weights
        sure = float(found[0, 0]) > self.bound
        return self.names[int(found[0, 1:].argmax())] if sure else None


def _rows(texts: list[str], vectors: list[Vectors], means: Sequence[Vectors]) -> Vectors:
    """Whether words tell of a worry, whether it asks, 1, and the vectors from their mean: a text
    each."""
    told = np.array(
        [
            [_WORDS * (worry_kind(text) is not None), _WORDS * analyse_query(text).question, 1.0]
            for text in texts
        ],
        np.float32,
    )
    blocks = [told]
    for at, (block, mean) in enumerate(zip(vectors, means, strict=True)):
        moved = block - mean
        moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        blocks.append(moved * (_PIECES if at else 1.0))
    return np.hstack(blocks)


def _texts() -> tuple[str, str]:
    """worries.toml, and the bundled questions to a handbook for tuning."""
    asked = files("naisei") / "data" / "handbook_questions" / "questions_dev2.jsonl"
    own = files("naisei.intent") / "worries.toml"
    return own.read_text(encoding="utf-8"), asked.read_text(encoding="utf-8")


def _examples() -> list[tuple[str, str]]:
    """Each with its kind; questions in which no words tell of a worry are ordinary ones."""
    own, asked = _texts()
    found = [(k, line) for k, v in tomllib.loads(own).items() for line in v.split("\n") if line]
    texts = [str(json.loads(line)["text"]) for line in asked.splitlines()]
    return [*found, *(("calm", text) for text in texts if worry_kind(text) is None)]


def _learnt(embed: Embed) -> _Classifier:
    examples = _examples()
    names, texts = tuple(words().kinds), [line for _, line in examples]
    of = np.array([k for k, _ in examples])
    vectors = embed(texts)
    means = tuple(block.mean(axis=0) for block in vectors)
    rows, calm = _rows(texts, vectors, means).astype(np.float64), of == "calm"
    wanted = np.stack([~calm, *(of == name for name in names)], axis=1) * 2.0 - 1.0
    # Worries and ordinary questions weigh the same, however many there are of each.
    weighed = rows * np.where(calm, 0.5 / calm.mean(), 0.5 / (1 - calm.mean()))[:, None]
    inverse = np.linalg.inv(weighed.T @ rows + _PENALTY * np.eye(rows.shape[1]))
    weights = inverse @ weighed.T @ wanted
    leverage = ((rows @ inverse) * weighed).sum(axis=1)
    left_out = wanted[:, 0] - (wanted[:, 0] - rows @ weights[:, 0]) / (1 - leverage)
    bound = float(np.quantile(left_out[calm], _BELOW))
    return _Classifier(means, weights.astype(np.float32), names, bound)


def _short(values: Vectors) -> Any:
    """Lists of rounded numbers, for fast loading."""
    return values.astype(np.float64).round(5).tolist()


class WorryHandler(Handler):
    """Recognises worries with the embedder of an index and with the bundled vectors of word pieces.
    The classifier is learnt once for each embedder, and stored in the cache folder."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> Worried:
        text = cast(Worry, effect).text
        if (plain := certain(text)) is not None:
            return Worried(kind=plain.name)
        named = worry_kind(text)
        if is_japanese(text):
            like = self.classifier()(text, self._embed)
            return Worried(kind=named.name if named and like else like or "")
        return Worried(kind=named.name if named else "")  # the examples are Japanese

    def _embed(self, texts: list[str]) -> list[Vectors]:
        pieces = np.asarray(open_embedder("fast").embed(texts), np.float32)
        own = self._index.embed(texts)
        return [pieces] if own is None else [np.asarray(own, np.float32), pieces]

    def classifier(self) -> _Classifier:
        """That of the index's embedder; learns it if it is not stored."""

        def made() -> str:
            learnt = _learnt(self._embed)
            plain: dict[str, Any] = learnt._asdict()
            plain["means"] = [_short(mean) for mean in learnt.means]
            plain["weights"] = _short(learnt.weights)
            return json.dumps(plain)

        known = fingerprint([self._index.embedder, *_texts(), _PENALTY, _BELOW, _PIECES, _WORDS])
        stored = json.loads(cached_at(cache_root() / "worries" / f"{known}.json", made))
        return _Classifier(
            tuple(np.array(mean, np.float32) for mean in stored["means"]),
            np.array(stored["weights"], np.float32),
            tuple(stored["names"]),
            stored["bound"],
        )
