"""Classifies the worry in a message by words and by its similarity in meaning to examples.

A ridge regression predicts whether a message contains a worry, and which. Its features are the
vectors of the index's embedder and of word pieces, whether words indicate a worry (urgent.toml),
and whether it asks; it is trained on the examples in worries.toml. Its threshold is the value that
97 % of the ordinary examples stay below in leave-one-out validation (exact for ridge regression,
Hastie, Tibshirani & Friedman 2009, 7.10), so each embedder has its own.
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
    """said: pattern of messages with the worry; certain: pattern that overrides everything else.
    sought: the documents' terms for it. passage: pattern of a useful passage. call: public numbers
    of Japan, if a life may be at stake, by language."""

    name: Urgent
    said: re.Pattern[str]
    certain: re.Pattern[str] | None
    sought: str
    passage: re.Pattern[str]
    call: Mapping[str, str]


class WorryWords(NamedTuple):
    """phone: a number to call. step: what to do at once. life: danger to life."""

    phone: re.Pattern[str]
    step: re.Pattern[str]
    life: re.Pattern[str]
    kinds: Mapping[Urgent, WorryKind]


@cache
def words() -> WorryWords:
    """The patterns of urgent.toml."""
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
    """The first kind that the words of a message clearly indicate, whatever its similarity."""
    folded = normalise(text)
    kinds = words().kinds.values()
    return next((k for k in kinds if k.certain is not None and k.certain.search(folded)), None)


def worry_kind(text: str) -> WorryKind | None:
    """The first kind that the words of a message may indicate."""
    folded = normalise(text)
    return next((kind for kind in words().kinds.values() if kind.said.search(folded)), None)


class Worried(BaseModel):
    """kind: which worry a message tells of; empty for none."""

    model_config = ConfigDict(frozen=True)

    kind: Urgent | Literal[""] = ""


@dataclass(frozen=True)
class Worry(Effect[Worried]):
    """Requests the kind of worry in a message."""

    kind: ClassVar[str] = "worry"
    text: str

    def request(self) -> JsonValue:
        return {"text": self.text}

    def encode(self, result: Worried) -> JsonValue:
        return result.model_dump(mode="json")

    def decode(self, data: JsonValue) -> Worried:
        return Worried.model_validate(data)


#: Strength of the regression's penalty, and the share of ordinary questions below the threshold.
_PENALTY, _BELOW = 1.0, 0.97
#: Weights of the word-piece vectors and of the words relative to the index's vectors.
_PIECES, _WORDS = 0.7, 0.6

#: Texts → the vectors of each embedder (len(texts), dim).
Embed = Callable[[list[str]], list[Vectors]]


class _Classifier(NamedTuple):
    """means: of the examples' vectors, one per embedder (dim). weights: (sum of dims + 3, 1 +
    kinds), the first column for any worry. bound: threshold for detecting one."""

    means: tuple[Vectors, ...]
    weights: Vectors
    names: tuple[Urgent, ...]
    bound: float

    def __call__(self, text: str, embed: Embed) -> Urgent | None:
        """The most likely kind, if the message contains a worry."""
        found = _rows([text], embed([text]), self.means) @ self.weights
        sure = float(found[0, 0]) > self.bound
        return self.names[int(found[0, 1:].argmax())] if sure else None


def _rows(texts: list[str], vectors: list[Vectors], means: Sequence[Vectors]) -> Vectors:
    """One row per text: whether words indicate a worry, whether it asks, 1, and the centred
    vectors."""
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
    """worries.toml, and the bundled tuning questions about a handbook."""
    asked = files("naisei") / "data" / "handbook_questions" / "questions_dev2.jsonl"
    own = files("naisei.intent") / "worries.toml"
    return own.read_text(encoding="utf-8"), asked.read_text(encoding="utf-8")


def _examples() -> list[tuple[str, str]]:
    """Texts with their kinds; questions without words of worry are ordinary ones."""
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
    # Worries and ordinary questions have the same total weight, however many there are of each.
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
    The classifier is trained once per embedder and stored in the cache folder."""

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
        """The classifier of the index's embedder; trained if not stored."""

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
