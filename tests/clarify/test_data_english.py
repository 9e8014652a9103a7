"""ambigact40-open-en: the Japanese instances again, in English, thing by thing."""

from __future__ import annotations

import re
import socket
from functools import cache

import pytest

from commandline import Naisei
from naisei.clarify.data import Dataset, load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.clarify.data.instances import KEYS, SPLITS
from naisei.clarify.data.records import read_rows
from naisei.clarify.schemas import Instance

#: Kana, kanji, and full-width marks.
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
#: The object of an action in Japanese, in English (singular), and other names for it.
OBJECTS = {
    "バナナ": ("banana", ()),
    "充電ケーブル": ("charging cable", ("cable", "charger", "charging lead")),
    "コップ": ("cup", ()),
    "ケチャップ": ("ketchup", ()),
    "宅配便": ("parcel", ("package", "delivery")),
    "ペットボトル": ("plastic bottle", ("bottle", "bottled")),
    "リモコン": ("remote control", ("remote",)),
    "スマホ": ("smartphone", ("phone", "mobile", "mobile phone")),
    "お菓子": ("snack", ("sweets", "candy", "candies")),
    "ティッシュ箱": ("tissue box", ("tissue",)),
    "ミニカー": ("toy car", ("toy", "car")),
    "ゴミ": ("rubbish", ("trash", "garbage", "litter", "bin")),
    "缶切り": ("can opener", ("opener", "tin opener")),
    "クッキングシート": ("baking paper", ("baking sheet", "parchment")),
    "グラス": ("glass", ()),
    "おろし器": ("grater", ("grate", "grated", "grating")),
    "キッチンペーパー": ("kitchen paper", ("paper towel", "kitchen roll", "kitchen towel")),
    "レモン": ("lemon", ()),
    "オリーブオイル": ("olive oil", ("oil",)),
    "じゃがいも": ("potato", ("spud",)),
    "サランラップ": ("plastic wrap", ("cling film", "clingfilm", "wrap")),
    "水筒": ("water flask", ("flask", "thermos", "water bottle")),
    "タッパー": ("food container", ("container", "tupperware")),
}
#: Where an action ends, if it is a place that could be named.
PLACES = {"fridge": ("fridge", "refrigerator"), "microwave": ("microwave",)}


@cache
def english() -> Dataset:
    return load("ambigact40-open-en:all")


@cache
def japanese() -> Dataset:
    return load("ambigact40-open:all")


def pairs() -> list[tuple[Instance, Instance]]:
    return list(zip(japanese().instances, english().instances, strict=True))


def names(text: str, word: str) -> bool:
    """Whether the text holds the word, in singular or plural."""
    return re.search(rf"\b{re.escape(word)}(?:e?s)?\b", text, re.IGNORECASE) is not None


def things(i: Instance) -> list[str]:
    """All that is listed, in order."""
    user = i.scene.user
    return [*user.holding, *user.reach, *(t for ts in i.scene.surroundings.values() for t in ts)]


def test_the_actions_are_the_forty_in_english() -> None:
    assert [a.text for a in english().actions] == [a.text for a in load_actions(language="en")]
    assert {i.scene.language for i in english().instances} == {"en"}


@pytest.mark.parametrize("split", SPLITS)
def test_rows_have_the_same_keys_and_stand_in_the_same_order(split: str) -> None:
    one, two = (read_rows(folder(language) / f"{split}.jsonl") for language in ("ja", "en"))
    assert [r.fields["id"] for r in one] == [r.fields["id"] for r in two]
    assert all(set(r.fields) == set(KEYS) - {"language", "also"} for r in two)


def test_everything_but_the_text_is_the_same() -> None:
    kept = ("id", "gold", "plausible", "ambiguity", "speaker", "split", "scene_id")
    changed = [
        (ja.id, field)
        for ja, en in pairs()
        for field in kept
        if getattr(ja, field) != getattr(en, field)
    ]
    assert not changed, changed


def test_nothing_is_left_in_japanese() -> None:
    left = [
        (i.id, text)
        for i in english().instances
        for text in (
            *(i.scene.utterance, i.scene.user.place, i.scene.user.posture, i.scene.user.time),
            *(*i.scene.user.company, *i.scene.surroundings, *things(i)),
        )
        if JAPANESE.search(text) or not text.strip()
    ]
    assert not left, left


def test_areas_and_things_correspond_one_to_one() -> None:
    def shape(i: Instance) -> tuple[object, ...]:
        user = i.scene.user
        return (
            *(len(part) for part in (user.holding, user.reach, user.company)),
            *([len(things) for things in i.scene.surroundings.values()],),
        )

    unlike = [(ja.id, shape(ja), shape(en)) for ja, en in pairs() if shape(ja) != shape(en)]
    assert not unlike, unlike


def test_each_object_stands_where_it_stood() -> None:
    """A thing names the same objects of the 40 actions in both languages, and no other."""
    unlike = set()
    for ja, en in pairs():
        for a, b in zip(things(ja), things(en), strict=False):
            before = {noun for noun in OBJECTS if noun in a}
            after = {noun for noun, (word, _) in OBJECTS.items() if names(b, word)}
            if before != after:
                unlike.add((ja.scene_id, a, b))
    assert not unlike, sorted(unlike)


def test_a_scene_never_changes_between_its_instances() -> None:
    contexts: dict[str, object] = {}
    for i in english().instances:
        context = (i.scene.user, i.scene.surroundings, list(i.scene.surroundings))
        assert contexts.setdefault(i.scene_id, context) == context, i.id


def test_utterances_are_the_same_where_the_japanese_ones_are() -> None:
    """Within a scene one to one; between scenes never the same."""
    known: dict[tuple[str, str], str] = {}
    owners: dict[str, tuple[str, str]] = {}
    for ja, en in pairs():
        key = (ja.scene_id, ja.scene.utterance)
        assert known.setdefault(key, en.scene.utterance) == en.scene.utterance, en.id
        assert owners.setdefault(en.scene.utterance.lower(), key) == key, en.id


def test_the_utterance_names_no_plausible_action() -> None:
    named = []
    for i in english().instances:
        for action in i.plausible:
            text = load_actions().text(action)
            noun, others = next(own for ja, own in OBJECTS.items() if text.startswith(ja))
            ends = english().actions.text(action).split()[-1]
            named += [
                (i.id, word, i.scene.utterance)
                for word in (noun, *others, *PLACES.get(ends, ()))
                if names(i.scene.utterance, word)
            ]
    assert not named, named


def test_names_are_found_by_word() -> None:
    for text, word in (
        ("Any potatoes left?", "potato"),
        ("The GLASSES, please", "glass"),
        ("toy cars", "toy car"),
    ):
        assert names(text, word)
    for text, word in (("sunglasses", "glass"), ("a cupboard", "cup"), ("carry it", "car")):
        assert not names(text, word)


@pytest.mark.parametrize("agent", ["bayes", "embed", "random"])
@pytest.mark.parametrize("data", ["ambigact40-open", "ambigact40-open-en"])
def test_a_run_needs_no_path_and_no_network(
    agent: str, data: str, naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    flags = ["--agent", agent, "--embedder", "ngram", "--limit", "4", "--trials", "2"]
    done = naisei("clarify", "run", "--data", data, *flags, "--quiet", "--json")
    assert done.code == 0, done.err
    told = done.result
    assert (told["n"], told["n_unscored"], told["n_pending"]) == (4, 0, 0)
