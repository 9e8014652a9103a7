"""Personas as models of the proxy, through the openai client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from doors.test_proxy import proxied, said, streamed, upstream  # noqa: F401
from servers.openai_server import OpenAIServer

ROBOT = "naisei/robot"


def test_a_conversation_with_its_second_request(upstream: OpenAIServer) -> None:  # noqa: F811
    with proxied(upstream, model=None) as client:
        assert ROBOT in [m.id for m in client.models.list()]
        talk = ["リモコンを取ってきて"]
        talk.append(said(client, *talk, name=ROBOT))
        assert "リモコン" in talk[-1]
        talk.append("違う、バナナのほう")
        corrected = said(client, *talk, name=ROBOT)
        assert "バナナ" in corrected
        assert said(client, *talk, name=ROBOT) == corrected, "the same request again"
        # Another answer in the middle goes on from there.
        talk[-1] = "ありがとう"
        assert "バナナ" not in said(client, *talk, name=ROBOT)
        assert not upstream.requests, "no upstream is asked"
        assert "".join(streamed(client, "リモコンを取ってきて", ROBOT)) == talk[1]


def test_a_question_is_answered_or_the_wish_taken_back(upstream: OpenAIServer) -> None:  # noqa: F811
    with proxied(upstream, model=None) as client:
        talk = ["お腹が空いたな"]
        talk.append(said(client, *talk, name=ROBOT))
        assert "バナナ" in said(client, *talk, "バナナ", name=ROBOT)
        declined = said(client, *talk, "やっぱりいいや", name=ROBOT)
        assert "持ってきました" not in declined


def test_two_users_and_a_restart(upstream: OpenAIServer, tmp_path: Path) -> None:  # noqa: F811
    state: Any = {"model": None, "state": tmp_path / "state.sqlite"}
    talk = ["スマホを持ってきて"]
    with proxied(upstream, **state) as client:
        talk.append(said(client, *talk, name=ROBOT, user="hana"))
        # What somebody else was told leads to no correction here.
        taken = said(client, "違う、バナナのほう", name=ROBOT, user="taro")
        assert taken != talk[-1]
    with proxied(upstream, **state) as client:
        assert "バナナ" in said(client, *talk, "違う、バナナのほう", name=ROBOT, user="hana")


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("naisei/../robot", [{"role": "user", "content": "やあ"}]),
        (ROBOT, [{"role": "assistant", "content": "やあ"}]),
        (ROBOT, [{"role": "system", "content": "短く"}]),
    ],
)
def test_what_cannot_be_answered_is_refused(
    upstream: OpenAIServer,  # noqa: F811
    name: str,
    messages: Any,
) -> None:
    with proxied(upstream, model=None) as client, pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model=name, messages=messages)
