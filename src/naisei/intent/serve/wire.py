"""A reply as it goes over the wire: texts made plain, names as `naisei intent ask` has them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from pydantic import JsonValue

from naisei.http.clean import clean, cleaned
from naisei.intent.schemas import Reply

__all__ = ["pieces", "plain_reply", "with_sources"]

#: Characters of one piece of a streamed text.
_PIECE = 24


def plain_reply(reply: Reply) -> dict[str, JsonValue]:
    """The reply as JSON, without markup. Which chunks were found beside those cited, and what
    failed on the way, are the operator's matter: `degraded` says that something did. Each citation
    has a `link` to its passage."""
    data: Any = cleaned(reply.model_dump(mode="json", exclude={"hits", "failures"}))
    for citation in data["citations"]:
        citation["link"] = f"/api/passage/{quote(citation['chunk'], safe='')}"
    return {**data, "degraded": bool(reply.failures)}


def with_sources(reply: Reply) -> str:
    """The message with a list of its sources, for front ends that show text only."""
    lines = []
    for citation in reply.citations:
        where = " > ".join(citation.headings)
        page = f" p. {citation.page}" if citation.page else ""
        date = f" ({citation.date})" if citation.date else ""
        lines.append(f"[{citation.n}] {citation.path}{page}{date}{' ' + where if where else ''}")
    return clean("\n\n".join([reply.message, "\n".join(lines)] if lines else [reply.message]))


def pieces(text: str) -> list[str]:
    """The text in pieces, as a stream sends it."""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
