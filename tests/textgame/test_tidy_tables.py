"""The tables of household knowledge, and how names are read with them."""

from __future__ import annotations

from collections import Counter

import pytest

from naisei.textgame.tidy.household import ROOMS, household, name_receptacle, name_thing


def test_every_place_and_room_that_is_named_exists() -> None:
    home = household()
    places = {k for c in home.classes.values() for tier in c.places for k in tier}
    places |= {
        k for s in home.states for tiers in s.places.values() for tier in tiers for k in tier
    }
    assert places <= set(home.kinds)
    rooms = {room for kind in home.kinds.values() for room in kind.rooms}
    assert rooms <= set(ROOMS)


def test_it_is_broad_and_no_name_is_of_two_classes() -> None:
    home = household()
    words = Counter(word for c in home.classes.values() for word in set(c.words))
    assert len(words) >= 3000
    assert [word for word, times in words.items() if times > 1] == []
    assert len({w for k in home.kinds.values() for w in k.words}) >= 900


@pytest.mark.parametrize(
    ("name", "kind", "state", "first"),
    [
        ("dirty yellow T-shirt", "shirts", "dirty", "washing machine"),
        ("wet azure dress", "dresses", "wet", "clothesline"),
        ("rotten red apple", "fruit", "waste", "trash can"),
        ("used noodle cup", "disposables", "used", "trash can"),
        ("block of cheese", "dairy", "", "fridge"),
        ("pair of clean white socks", "underwear", "clean", "chest of drawers"),
        ("honey bottle", "condiments", "", "pantry shelf"),
        ("shampoo bottle", "washing", "", "shower"),
        ("empty soda can", "colddrinks", "empty", "trash can"),
        ("sour cream", "dairy", "", "fridge"),
        ("wet umbrella", "umbrellas", "wet", "umbrella stand"),
        ("dog whatnot", "petfood", "", "pet bowl"),
        ("broken flurble", "", "waste", "trash can"),
        ("flurble", "", "", None),
    ],
)
def test_names_of_things(name: str, kind: str, state: str, first: str | None) -> None:
    thing = name_thing(name)
    assert (thing.kind, thing.state) == (kind, state)
    assert (thing.places[0][0] if thing.places else None) == first


@pytest.mark.parametrize(
    ("name", "room", "kind"),
    [
        ("sink", "Bathroom", "bathroom sink"),
        ("sink", "Kitchen", "kitchen sink"),
        ("kitchen pantry", "Kitchen", "pantry shelf"),
        ("pedal bin", "Bathroom", "trash can"),
        ("small oak table", "Livingroom", "coffee table"),
        ("shiny clothes drier", "Laundry Room", "clothes drier"),
        ("gizmo", "Kitchen", ""),
    ],
)
def test_names_of_receptacles(name: str, room: str, kind: str) -> None:
    assert name_receptacle(name, room).kind == kind
