"""The cache of replies: what a call is, and what it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.helpers import Choice, gateway, perform
from naisei.core import Chat, InputError, Sampling, Usage, Where, user
from naisei.models.cache import ReplyCache, cache_key
from naisei.models.registry import open_model
from servers.faults import Faults
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]
HERE = Where("7", 1, (2, 0))
PLAIN: Chat[Any] = Chat("agent", [user("何を？")], Choice)
URL = "http://127.0.0.1:1/v1"


def key(
    chat: Chat[Any] = PLAIN,
    where: Where = HERE,
    sampling: Sampling = Sampling(temperature=0.7),
    spec: str = f"openai-compatible:m@{URL}",
) -> str:
    return cache_key(open_model(spec), chat, sampling, where)


def test_the_key_holds_everything_that_makes_a_call() -> None:
    class Other(Choice):
        more: int

    others = [
        key(where=Where("8", 1, (2, 0))),
        key(where=Where("7", 2, (2, 0))),
        key(where=Where("7", 1, (2, 1))),
        key(where=Where("7", 1, (2,))),
        key(sampling=Sampling(temperature=0.8)),
        key(sampling=Sampling(temperature=0.7, seed=1)),
        key(Chat("agent", [user("何か？")], Choice)),
        key(Chat("judge", [user("何を？")], Choice)),
        key(Chat("agent", [user("何を？")], Other)),
        key(Chat("agent", [user("何を？")])),
        key(spec=f"openai-compatible:n@{URL}"),
        key(spec="openai-compatible:m@http://127.0.0.1:2/v1"),
    ]
    assert len({key(), *others}) == len(others) + 1
    assert key() == key()


def test_a_hit_costs_nothing(openai_server: Start, tmp_path: Path) -> None:
    server = openai_server()
    path = tmp_path / "deep" / "cache.sqlite"
    first = perform(gateway(server, cache=ReplyCache(path)), schema=Choice)
    again = perform(gateway(server, cache=ReplyCache(path)), schema=Choice)
    assert server.calls == 1
    assert again.value == first.value and isinstance(again.value, Choice)
    name = f"openai-compatible:test@{server.url}"
    assert again.usage == Usage(role="agent", model=name, cached=True)
    assert first.usage is not None and not first.usage.cached


def test_the_way_structure_was_asked_for_does_not_matter(
    openai_server: Start, tmp_path: Path
) -> None:
    reply = '{"thought": "あ", "action": 1}'
    server = openai_server(lambda m, s: reply, refuse_modes=("json_schema",))
    for _ in range(2):
        perform(gateway(server, cache=ReplyCache(tmp_path / "c")), schema=Choice)
    assert server.calls == 2  # the refusal, and the one reply


def test_failures_are_not_kept(openai_server: Start, tmp_path: Path) -> None:
    from naisei.core import InstrumentFailure

    broken = openai_server(faults=Faults(rate=1.0, kinds=("500",)))
    cache = tmp_path / "c"
    for _ in range(2):
        with pytest.raises(InstrumentFailure):
            perform(gateway(broken, cache=ReplyCache(cache)))
    assert broken.calls == 20


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("買い物\n" * 200, "utf-8")
    with pytest.raises(InputError, match=r"notes\.txt"):
        ReplyCache(path)
    assert path.read_text("utf-8").startswith("買い物")
