"""The scripted model: rules, fillers, token counts, and mistakes in script files."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from models.helpers import Choice, perform
from naisei.core import InputError, Message, Usage, assistant, system, user
from naisei.models.gateway import Gateway
from naisei.models.providers.scripted import fill
from naisei.models.registry import open_roles


def scripted(folder: Path, text: str | list[dict[str, Any]]) -> Gateway:
    path = folder / "script.jsonl"
    if not isinstance(text, str):
        text = "\n".join(json.dumps(rule, ensure_ascii=False) for rule in text)
    path.write_text(text, "utf-8")
    return Gateway(open_roles(f"scripted:{path}"))


RULES: list[dict[str, Any]] = [
    {"contains": "休憩", "reply": "お茶"},
    {"contains": ["庭", "水"], "in": "conversation", "reply": "水やり"},
    {"regex": "^今日.*です$", "reply": "晴れ"},
    {"contains": "執事", "in": "system", "reply": "かしこまりました"},
    {"turn": 1, "reply": "二度目"},
    {"schema": "Choice", "fill": {"action": 7}},
    {"reply": "既定"},
]


@pytest.mark.parametrize(
    ("talk", "reply"),
    [
        ([user("ちょっと休憩")], "お茶"),
        ([user("庭へ"), assistant("はい"), user("水を")], "水やり"),
        ([user("庭へ")], "既定"),
        ([user("今日は雨です")], "晴れ"),
        ([system("執事です"), user("あ")], "かしこまりました"),
        ([user("執事")], "既定"),
        ([user("a"), assistant("b"), user("c")], "二度目"),
        ([user("休憩"), assistant("b"), user("c")], "二度目"),
    ],
)
def test_the_first_rule_that_fits_speaks(tmp_path: Path, talk: list[Message], reply: str) -> None:
    assert perform(scripted(tmp_path, RULES), talk).value == reply


def test_a_schema_is_filled_around_what_is_given(tmp_path: Path) -> None:
    done = perform(scripted(tmp_path, RULES), "a", Choice)
    assert done.value == Choice(thought="文", action=7)


def test_replies_follow_the_turns_of_the_conversation(tmp_path: Path) -> None:
    talk: list[Message] = []
    said = []
    for _ in range(4):
        talk.append(user("次は？"))
        through = scripted(tmp_path, [{"replies": ["一", "二", "三"]}])
        said.append(perform(through, talk).value)
        talk.append(assistant(said[-1]))
    assert said == ["一", "二", "三", "三"]


def test_replies_by_hash_are_spread_and_the_same_again(tmp_path: Path) -> None:
    rules = [{"replies": ["一", "二", "三"], "by": "hash"}]

    def all_replies() -> list[str]:
        return [perform(scripted(tmp_path, rules), f"問{i}").value for i in range(30)]

    first = all_replies()
    assert first == all_replies()
    assert set(first) == {"一", "二", "三"}


def test_tokens_are_characters_or_as_given(tmp_path: Path) -> None:
    rules = [
        {"contains": "指定", "reply": "はい", "tokens": {"input": 100, "output": 9}},
        {"contains": "半分", "reply": "はい", "tokens": {"output": 9}},
        {"reply": {"thought": "あ", "action": 1}},
    ]
    name = f"scripted:{tmp_path / 'script.jsonl'}"

    def used(talk: list[Message], schema: type[BaseModel] | None = None) -> tuple[int, int]:
        usage = perform(scripted(tmp_path, rules), talk, schema).usage
        assert usage == Usage(
            role="agent",
            model=name,
            calls=1,
            attempts=1,
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            usd=0.0,
        )
        return usage.input_tokens, usage.output_tokens

    assert used([user("指定")]) == (100, 9)
    assert used([user("半分です")]) == (4, 9)
    assert used([system("規則。"), user("a b")], Choice) == (
        6,
        len('{"thought": "あ", "action": 1}'),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"reply": "a"}\n{"reply": \n', r"script\.jsonl:2: is no JSON"),
        ('\n{"repli": "a"}', r"script\.jsonl:2: "),
        ('{"contains": "a"}', r":1: needs exactly one of reply, replies and fill"),
        ('{"reply": "a", "fill": {}}', r":1: needs exactly one of"),
        ('{"replies": []}', r":1: replies is empty"),
        ('{"reply": "a", "regex": "("}', r":1: regex '\('"),
        ('{"reply": "a", "tokens": {"input": -1}}', r":1: tokens\.input: "),
        ('["a"]', r":1: "),
        ("", "holds no rule"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        scripted(tmp_path, text)


def test_files_that_are_no_scripts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        open_roles(f"scripted:{tmp_path / 'none.jsonl'}")
    with pytest.raises(InputError, match="a folder"):
        open_roles(f"scripted:{tmp_path}")
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\x80\x81\xff\x00abc")
    with pytest.raises(InputError, match="no text file"):
        open_roles(f"scripted:{binary}")


def test_a_request_that_no_rule_fits_is_a_mistake_of_the_script(tmp_path: Path) -> None:
    through = scripted(tmp_path, [{"contains": "甲", "reply": "乙"}, {"fill": {}}])
    with pytest.raises(InputError, match=r"no rule fits.*丁.*add a rule"):
        perform(through, "丁")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    size: Annotated[int, Field(ge=3)]
    note: str = "optional"


class Ask(BaseModel):
    kind: Literal["ask"]
    question: Annotated[str, Field(min_length=4)]


class Whole(BaseModel):
    colour: Colour
    part: Part
    parts: Annotated[list[Part], Field(min_length=2)]
    choice: Part | Ask
    maybe: int | None
    ratio: Annotated[float, Field(gt=0, le=1)]
    flag: bool
    pair: tuple[int, str]


def test_the_filler_satisfies_the_schema() -> None:
    value = fill(Whole.model_json_schema())
    whole = Whole.model_validate(value)
    assert whole.colour is Colour.RED and whole.part.size == 3 and len(whole.parts) == 2


def test_the_filler_keeps_what_is_given() -> None:
    given = {"colour": "blue", "choice": {"kind": "ask"}, "maybe": None, "parts": []}
    value = fill(Whole.model_json_schema(), given)
    assert isinstance(value, dict)
    assert value["colour"] == "blue" and value["maybe"] is None and value["parts"] == []
    assert value["choice"] == {"kind": "ask", "question": "文文文文"}
