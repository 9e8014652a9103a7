"""Formats a reply as lines: message and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from naisei.intent.schemas import Citation, Reply
from naisei.lang import say
from naisei.runs.lines import Line, Mark, as_text
from naisei.terminal import visible


def reply_line(reply: Reply, passage: Callable[[Citation], str]) -> Line:
    """Format a reply for a page. passage: returns the address of a citation's passage."""
    asks = reply.route == "ask"
    number, _, meaning = cases()[reply.case - 1].partition(" ")
    marks = [Mark(number, word=meaning)]
    if reply.failures:
        told = say(
            "モデルの一部が応答せず、規則で補いました", "a model failed in part; rules took over"
        )
        marks.append(Mark(told, "warn"))
    under = [
        replace(_source(c, c.title or c.path), link=passage(c), into="passage", under=_opened(c))
        for c in reply.citations
    ]
    if reply.query and reply.query != reply.message:
        under.insert(0, Line(reply.query, say("探した問い", "searched for"), tone="dim"))
    unsupported = say("出典で裏付けられない文", "not supported")
    under += [Line(one.sentence, unsupported, tone="warn") for one in reply.unsupported]
    who = say("聞き返し", "asks back") if asks else say("答え", "answers")
    return Line(reply.message, who, marks=tuple(marks), under=tuple(under), rich=True)


def _opened(c: Citation) -> tuple[Line, ...]:
    if not c.url.startswith(("https://", "http://")):
        return ()
    return (Line(say("資料を開く", "open"), link=c.url),)


def terminal_text(reply: Reply) -> str:
    """The message and its sources as terminal text."""
    return visible(as_text([terminal_line(reply)]))


def terminal_line(reply: Reply) -> Line:
    """The message with its sources and notes below it."""
    return Line(reply.message, under=tuple(_source_lines(reply)))


def _source_lines(reply: Reply) -> Iterator[Line]:
    yield from (_source(c, c.path) for c in reply.citations)
    if count := len(reply.unsupported):
        yield Line(
            say(
                f"（出典で確認できない文が {count} つありました）",
                f"({count} sentences were not supported by the sources.)",
            )
        )
    yield from (Line(say(f"（失敗: {why}）", f"(Failed: {why})")) for why in reply.failures)


def sources(reply: Reply | None) -> str:
    """The sources with their quotes."""
    if reply is None or not reply.citations:
        return say("出典はありません。", "There are no sources.")
    quoted = [replace(_source(c, c.path), under=(Line(c.quote),)) for c in reply.citations]
    return visible(as_text(quoted))


def _source(c: Citation, name: str) -> Line:
    where = " › ".join(h for h in c.headings if h != c.title)
    page = say(f" {c.page} ページ", f" p. {c.page}") if c.page is not None else ""
    date = f" ({c.date})" if c.date else ""
    return Line(f"[{c.n}] {name}{page}{date} {where}".rstrip())


def cases() -> tuple[str, ...]:
    """The meaning and action of each case."""
    return (
        say(
            "① 問いがあいまいで、相談らしい → 気持ちや状況を聞く",
            "① unclear, and a consultation: asks about it",
        ),
        say(
            "② 問いがあいまいな質問 → 足りないことを聞く",
            "② an unclear question: asks for what is missing",
        ),
        say("③ あいまいだが、聞くことがない → 探す", "③ unclear, with nothing to ask: searches"),
        say(
            "④ はっきりした相談で、資料にありそう → 資料を探す",
            "④ a clear consultation that the documents may cover: searches",
        ),
        say(
            "⑤ はっきりした相談で、資料になさそう → 聞く",
            "⑤ a clear consultation that they may not cover: asks",
        ),
        say("⑥ はっきりした質問 → 資料を探す", "⑥ a clear question: searches"),
    )
