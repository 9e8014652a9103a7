"""What a person does on the page of a conversation."""

from __future__ import annotations

import re

from httpx2 import Client

from waiting import until


def page(client: Client, address: str, mark: str = 'name="step"', *, lines: int = 0) -> str:
    """The page, once it holds the mark (a question that waits) and so many lines of naisei's."""

    def shown() -> str:
        text = client.get(address).text
        return text if text.count('<li class="line"') >= lines and mark in text else ""

    return until(shown)


def answer(client: Client, address: str, text: str = "", *, lines: int = 0, **fields: str) -> int:
    """What the server says to an answer to the question that waits, after so many lines."""
    step = re.search(r'name="step" value="([^"]+)"', page(client, address, lines=lines))
    assert step is not None
    given = {"step": step[1], **({"text": text} if text else {}), **fields}
    id = address.rpartition("/")[2]
    return client.post(f"/conversations/{id}/answer", data=given).status_code


def say(client: Client, address: str, text: str, *, lines: int = 0) -> None:
    assert answer(client, address, text, lines=lines) == 204
