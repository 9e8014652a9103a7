"""ambigact40-open itself: schema, counts, consistency, near duplicates, splits."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from naisei.clarify.data import load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.clarify.data.instances import KEYS, SPLITS, split_of
from naisei.clarify.data.records import read_rows
from naisei.clarify.schemas import Instance
from naisei.japanese.morph import tokens

AMBIGUITY = {
    *("missing_object", "missing_purpose", "indirect_wish"),
    *("situation_only", "several_needs", "reference"),
}
SPEAKERS = {
    *("adult", "child", "elder", "flatmate", "office_worker"),
    *("parent", "student", "teen", "visitor"),
}
OBJECTS = (
    *("バナナ", "充電ケーブル", "コップ", "ケチャップ", "宅配便", "ペットボトル", "リモコン"),
    *("スマホ", "お菓子", "ティッシュ箱", "ミニカー", "ゴミ", "缶切り", "クッキングシート"),
    *("グラス", "おろし器", "キッチンペーパー", "レモン", "オリーブオイル", "じゃがいも"),
    *("サランラップ", "水筒", "タッパー"),
)
#: Words beside its own name that name an object or what is done with it.
ALSO = {
    "充電ケーブル": ("ケーブル", "充電器", "コード"),
    "宅配便": ("宅配", "荷物"),
    "スマホ": ("携帯", "電話"),
    "お菓子": ("菓子", "おやつ"),
    "ティッシュ箱": ("ティッシュ", "ちり紙"),
    "ミニカー": ("車", "おもちゃ"),
    "ゴミ": ("ごみ", "捨てる"),
    "クッキングシート": ("シート",),
    "おろし器": ("おろし",),
    "キッチンペーパー": ("ペーパー",),
    "オリーブオイル": ("オイル",),
    "じゃがいも": ("じゃが", "いも", "ポテト"),
    "サランラップ": ("ラップ",),
}
#: Where an action ends, if it is a place that could be named: part of its text, then the words.
PLACES = {"レンジ": ("レンジ", "チン"), "冷蔵庫": ("冷蔵庫",)}
#: Put away already: out of sight, or where it belongs. Beside the fridge is out.
STORED = re.compile("棚|引き出し|フック|冷蔵庫(?!の(?:上|前|横|脇|わき|そば|隣))")

DATA = load("ambigact40-open:all")


def noun(text: str) -> str:
    """The object of an action: the noun that its text begins with."""
    return next(o for o in OBJECTS if text.startswith(o))


NOUNS = {a.id: noun(a.text) for a in DATA.actions}
BRING = {a.id for a in DATA.actions if a.text.endswith("持ってくる")}


def test_there_are_forty_actions_in_both_languages() -> None:
    for language in ("ja", "en"):
        actions = load_actions(language=language)
        assert actions.ids == tuple(range(1, 41))
        assert len({a.text for a in actions}) == 40
    assert load_actions().text(38) == "タッパーをレンジに入れる"
    assert len(BRING) == 20


def test_every_row_has_all_keys_and_the_split_of_its_scene() -> None:
    for split in SPLITS:
        for row in read_rows(folder() / f"{split}.jsonl"):
            assert set(row.fields) == set(KEYS) - {"language", "also"}, row.place
            assert row.fields["split"] == split == split_of(row.fields["scene"]), row.place


def test_size_and_balance() -> None:
    golds = Counter(i.gold for i in DATA.instances)
    assert len(DATA) == 545
    assert len({i.scene_id for i in DATA.instances}) >= 200
    assert len({i.scene.utterance for i in DATA.instances}) >= 400
    assert set(golds) == set(range(1, 41))
    assert min(golds.values()) >= 8
    assert max(golds.values()) <= 30
    several = sum(len(i.plausible) > 1 for i in DATA.instances) / len(DATA)
    assert 0.55 <= several <= 0.75
    assert {i.ambiguity for i in DATA.instances} == AMBIGUITY
    assert {i.speaker for i in DATA.instances} == SPEAKERS


@pytest.mark.parametrize(
    ("split", "low", "high"), [("train", 0.15, 0.25), ("dev", 0.15, 0.25), ("test", 0.55, 0.65)]
)
def test_shares_of_the_splits(split: str, low: float, high: float) -> None:
    assert low <= sum(i.split == split for i in DATA.instances) / len(DATA) <= high


def test_splits_share_no_scene_and_no_utterance() -> None:
    parts = {s: [i for i in DATA.instances if i.split == s] for s in SPLITS}
    assert sum(map(len, parts.values())) == len(DATA)
    for a, b in combinations(SPLITS, 2):
        assert not {i.scene_id for i in parts[a]} & {i.scene_id for i in parts[b]}
        assert not {i.scene.utterance for i in parts[a]} & {i.scene.utterance for i in parts[b]}


def test_a_scene_never_changes_between_its_instances() -> None:
    rooms: dict[str, object] = {}
    wishes: set[tuple[str, str, int]] = set()
    for i in DATA.instances:
        assert rooms.setdefault(i.scene_id, (i.scene.user, i.scene.surroundings)) == (
            i.scene.user,
            i.scene.surroundings,
        )
        wish = (i.scene_id, i.scene.utterance, i.gold)
        assert wish not in wishes, i.id
        wishes.add(wish)


def test_the_same_utterance_has_the_same_plausible_actions() -> None:
    known: dict[tuple[str, str], tuple[int, ...]] = {}
    for i in DATA.instances:
        assert known.setdefault((i.scene_id, i.scene.utterance), i.plausible) == i.plausible


def test_fields_are_filled() -> None:
    for i in DATA.instances:
        user, areas = i.scene.user, i.scene.surroundings
        assert i.gold in i.plausible, i.id
        assert user.place, i.id
        assert user.posture, i.id
        assert user.time, i.id
        assert 4 <= len(areas) <= 6, i.id
        assert all(3 <= len(things) <= 6 for things in areas.values()), i.id


def names(utterance: str, word: str) -> bool:
    """Whether the word stands in the utterance as such, in whatever spelling or inflection:
    くるま and 捨てよう count, サングラス and 歯車 do not."""
    said, wanted = tokens(utterance), tokens(word)
    return any(
        all(
            a.surface == b.surface or a.form == b.form
            for a, b in zip(said[n : n + len(wanted)], wanted, strict=True)
        )
        for n in range(len(said) - len(wanted) + 1)
    )


def test_names_are_found_by_word() -> None:
    for utterance, word in (
        ("そのおもちゃ、どうするの", "おもちゃ"),
        ("もう捨てよっか", "捨てる"),
        ("くるまが動かない", "車"),
        ("冷蔵庫がいっぱいだ", "冷蔵庫"),
        ("ラップある？", "ラップ"),
    ):
        assert names(utterance, word)
    for utterance, word in (
        ("サングラスどこ", "グラス"),
        ("歯車が回る", "車"),
        ("肩の荷をおろしたい", "おろし器"),
        ("ストラップが切れた", "ラップ"),
        ("", "車"),
    ):
        assert not names(utterance, word)


def test_the_utterance_names_no_plausible_action() -> None:
    """Neither the object, nor a near synonym, nor the place where it belongs."""
    named = [
        (i.id, word, i.scene.utterance)
        for i in DATA.instances
        for action in i.plausible
        for word in (
            *(NOUNS[action], *ALSO.get(NOUNS[action], ())),
            *(w for place, ws in PLACES.items() if place in DATA.actions.text(action) for w in ws),
        )
        if names(i.scene.utterance, word)
    ]
    assert not named, named


def sights(one: Instance, noun: str) -> tuple[list[str], bool]:
    """Where the object can be seen, area and thing in one; whether it is at hand."""
    seen = [
        area + thing
        for area, things in one.scene.surroundings.items()
        for thing in things
        if noun in thing
    ]
    return seen, any(noun in t for t in (*one.scene.user.holding, *one.scene.user.reach))


def test_what_is_to_be_brought_can_be_seen_and_is_not_at_hand() -> None:
    broken = []
    for i in DATA.instances:
        for action in BRING & set(i.plausible):
            seen, at_hand = sights(i, NOUNS[action])
            if at_hand or not seen:
                broken.append((i.id, DATA.actions.text(action), seen))
    assert not broken, broken


def test_what_is_put_away_is_out() -> None:
    broken = []
    for i in DATA.instances:
        for action in set(i.plausible) - BRING:
            seen, at_hand = sights(i, NOUNS[action])
            if not at_hand and all(STORED.search(words) for words in seen):
                broken.append((i.id, DATA.actions.text(action), seen))
    assert not broken, broken


@pytest.mark.parametrize(("action", "place"), [(36, "冷蔵庫"), (38, "レンジ"), (39, "冷蔵庫")])
def test_there_is_a_fridge_or_a_microwave_to_put_things_in(action: int, place: str) -> None:
    broken = [
        i.id
        for i in DATA.instances
        if action in i.plausible
        and not any(place in area + "".join(ts) for area, ts in i.scene.surroundings.items())
    ]
    assert not broken, broken


def test_objects_of_wrong_actions_are_there_too() -> None:
    """Whoever looks for the only object in sight finds many."""
    for i in DATA.instances:
        seen = str(i.scene.surroundings)
        wrong = sum(o in seen for o in OBJECTS if o != NOUNS[i.gold])
        assert wrong >= 7, i.id
