"""What happens at each door: the second request and user, the duplicate, the refusal, the late
answer, the restart, two workers; with the client library that people use (docs/doors-cases.md)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doors.each_door import ACTING, ASKED, BOOK, CANCEL, DOORS, Door, opened
from servers.openai_server import OpenAIServer

SAID: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "declines.json").read_text(encoding="utf-8")
)


@pytest.fixture(params=DOORS, ids=lambda door: str(door.__name__))
def door(request: Any, server: OpenAIServer, tmp_path: Path) -> Iterator[Door]:
    with opened(request.param, server.url, tmp_path) as made:
        yield made


def acts(door: Door) -> bool:
    return type(door) in ACTING


def test_a_second_request_is_asked_about_anew(door: Door) -> None:
    first = door.request("a", "会議の件")
    assert (first.kind, first.text) == ("question", ASKED)
    assert door.answer("a", first, "取り消しで").text == CANCEL
    second = door.request("a", "会議の件")
    assert second.kind == "question", "nothing is done by the first request's answer"
    assert door.answer("a", second, "予約で").text == BOOK
    assert [action for _, action in door.acts] == [CANCEL, BOOK]


def test_two_users_at_once_get_their_own(door: Door) -> None:
    one, two = door.request("a", "会議の件"), door.request("b", "会議の件")
    assert door.answer("b", two, "取り消しで").text == CANCEL
    assert door.answer("a", one, "予約で").text == BOOK
    assert [action for _, action in door.acts] == [CANCEL, BOOK]


def test_a_request_said_twice_is_no_answer(door: Door) -> None:
    for _ in range(3):
        asked = door.request("a", "会議の件")
        assert asked.kind == "question"
        door.__dict__.get("held", {}).clear()  # the client sends the same call again
    assert not door.acts
    assert door.answer("a", asked, "予約で").text == BOOK


#: What LangGraph resumes a second time is nothing: there a late answer is what can be tried.
@pytest.mark.parametrize("door", [kind for kind in DOORS if kind is not ACTING[1]], indirect=True)
def test_an_answer_said_twice_counts_once(door: Door) -> None:
    asked = door.request("a", "会議の件")
    assert {door.answer("a", asked, "取り消しで").text for _ in range(2)} == {CANCEL}
    assert len(door.acts) == (1 if acts(door) else 2)


#: At the other doors the client keeps the conversation: what it sends is answered.
@pytest.mark.parametrize("door", [kind for kind in DOORS if kind in ACTING], indirect=True)
def test_a_late_answer_does_nothing(door: Door) -> None:
    first = door.request("a", "会議の件")
    door.answer("a", first, "取り消しで")
    door.request("a", "次の会議の件")
    door.answer("a", first, "予約で")
    assert [action for _, action in door.acts] == [CANCEL]


def test_who_declines_is_left_alone(door: Door) -> None:
    for n, words in enumerate(["いいえ", "no", "ありがとう", "none of these", "この中にはない"]):
        asked = door.request(f"u{n}", "会議の件")
        assert door.answer(f"u{n}", asked, words).kind == "declined", words
    assert door.request("hello", "こんにちは").kind == "declined"
    assert not door.acts


@pytest.mark.slow
def test_forty_ways_to_decline(door: Door) -> None:
    """All but 「cancel that」, which may well be the action of that name, and so is the model's."""
    for n, words in enumerate(SAID["declines"]):
        if words != "cancel that":
            asked = door.request(f"u{n}", "会議の件")
            assert door.answer(f"u{n}", asked, words).kind == "declined", words
    assert not door.acts


def test_a_restart_between_question_and_answer(door: Door) -> None:
    asked = door.request("a", "会議の件")
    door.restart()
    assert door.answer("a", asked, "取り消しで").text == CANCEL
    assert len(door.acts) == 1


def test_two_workers_on_one_state(server: OpenAIServer, tmp_path: Path, request: Any) -> None:
    for kind in (ACTING[0], ACTING[2], DOORS[4]):
        folder = tmp_path / kind.__name__
        folder.mkdir()
        with opened(kind, server.url, folder) as one, opened(kind, server.url, folder) as two:
            asked = one.request("a", "会議の件")
            assert two.answer("a", asked, "取り消しで").text == CANCEL
            assert one.answer("a", asked, "取り消しで").text == CANCEL
            done = [action for _, action in (*one.acts, *two.acts)]
            assert done == ([CANCEL] if kind in ACTING else [CANCEL, CANCEL])


def _talk(door: Door, user: str, dice: random.Random) -> list[tuple[str, str]]:
    """Two requests of a user, with calls sent twice, replies that are lost and processes that end;
    what is to come of it."""
    wanted = []
    for n in range(2):
        text = f"会議の件、{user} の {n}"
        asked = door.request(user, text)
        while dice.random() < 0.2:  # the reply is lost, or the call sent twice
            door.__dict__.get("held", {}).pop(user, None)
            stale, asked = asked, door.request(user, text)
            if dice.random() < 0.5 and stale.to != asked.to and isinstance(door, ACTING[1]):
                assert door.answer(user, stale, "予約で").kind == "question"
        assert asked.kind == "question"
        if dice.random() < 0.01:
            door.restart()
        says = dice.choice(["取り消しで", "予約で", "予約で", dice.choice(SAID["declines"][:20])])
        for _ in range(1 + (dice.random() < 0.3)):
            found = door.answer(user, asked, says)
        if found.kind == "acted":
            assert found.text == (CANCEL if "取り消し" in says else BOOK), says
            wanted.append((text if acts(door) else says, found.text))
        else:
            assert (found.kind, says in SAID["declines"]) == ("declined", True), says
    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ACTING[1], DOORS[4]])
def test_a_thousand_conversations(kind: type[Door], server: OpenAIServer, tmp_path: Path) -> None:
    """Every act is done once. The proxy does none itself: the same call gets the same reply."""
    server.keep = False
    with opened(kind, server.url, tmp_path) as door:
        for n in range(1000):
            before = len(door.acts)
            wanted = _talk(door, f"u{n}", random.Random(n))
            done = door.acts[before:] if acts(door) else [*dict.fromkeys(door.acts[before:])]
            assert done == [*dict.fromkeys(wanted)] if not acts(door) else done == wanted, n
