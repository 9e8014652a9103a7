"""ambigact40-open itself: schema, counts, consistency, near duplicates, splits."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

from naisei.clarify.data import load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.clarify.data.instances import KEYS
from naisei.clarify.data.records import read_rows
from naisei.clarify.data.splits import SPLITS, split_of
from naisei.clarify.schemas import Instance

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
#: Put away already: out of sight, or where it belongs.
STORED = re.compile("棚|引き出し|冷蔵庫の中|冷蔵庫に|フック")

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
            assert set(row.fields) == set(KEYS) - {"language"}, row.place
            assert row.fields["split"] == split == split_of(row.fields["scene"]), row.place


def test_size_and_balance() -> None:
    golds = Counter(i.gold for i in DATA.instances)
    assert len(DATA) >= 240
    assert set(golds) == set(range(1, 41))
    assert min(golds.values()) >= 4
    assert max(golds.values()) <= 30
    several = sum(len(i.plausible) > 1 for i in DATA.instances) / len(DATA)
    assert 0.55 <= several <= 0.75
    assert {i.ambiguity for i in DATA.instances} == AMBIGUITY
    assert {i.speaker for i in DATA.instances} == SPEAKERS


def test_splits_share_no_scene_and_no_utterance() -> None:
    parts = {s: [i for i in DATA.instances if i.split == s] for s in SPLITS}
    assert sum(map(len, parts.values())) == len(DATA)
    for a, b in combinations(SPLITS, 2):
        assert not {i.scene_id for i in parts[a]} & {i.scene_id for i in parts[b]}
        assert not {i.scene.utterance for i in parts[a]} & {i.scene.utterance for i in parts[b]}
    assert 0.1 < len(parts["train"]) / len(DATA) < 0.3
    assert 0.1 < len(parts["dev"]) / len(DATA) < 0.3


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


def test_the_utterance_names_no_plausible_object() -> None:
    named = [
        (i.id, NOUNS[action])
        for i in DATA.instances
        for action in i.plausible
        if NOUNS[action] in i.scene.utterance
    ]
    assert named == []


def possible(one: Instance, action: int) -> bool:
    """What is to be brought can be seen and is not at hand; what is put away is out."""
    object_ = NOUNS[action]
    at_hand = any(object_ in t for t in (*one.scene.user.holding, *one.scene.user.reach))
    seen = [
        area + thing
        for area, things in one.scene.surroundings.items()
        for thing in things
        if object_ in thing
    ]
    if action in BRING:
        return bool(seen) and not at_hand
    return at_hand or any(not STORED.search(words) for words in seen)


def test_objects_allow_the_plausible_actions() -> None:
    broken = [
        (i.id, DATA.actions.text(action))
        for i in DATA.instances
        for action in i.plausible
        if not possible(i, action)
    ]
    assert broken == []


def test_objects_of_wrong_actions_are_there_too() -> None:
    """Whoever looks for the only object in sight finds many."""
    for i in DATA.instances:
        seen = str(i.scene.surroundings)
        wrong = sum(o in seen for o in OBJECTS if o != NOUNS[i.gold])
        assert wrong >= 7, i.id


def test_no_utterance_is_another_with_small_changes() -> None:
    utterances = {(i.scene_id, i.scene.utterance) for i in DATA.instances}
    grams = {
        key: {plain[n : n + 2] for n in range(len(plain) - 1)}
        for key in utterances
        if (plain := re.sub(r"\W", "", key[1]))
    }
    for a, b in combinations(sorted(utterances), 2):
        alike = len(grams[a] & grams[b]) / len(grams[a] | grams[b])
        assert alike < 0.3, (a, b)
