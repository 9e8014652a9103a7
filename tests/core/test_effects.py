"""Every effect's result survives the log: encode → JSON text → decode."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, computed_field

from naisei.core import (
    Act,
    AskUser,
    Chat,
    Effect,
    Embed,
    Evidence,
    FlowError,
    MemoryLog,
    Now,
    Observation,
    Remember,
    Sampling,
    Say,
    Search,
    World,
    run,
    user,
)
from naisei.core.events import plain

# Cs: lone surrogates, which are made U+FFFD on the way in; see test_lone_surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.floats(allow_nan=False)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


class Reply(BaseModel):
    thought: str
    action: int | None = Field(default=None, alias="next-action")
    weights: dict[str, float] = {}


def through_log(effect: Effect[Any], result: Any) -> Any:
    """The result as a flow gets it live, which must be what it gets on replay."""
    log = MemoryLog()
    live = run(iter(effect), World({Effect: lambda _: result}), log=log)
    text = json.dumps([log.events[0].request, log.events[0].result], ensure_ascii=False)
    text.encode()
    replayed = effect.decode(json.loads(text)[1])
    np.testing.assert_equal(replayed, live)
    return live


@given(texts)
def test_text(text: str) -> None:
    assert through_log(Chat("agent", [user(text)]), text) == text
    assert through_log(AskUser(text), text) == text
    assert through_log(Say(text), None) is None


@given(st.builds(Reply, thought=texts, weights=st.dictionaries(texts, numbers)))
def test_schema(reply: Reply) -> None:
    assert through_log(Chat("agent", [user("?")], Reply), reply) == reply


def test_schema_with_alias() -> None:
    reply = Reply.model_validate({"thought": "", "next-action": 4})
    assert through_log(Chat("agent", [user("?")], Reply), reply).action == 4


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    by_id: dict[int, set[str]]
    score: float

    @computed_field  # type: ignore[prop-decorator]
    @property
    def best(self) -> int:
        return max(self.by_id)


def test_schema_with_what_json_has_not() -> None:
    reply = Strict(by_id={3: {"a"}, 7: set()}, score=float("inf"))
    back = through_log(Chat("agent", [user("?")], Strict), reply)
    assert back == reply and back.best == 7


@given(jsons, texts, numbers, st.booleans(), st.dictionaries(texts, jsons, max_size=3))
def test_act(action: Any, text: str, reward: float, done: bool, info: dict[str, Any]) -> None:
    seen = Observation(text=text, reward=reward, done=done, info=info)
    assert through_log(Act(action), seen) == seen
    assert through_log(Remember(action), None) is None
    assert through_log(Say(text, meta=info), None) is None


@given(st.lists(st.builds(Evidence, id=texts, text=texts, score=numbers), max_size=4))
def test_search(found: list[Evidence]) -> None:
    assert through_log(Search("茶"), found) == found


@given(
    st.datetimes(
        timezones=st.none()
        | st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
    )
)
def test_now(now: datetime) -> None:
    assert through_log(Now(), now) == now


@given(st.integers(0, 3), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_embed(n: int, dim: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(n, dim))
    back = through_log(Embed(("あ",) * n), vectors)
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, vectors.astype(np.float32))


@pytest.mark.parametrize(
    ("effect", "result"),
    [
        (AskUser("?"), 3),
        (Chat("agent", []), None),
        (Chat("agent", [], Reply), {"thought": ""}),
        (Act(1), "done"),
        (Search("?"), ["text"]),
        (Now(), "2026-01-01"),
    ],
)
def test_a_handler_that_gives_something_else_is_named(effect: Effect[Any], result: Any) -> None:
    log = MemoryLog()
    with pytest.raises(FlowError, match=f"handler of {type(effect).__name__} gave") as caught:
        run(iter(effect), World({Effect: lambda _: result}), log=log)
    assert repr(result) in str(caught.value)
    assert log.events == []


def test_lone_surrogates_become_replacement_characters() -> None:
    cut = json.loads('"お茶\\ud83c"')  # a model's reply that ended inside 🍵
    assert through_log(AskUser(cut), cut) == "お茶\ufffd"
    assert through_log(Chat("agent", [user(cut)]), cut) == "お茶\ufffd"
    assert Act({cut: [cut]}).action == {"お茶\ufffd": ["お茶\ufffd"]}
    assert plain("\ud83c\udf75") == "🍵"


@given(jsons)
def test_plain_copies_and_keeps_json(value: Any) -> None:
    assert plain(value) == value
    assert json.loads(json.dumps(plain(value))) == value


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, {1, 2}, b"bytes"])
def test_what_is_no_json_is_refused_when_the_effect_is_made(value: Any) -> None:
    with pytest.raises(TypeError, match="JSON"):
        Act(value)
    with pytest.raises(TypeError, match="JSON"):
        Remember([value])


def test_effects_do_not_share_what_can_change() -> None:
    item: dict[str, Any] = {"notes": ["a"]}
    effects = [Act(item), Remember(item), Say("", meta=item)]
    item["notes"].append("b")
    assert effects[0].action == effects[1].item == effects[2].meta == {"notes": ["a"]}  # type: ignore[attr-defined]


def test_request_of_chat_holds_all_that_changes_the_reply() -> None:
    base = Chat("agent", [user("a")])
    others: list[Effect[Any]] = [
        Chat("judge", [user("a")]),
        Chat("agent", [user("b")]),
        Chat("agent", [user("a")], Reply),
        Chat("agent", [user("a")], sampling=Sampling(temperature=0.0)),
    ]
    assert all(other.request() != base.request() for other in others)
