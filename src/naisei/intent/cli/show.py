"""A reply in the terminal, and as one line of JSON."""

from __future__ import annotations

import json

from naisei.intent.schemas import Citation, Reply
from naisei.lang import say
from naisei.terminal import visible

__all__ = ["line", "shown", "sources"]


def line(reply: Reply, **more: object) -> str:
    """The reply as one line of JSON, with more fields beside its own."""
    return json.dumps({**reply.model_dump(mode="json"), **more}, ensure_ascii=False)


def shown(reply: Reply) -> str:
    """What a person reads: the message and its sources, safe for a terminal."""
    lines = [reply.message, *map(_source, reply.citations)]
    if reply.unsupported:
        count = len(reply.unsupported)
        lines.append(
            say(
                f"（出典で確認できない文が {count} つありました）",
                f"({count} sentences were not borne out by the sources.)",
            )
        )
    lines += [say(f"（失敗: {why}）", f"(Failed: {why})") for why in reply.failures]
    return visible("\n".join(lines))


def sources(reply: Reply | None) -> str:
    """The sources with what is quoted of them."""
    if reply is None or not reply.citations:
        return say("出典はありません。", "There are no sources.")
    return visible("\n".join(f"{_source(c)}\n{_indented(c.quote)}" for c in reply.citations))


def _source(c: Citation) -> str:
    where = " › ".join(h for h in c.headings if h != c.title)
    page = say(f" {c.page} ページ", f" p. {c.page}") if c.page is not None else ""
    date = f" ({c.date})" if c.date else ""
    return f"  [{c.n}] {c.path}{page}{date} {where}".rstrip()


def _indented(text: str) -> str:
    return "\n".join(f"      {row}" for row in text.split("\n"))
