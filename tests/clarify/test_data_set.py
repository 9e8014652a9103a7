"""ambigact40-open: schema, counts, consistency, splits; and its English, thing by thing."""

from __future__ import annotations

import re
import socket
from collections import Counter
from itertools import combinations

import pytest

from commandline import Naisei
from naisei.clarify.data import Dataset, load, load_actions
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
#: Kana, kanji, and full-width marks.
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
#: The object of an action: its name in English (singular), and other names for it.
ENGLISH = {
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
ENGLISH_PLACES = {"fridge": ("fridge", "refrigerator"), "microwave": ("microwave",)}
OBJECTS = tuple(ENGLISH)
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

DATA, IN_ENGLISH = load("ambigact40-open:all"), load("ambigact40-open-en:all")
PAIRS = list(zip(DATA.instances, IN_ENGLISH.instances, strict=True))


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
    assert [a.text for a in IN_ENGLISH.actions] == [a.text for a in load_actions(language="en")]
    assert {i.scene.language for i in IN_ENGLISH.instances} == {"en"}
    assert load_actions().text(38) == "タッパーをレンジに入れる"
    assert len(BRING) == 20


def test_every_row_has_all_keys_and_the_split_of_its_scene() -> None:
    for split in SPLITS:
        rows, english = (read_rows(folder(name) / f"{split}.jsonl") for name in ("ja", "en"))
        assert [r.fields["id"] for r in rows] == [r.fields["id"] for r in english]
        for row in (*rows, *english):
            assert set(row.fields) == set(KEYS) - {"language", "also"}, row.place
        for row in rows:
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


@pytest.mark.parametrize("data", [DATA, IN_ENGLISH])
def test_a_scene_never_changes_between_its_instances(data: Dataset) -> None:
    rooms: dict[str, object] = {}
    for i in data.instances:
        room = (i.scene.user, i.scene.surroundings, list(i.scene.surroundings))
        assert rooms.setdefault(i.scene_id, room) == room, i.id
    assert len({(i.scene_id, i.scene.utterance, i.gold) for i in data.instances}) == len(data)


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


def in_english(text: str, word: str) -> bool:
    """Whether the text holds the word, in singular or plural."""
    return re.search(rf"\b{re.escape(word)}(?:e?s)?\b", text, re.IGNORECASE) is not None


def test_everything_but_the_text_is_the_same_in_english() -> None:
    kept = ("id", "gold", "plausible", "ambiguity", "speaker", "split", "scene_id")
    changed = [
        (ja.id, field)
        for ja, en in PAIRS
        for field in kept
        if getattr(ja, field) != getattr(en, field)
    ]
    assert not changed, changed


def test_nothing_of_it_is_left_in_japanese() -> None:
    left = [
        (i.id, text)
        for i in IN_ENGLISH.instances
        for text in (
            *(i.scene.utterance, i.scene.user.place, i.scene.user.posture, i.scene.user.time),
            *(*i.scene.user.company, *i.scene.surroundings, *i.scene.entries),
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

    unlike = [(ja.id, shape(ja), shape(en)) for ja, en in PAIRS if shape(ja) != shape(en)]
    assert not unlike, unlike


def test_each_object_stands_where_it_stood() -> None:
    """A thing names the same objects of the 40 actions in both languages, and no other."""
    unlike = set()
    for ja, en in PAIRS:
        for a, b in zip(ja.scene.entries, en.scene.entries, strict=True):
            before = {noun for noun in ENGLISH if noun in a}
            after = {noun for noun, (word, _) in ENGLISH.items() if in_english(b, word)}
            if before != after:
                unlike.add((ja.scene_id, a, b))
    assert not unlike, sorted(unlike)


def test_utterances_are_the_same_where_the_japanese_ones_are() -> None:
    """Within a scene one to one; between scenes never the same."""
    known: dict[tuple[str, str], str] = {}
    owners: dict[str, tuple[str, str]] = {}
    for ja, en in PAIRS:
        key = (ja.scene_id, ja.scene.utterance)
        assert known.setdefault(key, en.scene.utterance) == en.scene.utterance, en.id
        assert owners.setdefault(en.scene.utterance.lower(), key) == key, en.id


def test_no_english_utterance_names_a_plausible_action() -> None:
    named = []
    for i in IN_ENGLISH.instances:
        for action in i.plausible:
            text = load_actions().text(action)
            noun, others = next(own for ja, own in ENGLISH.items() if text.startswith(ja))
            ends = IN_ENGLISH.actions.text(action).split()[-1]
            named += [
                (i.id, word, i.scene.utterance)
                for word in (noun, *others, *ENGLISH_PLACES.get(ends, ()))
                if in_english(i.scene.utterance, word)
            ]
    assert not named, named


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
