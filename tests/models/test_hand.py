"""`hand:`: people in the place of models, by form, in the terminal; several at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from commandline import Naisei
from naisei.core import Chat, InputError, Where, system, user
from naisei.models.gateway import Gateway
from naisei.models.providers.hand import Ask, Mailbox, reply_of
from naisei.models.registry import open_roles
from naisei.schema import model_field


class Item(BaseModel):
    name: str = model_field("名前", "Name")


class Reply(BaseModel):
    thought: str = model_field("理由", "Reason")
    choice: Literal["ask", "act"] = model_field("どちらか", "Which")
    sure: bool = model_field("確かか", "Whether sure")
    numbers: tuple[int, ...] = model_field("番号", "Numbers")
    items: tuple[Item, ...] = model_field("物", "Things")


FORM = {
    "thought": "迷う\n少し",
    "choice": "act",
    "sure": "true",
    "numbers": "3\n5",
    "items": '[{"name": "茶"}]',
}


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mailbox:
    monkeypatch.setenv("NAISEI_HAND", str(tmp_path / "hand"))
    return Mailbox()


async def seen(box: Mailbox, n: int) -> list[Ask]:
    while len(found := box.waiting()) < n:
        await asyncio.sleep(0)
    return found


def test_two_people_answer_at_once_and_a_draft_is_kept(box: Mailbox) -> None:
    async def go() -> list[Any]:
        gateway = Gateway(open_roles(None, {"judge": "hand:aya", "speaker": "hand:ken"}))
        told_to = [system("規則です。"), user("どうしますか")]
        calls = [
            gateway.perform(Chat("judge", told_to, Reply), Where("1", 0, (0,))),
            gateway.perform(Chat("speaker", told_to), Where("1", 0, (1,))),
        ]
        tasks = [asyncio.ensure_future(call) for call in calls]
        waiting = {ask.role: ask for ask in await seen(box, 2)}
        judge = waiting["judge"]
        assert (judge.who, list(judge.fields)) == ("aya", list(FORM))
        box.keep(judge.id, {"thought": "迷う"})
        assert box.draft(judge.id) == {"thought": "迷う"}
        box.answer(waiting["speaker"].id, reply_of(waiting["speaker"], {"text": "やろう"}))
        box.answer(judge.id, reply_of(judge, FORM))
        return await asyncio.gather(*tasks)

    judged, said = asyncio.run(go())
    assert judged.value == Reply.model_validate(
        {"thought": "迷う\n少し", "choice": "act", "sure": True, "numbers": [3, 5]}
        | {"items": [{"name": "茶"}]}
    )
    assert (said.value, said.usage.model) == ("やろう", "hand:ken")
    assert judged.usage.sent[0]["reply"]["by"] == "aya"
    assert list(box.root.iterdir()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("choice", ""), ("choice", "x"), ("sure", "たぶん"), ("numbers", "三"), ("items", "茶")],
)
def test_what_does_not_fit_is_told_at_its_field(field: str, value: str) -> None:
    from naisei.schema import json_schema

    ask = Ask(
        id="0" * 16, who="", role="r", at="", asked=0, pid=1, messages=(),
        form=json_schema(Reply, "ja"),
    )  # fmt: skip
    with pytest.raises(InputError) as error:
        reply_of(ask, {**FORM, field: value})
    assert error.value.place == field


def test_a_request_that_nobody_waits_for_is_not_shown(box: Mailbox) -> None:
    dead = Ask(id="a" * 16, who="", role="r", at="", asked=0, pid=2**22 + 1, messages=())
    box.put(dead)
    assert box.waiting() == [] and box.get("../../etc/passwd") is None
    with pytest.raises(InputError):
        box.answer(dead.id, "x")


def test_the_terminal_asks_field_by_field(
    box: Mailbox, naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from naisei.schema import json_schema

    ask = Ask(
        id="b" * 16, who="aya", role="judge", at="1#0 step 0", asked=0, pid=os.getpid(),
        messages=({"role": "user", "content": "どうしますか"},), form=json_schema(Reply, "ja"),
    )  # fmt: skip
    box.put(ask)
    box.keep(ask.id, {"thought": "下書き"})
    given = iter(["", "どちらでも", "true", "3\\n5", '[{"name": "茶"}]', "", "act", "", "", ""])
    monkeypatch.setattr("builtins.input", lambda prompt: next(given))
    code, out, _ = naisei("models", "hand", "aya", "--now")
    assert code == 0 and "どうしますか" in out and "choice" in out
    answer = json.loads(str(box.taken(ask.id)))
    assert answer == {
        "thought": "下書き", "choice": "act", "sure": True, "numbers": [3, 5],
        "items": [{"name": "茶"}],
    }  # fmt: skip
