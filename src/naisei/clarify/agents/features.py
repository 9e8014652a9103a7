"""Evidence for actions in a scene: interpretable features, one row per action.

Embedding features are standardised across the actions of one scene, since E5's cosines all
lie between 0.80 and 0.92 and mean nothing by themselves. The others are counts of cue words
and booleans about the location and state of the action's object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.clarify.agents.knowledge import MODES, Cues, Knowledge
from naisei.clarify.schemas import Scene
from naisei.core import InputError
from naisei.japanese.morph import lemmas
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.similarity import cosines, unit
from naisei.training_documents import read_digests

#: Words too common to identify a thing.
_COMMON = frozenset(
    {"為る", "居る", "有る", "無い", "物", "事", "こと", "もの", "何", "其れ", "此れ", "今", "成る"}
    | {"言う", "良い", "方", "所", "気", "中", "上", "出る", "置く"}
)


#: State words of things used and not put away, and of stored things; words of clearing up.
_USED = re.compile(
    r"飲み終|飲み干|食べ終|食べ残|飲み残|飲みかけ|食べかけ|使いかけ|使い終|使ったあと|空の|空に|"
    r"転が|散ら|落ち|出しっぱなし|置きっぱなし|つけっぱなし|からま|絡ま|丸め|倒れ|汚れ|"
    r"開いた|開けた|乗った|広が|床|遊びかけ|脱|出たまま|置かれたまま|"
    r"\b(?:empty|used|finished|half|left|lying|scattered|crumpled|open|dirty|tangled|floor)\b"
)
_STORED = re.compile(
    r"棚の|棚に|引き出し|冷蔵庫の中|冷蔵庫に|買い置き|未開封|水切りかご|干して|洗った|乾いた|乾か|"
    r"並ん|冷えた|新しい|箱に入|かごに入|充電中|戸棚|袋に入|満タン|"
    r"\b(?:shelf|cupboard|drawer|fridge|unopened|washed|dry|new|full|chilled)\b"
)
_TIDY = re.compile(
    r"散らか|片づ|片付|かたづ|すっきり|ごちゃ|邪魔|じゃま|しま[わいうっえ]|戻[しすせそ]|もどし|"
    r"終わ|おわ|済ん|もう(?:いい|い[いら]|使わ|飲ま|食べ|見|じゅうぶん|十分)|いらな|要らな|きれい|"
    r"出しっぱ|置きっぱ|放置|場所(?:を)?とる|狭[いくす]|足の踏み場|踏[みんむ]|つまず|整[えっ理]|"
    r"やめ|控え|太[るっり]|お腹いっぱい|ごちそうさま|帰[るっ]|乾い|"
    r"\b(?:tid(?:y|ied)|clean|clear|mess|clutter|done|finished|over|away|enough|full)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ObjectState:
    """The visible state of an object. own_area: it is in the user's area. used, stored: it was used
    and not put away, or is stored for use. overlap: number of words of the utterance that match its
    place or state, at most 2 (「ソファの上のそれ」)."""

    visible: bool
    held: bool
    reach: bool
    own_area: bool
    used: bool
    stored: bool
    overlap: float


def object_state(names: tuple[str, ...], scene: Scene) -> ObjectState:
    """Find an object by its lower-case names."""

    def among(things: tuple[str, ...]) -> list[str]:
        return [thing for thing in things if any(n in thing.lower() for n in names)]

    areas = {area: found for area, things in scene.surroundings.items() if (found := among(things))}
    held, reach = among(scene.user.holding), among(scene.user.reach)
    phrases = [*(p for found in areas.values() for p in found), *held, *reach]
    if not phrases:
        return ObjectState(False, False, False, False, False, False, 0.0)
    return ObjectState(
        visible=True,
        held=bool(held),
        reach=bool(reach),
        own_area=bool(among(own_area(scene))),
        used=any(map(_USED.search, phrases)),
        stored=any(map(_STORED.search, phrases)),
        overlap=_overlap(names, scene, areas),
    )


def own_area(scene: Scene) -> tuple[str, ...]:
    """The things of the area that the user is in."""
    place = scene.user.place
    return tuple(
        thing
        for area, things in scene.surroundings.items()
        if place and (area in place or place in area)
        for thing in things
    )


def _overlap(names: tuple[str, ...], scene: Scene, areas: dict[str, list[str]]) -> float:
    said = set(lemmas(scene.utterance)) - _COMMON
    own = {word for name in names for word in lemmas(name)}
    pointed = [
        len(said & ({*lemmas(thing), *lemmas(area)} - own))
        for area, things in areas.items()
        for thing in things
    ]
    return float(min(2, max(pointed, default=0)))


Array = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

#: Features of an utterance or an answer.
TEXT_FEATURES = ("near", "near_mean", "near_action", "cues", "named", "mode")
#: Features of a scene, following those of its utterance.
SCENE_FEATURES = (
    *TEXT_FEATURES,
    "scene_near",
    "scene_cues",
    "own_area_cues",
    "visible",
    "visible_away",
    "held",
    "held_away",
    "reach",
    "reach_away",
    "own_area",
    "own_area_away",
    "used_bring",
    "used_away",
    "stored_bring",
    "stored_away",
    *(f"is_{mode}" for mode in MODES[1:]),
    "tidy_words_away",
    "kin_near",
    "kin_cues",
    "overlap",
    "overlap_away",
)

#: Temperature for sharing evidence between similar actions.
KIN_SHARPNESS = 1.5


def scene_texts(scene: Scene) -> tuple[str, str]:
    """The two texts to embed: the utterance alone, and with the user's situation."""
    user = scene.user
    situation = (user.time, user.place, user.posture, *user.holding, *user.reach)
    separator = "、" if scene.language == "ja" else ", "
    near = separator.join(part for part in situation if part)
    return scene.utterance, f"{near}。{scene.utterance}" if near else scene.utterance


class Features:
    """Turns scenes and texts into features, for one set of actions.

    The action descriptions are embedded once, as passages.
    """

    def __init__(self, knowledge: Knowledge, embedder: Embedder) -> None:
        self.knowledge = knowledge
        items = knowledge.items
        self._words = Cues([item.words for item in items])
        self._modes = Cues([knowledge.mode_words.get(mode, ()) for mode in MODES])
        self._names = [tuple(n.lower() for n in item.names) for item in items]
        self._objects = sorted(set(self._names))
        self._object_of = [self._objects.index(names) for names in self._names]
        self._mode_of = np.array(
            [MODES.index(item.mode) if item.mode else -1 for item in items], dtype=np.intp
        )
        self._away = np.array([item.put_away for item in items], dtype=float)
        #: (index of the action, description), in order.
        self.descriptions = [(i, text) for i, item in enumerate(items) for text in item.says]
        self._owner = np.array([i for i, _ in self.descriptions], dtype=np.intp)
        self._says: Vectors = unit(
            embedder.embed([text for _, text in self.descriptions], "passage")
        )
        self._actions: Vectors = unit(embedder.embed([item.text for item in items], "passage"))
        self._kin = self._kinship()

    def scene(self, scene: Scene, vectors: Vectors) -> Array:
        """Shape (actions, len(SCENE_FEATURES)). vectors: query embeddings of `scene_texts`."""
        text = self.text(scene.utterance, vectors[0])
        near = _standard(self._nearest(vectors[1])[0])
        everything = "。".join(p for things in scene.surroundings.values() for p in things)
        own = own_area(scene)
        sights = [object_state(names, scene) for names in self._objects]
        seen = {
            field.name: np.array([getattr(s, field.name) for s in sights], float)[self._object_of]
            for field in fields(ObjectState)
        }
        away, bring = self._away, 1 - self._away
        # Evidence for clearing up, from 0 to 1.
        tidy = min(1.0, len(_TIDY.findall(scene.utterance)) / 2)
        is_mode = [(self._mode_of == i).astype(float) for i in range(1, len(MODES))]
        columns = [
            near,
            np.log1p(self._words.score(everything)),
            np.log1p(self._words.score("。".join((*own, *scene.user.reach, *scene.user.holding)))),
            seen["visible"],
            seen["visible"] * away,
            seen["held"],
            seen["held"] * away,
            seen["reach"],
            seen["reach"] * away,
            seen["own_area"],
            seen["own_area"] * away,
            seen["used"] * bring,
            seen["used"] * away,
            seen["stored"] * bring,
            seen["stored"] * away,
            *is_mode,
            tidy * away,
            np.log(softmax(KIN_SHARPNESS * text[:, 0]) @ self._kin + 1e-3),
            np.log1p(3 * self._words.score(scene.utterance) @ self._kin),
            seen["overlap"],
            seen["overlap"] * away,
        ]
        return np.column_stack([text, *columns])

    def text(self, text: str, vector: Vectors) -> Array:
        """Shape (actions, len(TEXT_FEATURES)). vector: the text's query embedding."""
        return self._text(text, vector, *self._nearest(vector))

    def without(self, index: int) -> Array:
        """Like `text` for one description, compared with all others.

        The cosines are those between passages.
        """
        owner, text = self.descriptions[index]
        vector = self._says[index]
        if int((self._owner == owner).sum()) < 2:
            return self._text(text, vector, *self._nearest(vector))
        keep = np.arange(len(self._owner)) != index
        return self._text(text, vector, *self._nearest(vector, keep))

    def _text(self, text: str, vector: Vectors, best: Array, mean: Array) -> Array:
        lowered = text.lower()
        named = np.array([any(n in lowered for n in names) for names in self._names], float)
        modes = self._modes.score(text)
        mode = np.where(self._mode_of >= 0, modes[self._mode_of], 0.0)
        return np.column_stack(
            [
                _standard(best),
                _standard(mean),
                _standard(cosines(self._actions, vector)),
                np.log1p(self._words.score(text)),
                named,
                np.log1p(mode),
            ]
        )

    def _nearest(
        self, vector: Vectors, keep: npt.NDArray[np.bool_] | slice = slice(None)
    ) -> tuple[Array, Array]:
        """Each action's maximum and mean cosine over its descriptions."""
        owner = self._owner[keep]
        near = cosines(self._says[keep], vector)
        best = np.full(len(self._names), -1.0)
        np.maximum.at(best, owner, near)
        count = np.bincount(owner, minlength=len(self._names))
        return best, np.bincount(owner, near, minlength=len(self._names)) / count

    def _kinship(self) -> Array:
        """Similarity of a need for action b (column) to action a (row), shape (actions, actions);
        columns sum to 1. Each description is compared with all others."""
        count = len(self._names)
        heard = np.zeros((count, count))
        for index, (owner, _) in enumerate(self.descriptions):
            heard[:, owner] += softmax(KIN_SHARPNESS * self.without(index)[:, 0])
        kin: Array = heard / np.maximum(heard.sum(axis=0), 1e-12)
        return kin


def _standard(values: Array) -> Array:
    """Standardised to mean 0 and deviation 1 across actions; zeros if all are equal."""
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)


def softmax(scores: Array) -> Array:
    """Probabilities proportional to exp(scores), along the last axis."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out: Array = shifted / shifted.sum(axis=-1, keepdims=True)
    return out


class BayesWeights(BaseModel):
    """Fitted weights. Missing features have weight 0.

    scene: weight per scene feature. text: weight per text feature, for answers.
    temperature: the prior's log odds are divided by it (> 0). floor: share of the
    probability spread over all actions, in [0, 1). echo: factor on an answer's words when it also
    says yes or no, in [0, 1].
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scene: dict[str, float]
    text: dict[str, float]
    temperature: float = 1.0
    floor: float = 0.02
    echo: float = 0.6


@lru_cache(maxsize=8)
def weights_documents(name: str) -> frozenset[str]:
    """Digests of the scenes to which these bundled weights were fitted; empty for the
    generic weights and for a file."""
    source = files("naisei.clarify.agents") / "weights" / f"bayes_{name}.documents.txt"
    return read_digests(source) if source.is_file() else frozenset()


@lru_cache(maxsize=8)
def load_weights(name: str) -> BayesWeights:
    """Load a table's bundled weights, the generic ones (empty name), or a file.

    Raises:
        InputError: the file cannot be read or does not match the schema.
    """
    if name.endswith(".json"):
        source = Path(name)
    else:
        source = files("naisei.clarify.agents") / "weights" / f"bayes_{name or 'any'}.json"  # type: ignore[assignment]
    try:
        return BayesWeights.model_validate_json(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            say(
                f"bayes エージェントの重みを読めません: {error}",
                f"no weights of the bayes agent can be read: {error}",
            ),
            place=name,
            remedy=say(
                "tools/calibrate_bayes.py で作ってください",
                "make them with tools/calibrate_bayes.py",
            ),
        ) from error
