"""What speaks for an action in a scene: interpretable features, one row per action.

Embedding features are standardised across the actions of one scene, since E5's cosines all
lie between 0.80 and 0.92 and mean nothing by themselves. The others are counts of cue words
and yes/no facts about where the action's object is and in what state.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from naisei.clarify.agents.knowledge import MODES, Cues, Knowledge
from naisei.clarify.schemas import Scene
from naisei.models.base import Embedder

__all__ = ["SCENE_FEATURES", "TEXT_FEATURES", "Features", "scene_texts"]

Array = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

#: Features of a piece of text: an utterance or an answer.
TEXT_FEATURES = ("near", "near_mean", "near_action", "cues", "named", "mode")
#: Features of a scene, after those of its utterance.
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
    *(f"tidy_words_{mode}" for mode in MODES[1:]),
)

#: State words of a thing that has been used and lies about, and of one that waits for use.
_USED = re.compile(
    r"飲み終|飲み干|食べ終|食べ残|飲み残|飲みかけ|食べかけ|使いかけ|使い終|使ったあと|空の|空に|"
    r"転が|散ら|落ち|出しっぱなし|置きっぱなし|つけっぱなし|からま|絡ま|丸め|倒れ|汚れ|"
    r"開いた|開けた|乗った|広が|床|遊びかけ|脱|出たまま|置かれたまま|ふたをした|詰めた|残り|"
    r"\b(?:empty|used|finished|half|left|lying|scattered|crumpled|open|dirty|tangled|floor)\b"
)
_STORED = re.compile(
    r"棚の|棚に|引き出し|冷蔵庫の中|冷蔵庫に|買い置き|未開封|水切りかご|干して|洗った|乾いた|乾か|"
    r"並ん|冷えた|新しい|箱に入|かごに入|充電中|戸棚|袋に入|満タン|"
    r"\b(?:shelf|cupboard|drawer|fridge|unopened|washed|dry|new|full|chilled)\b"
)
_TIDY_WORDS = re.compile(
    r"散らか|片づ|片付|かたづ|すっきり|ごちゃ|邪魔|じゃま|しま[わいうっえ]|戻[しすせそ]|もどし|"
    r"終わ|おわ|済ん|もう(?:いい|い[いら]|使わ|飲ま|食べ|見|じゅうぶん|十分)|いらな|要らな|きれい|"
    r"出しっぱ|置きっぱ|放置|出番|場所(?:を)?とる|狭[いくす]|足の踏み場|踏[みんむ]|つまず|整[えっ理]|"
    r"やめ|控え|太[るっり]|お腹いっぱい|ごちそうさま|帰[るっ]|乾い|"
    r"\b(?:tid(?:y|ied)|clean|clear|mess|clutter|done|finished|over|away|enough|full)\b",
    re.IGNORECASE,
)


def scene_texts(scene: Scene) -> tuple[str, str]:
    """The two texts of a scene that are embedded: the utterance, and the user's situation too."""
    user = scene.user
    situation = (user.time, user.place, user.posture, *user.holding, *user.reach)
    separator = "、" if scene.language == "ja" else ", "
    near = separator.join(part for part in situation if part)
    return scene.utterance, f"{near}。{scene.utterance}" if near else scene.utterance


@dataclass(frozen=True, slots=True)
class _Sight:
    """Where an action's object is to be seen, and in what state."""

    visible: bool
    held: bool
    reach: bool
    own_area: bool
    used: bool
    stored: bool


class Features:
    """Turns scenes and texts into features, for one set of actions.

    The descriptions of the actions are embedded once, here, as passages.
    """

    def __init__(self, knowledge: Knowledge, embedder: Embedder) -> None:
        self.knowledge = knowledge
        items = knowledge.items
        self._words = Cues([item.words for item in items])
        self._modes = Cues([knowledge.mode_words.get(mode, ()) for mode in MODES])
        self._names = [tuple(n.lower() for n in item.names) for item in items]
        self._mode_of = np.array(
            [MODES.index(item.mode) if item.mode else -1 for item in items], dtype=np.intp
        )
        self._away = np.array([item.put_away for item in items], dtype=float)
        #: (index of the action, description), in order.
        self.descriptions = [(i, text) for i, item in enumerate(items) for text in item.says]
        self._owner = np.array([i for i, _ in self.descriptions], dtype=np.intp)
        self._says: Vectors = embedder.embed([text for _, text in self.descriptions], "passage")
        self._actions: Vectors = embedder.embed([item.text for item in items], "passage")

    def scene(self, scene: Scene, vectors: Vectors) -> Array:
        """Shape (actions, len(SCENE_FEATURES)). vectors: of `scene_texts`, as queries."""
        text = self.text(scene.utterance, vectors[0])
        near = _standard(self._nearest(vectors[1])[0])
        everything = "。".join(p for things in scene.surroundings.values() for p in things)
        own = _own_area(scene)
        sights = [self._sight(names, scene, own) for names in self._names]
        seen = {key: np.array([getattr(s, key) for s in sights], float) for key in _Sight.__slots__}
        away, bring = self._away, 1 - self._away
        tidy = min(1.0, len(_TIDY_WORDS.findall(scene.utterance)) / 2)
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
            *(tidy * column for column in is_mode),
        ]
        return np.column_stack([text, *columns])

    def text(self, text: str, vector: Vectors) -> Array:
        """Shape (actions, len(TEXT_FEATURES)). vector: the text's, as a query."""
        return self._text(text, vector, *self._nearest(vector))

    def without(self, index: int) -> Array:
        """Like `text` for one of the descriptions, as if the table did not hold it.

        Its own cosine is left out, and the cosines are those between passages.
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
                _standard((self._actions @ vector).astype(float)),
                np.log1p(self._words.score(text)),
                named,
                np.log1p(mode),
            ]
        )

    def _nearest(
        self, vector: Vectors, keep: npt.NDArray[np.bool_] | slice = slice(None)
    ) -> tuple[Array, Array]:
        """Cosine with each action's nearest description, and with its descriptions on average."""
        owner = self._owner[keep]
        cosines = (self._says[keep] @ vector).astype(float)
        best = np.full(len(self._names), -1.0)
        np.maximum.at(best, owner, cosines)
        count = np.bincount(owner, minlength=len(self._names))
        return best, np.bincount(owner, cosines, minlength=len(self._names)) / count

    def _sight(self, names: tuple[str, ...], scene: Scene, own: tuple[str, ...]) -> _Sight:
        def among(things: tuple[str, ...]) -> list[str]:
            return [t for t in things if any(n in t.lower() for n in names)]

        user = scene.user
        everywhere = among(tuple(p for things in scene.surroundings.values() for p in things))
        held, reach = among(user.holding), among(user.reach)
        phrases = [*everywhere, *held, *reach]
        return _Sight(
            visible=bool(phrases),
            held=bool(held),
            reach=bool(reach),
            own_area=bool(among(own)),
            used=any(_USED.search(p) for p in phrases),
            stored=any(_STORED.search(p) for p in phrases),
        )


def _own_area(scene: Scene) -> tuple[str, ...]:
    """The things of the area that the user is in."""
    place = scene.user.place
    return tuple(
        p
        for area, things in scene.surroundings.items()
        if place and (area in place or place in area)
        for p in things
    )


def _standard(values: Array) -> Array:
    """To mean 0 and deviation 1 across actions; zeros if all are equal."""
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)
