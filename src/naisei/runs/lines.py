"""An episode as lines: each system renders them once, and every view displays them.

A system converts its results and events to `Line`s. The terminal, the report, notebooks, web pages
and `naisei demo` display them without knowing the system. An effect of any system is displayed as
an `EffectView`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import JsonValue

from naisei.core import Event
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.terminal import Console

Tone = Literal["", "good", "warn", "bad", "dim", "head"]
_STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "dim": "dim",
    "head": "bold cyan",
}
#: Indentation of text under a line.
_INDENT = 2


class Mark(NamedTuple):
    """A short verdict beside a line. hint: its meaning, shown on hover. word: the meaning in the
    reader's language, shown instead of the mark on a page."""

    text: str
    tone: Tone = ""
    hint: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: an utterance, action or finding.

    number: its number in plain text. who: speaker or kind. under: details such as reasons. more:
    details that only pages show, on demand; the line is their summary. mine: spoken by the user,
    or by the second of two speakers. draft: an unused draft. inset: indented in plain text, as a
    step before a line. rich: the text is Markdown. link: target; into: the panel that shows it,
    else a new page.
    """

    text: str = ""
    who: str = ""
    number: str = ""
    tone: Tone = ""
    marks: tuple[Mark, ...] = ()
    under: tuple[Line, ...] = ()
    more: tuple[Line, ...] = ()
    mine: bool = False
    draft: bool = False
    inset: bool = False
    rich: bool = False
    link: str = ""
    into: str = ""


def as_text(lines: Sequence[Line]) -> str:
    """Return plain text: one row per line, details indented below."""
    rows = (
        " " * indent + "".join(text for text, _ in parts).rstrip() for indent, parts in _rows(lines)
    )
    return "\n".join(rows)


def print_lines(lines: Sequence[Line], console: Console, *, most: int = sys.maxsize) -> None:
    """Print to a terminal with Japanese line wrapping. most: maximum number of rows."""
    from rich.text import Text

    from naisei.terminal import print_wrapped

    for indent, parts in _rows(lines):
        if most <= 0:
            console.print(say("…（続きは報告に）", "… (the rest is in the report)"), style="dim")
            return
        row = Text.assemble(" " * indent, *parts)
        most -= print_wrapped(console, row, indent=indent + _INDENT)


def _rows(lines: Sequence[Line], indent: int = 0) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield each row: its indentation, and its text segments with their styles."""
    for line in lines:
        own = indent + _INDENT * (line.draft or line.inset)
        style = "dim" if line.draft else _STYLES[line.tone]
        first, *rest = line.text.split("\n")
        if line.who and rest:  # a multi-line text goes below
            first, rest = "", [first, *rest]
        who = f"{line.who}: " if line.who and first else line.who
        parts = [(f"{line.number} " if line.number else "", "dim"), (who, "bold"), (first, style)]
        if line.marks:
            told = " · ".join(mark.text for mark in line.marks)
            parts.append((f"  [{told}]", _STYLES[line.marks[0].tone]))
        yield own, parts
        yield from ((own + _INDENT * bool(line.who), [(row, style)]) for row in rest)
        yield from _rows(line.under, own + _INDENT)


def lines_html(lines: Sequence[Line]) -> str:
    """Return the lines as HTML for a notebook."""
    from naisei.runs.report import templates

    return templates().get_template("lines.html").render(lines=lines)


def folded(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with unused drafts folded under the final line, as on pages."""
    out: list[Line] = []
    drafts: list[Line] = []
    for line in lines:
        if line.draft:
            drafts.append(line)
            continue
        if drafts:
            told = say(f"通らなかった下書き {len(drafts)}つ", f"{len(drafts)} rejected")
            line = replace(line, under=(*line.under, Line(told, tone="dim", more=tuple(drafts))))
            drafts = []
        out.append(line)
    return out + drafts


#: Maximum length of text shown unfolded, and of JSON shown on one line.
_LONG, _ONE_LINE = 4_000, 80


@dataclass(frozen=True, slots=True)
class EffectView:
    """One effect: request, result, cost.

    kind: its CSS class. who, head: its title. asked, answer: request and result; either may be
    empty. details: folded parts, each a title and a text.
    """

    step: str
    kind: str
    who: str
    head: str
    asked: str = ""
    answer: str = ""
    details: tuple[tuple[str, str], ...] = ()
    failure: str = ""
    cost: str = ""


def effect_view(event: Event) -> EffectView:
    """Return a readable view of an event."""
    request: Any = without_vectors(event.request)
    result: Any = without_vectors(event.result)
    made = _KINDS.get(event.kind, _other)(request, result, event.kind)
    return EffectView(
        step=event.where.step,
        kind=event.kind if event.kind in _KINDS else "other",
        failure=": ".join(event.failure) if event.failure else "",
        cost=_cost(event),
        **made,
    )


def effect_lines(event: Event) -> tuple[Line, ...]:
    """Return an effect of any system as lines: request and result."""
    view = effect_view(event)
    marks = (Mark(view.head, "dim"),) if view.head else ()
    asked = (Line(view.asked, view.who, marks=marks),) if view.asked else ()
    alone = not view.asked
    answer = Line(
        view.answer,
        view.who if alone else "",
        marks=marks if alone else (),
        mine=view.kind == "ask",
    )
    failed = (Line(view.failure, tone="bad"),) if view.failure else ()
    return (*asked, *((answer,) if view.answer or (alone and not failed) else ()), *failed)


def prompt_text(event: Event) -> list[tuple[str, str]]:
    """Return the role and text of each message of a `chat` effect; empty for other effects."""
    if event.kind != "chat":
        return []
    request: Any = event.request
    return [(str(m["role"]), str(m["content"])) for m in request["messages"]]


def without_vectors(value: JsonValue) -> JsonValue:
    """Return the value with encoded vectors elided."""
    if isinstance(value, list):
        return [without_vectors(v) for v in value]
    if not isinstance(value, dict):
        return value
    shape = value.get("shape")
    if set(value) == {"shape", "f4"} and isinstance(shape, list) and len(shape) == 2:
        return f"{shape[0]} × {shape[1]}-dim vector"
    return {key: without_vectors(v) for key, v in value.items()}


def _chat(request: Any, result: Any, kind: str) -> dict[str, Any]:
    return {
        "who": str(request["role"]),
        "head": say("モデルの返答", "a model's reply"),
        "answer": "" if result is None else _fields(result),
    }


def _ask(request: Any, result: Any, kind: str) -> dict[str, Any]:
    return {
        "who": say("ユーザーへの質問", "to the user"),
        "head": "",
        "asked": _text(request["question"]),
        "answer": "" if result is None else _text(result),
    }


def _act(request: Any, result: Any, kind: str) -> dict[str, Any]:
    seen = result if isinstance(result, dict) else {}
    ends = [say("終わり", "last step")] if seen.get("done") else []
    reward = [f"{say('報酬', 'reward')} {seen['reward']:g}"] if seen.get("reward") else []
    info = seen.get("info")
    return {
        "who": say("行動", "action"),
        "head": f"({', '.join([*reward, *ends])})" if reward or ends else "",
        "asked": _text(request["action"]),
        "answer": str(seen.get("text", "")),
        "details": (("info", _text(info)),) if info else (),
    }


def _say(request: Any, result: Any, kind: str) -> dict[str, Any]:
    meta, speaker = request.get("meta"), request["speaker"]
    return {
        "who": {"": say("発話", "said"), "thought": say("考え", "thought")}.get(speaker, speaker),
        "head": "",
        "answer": str(request["text"]),
        "details": ((say("付記", "with it"), _text(meta)),) if meta else (),
    }


def _search(request: Any, result: Any, kind: str) -> dict[str, Any]:
    hits = result if isinstance(result, list) else []
    return {
        "who": say("検索", "search"),
        "head": say(f"{len(hits)} 件", f"{len(hits)} found"),
        "asked": str(request["query"]),
        "details": tuple((f"{hit['score']:.3f} {hit['id']}", _text(hit["text"])) for hit in hits),
    }


def _remember(request: Any, result: Any, kind: str) -> dict[str, Any]:
    item = request["item"]
    text = item.get("text") if isinstance(item, dict) else None
    return {
        "who": say("覚えたこと", "remembered"),
        "head": str(request["memory"]),
        "answer": _fields(item) if text is None else str(text),
        "details": () if text is None else ((say("記録", "record"), _fields(item)),),
    }


def _recall(request: Any, result: Any, kind: str) -> dict[str, Any]:
    entries = [each.get("entry", each) for each in result or ()]
    return {
        "who": say("思い出したこと", "recalled"),
        "head": say(f"{len(entries)} 件", f"{len(entries)} found"),
        "answer": "\n".join(str(entry["text"]) for entry in entries),
        "details": _other(request, result, kind)["details"],
    }


def _embed(request: Any, result: Any, kind: str) -> dict[str, Any]:
    texts = request["texts"]
    return {
        "who": say("ベクトル化", "embedding"),
        "head": say(f"{len(texts)} 文", f"texts: {len(texts)}"),
        "answer": "" if result is None else _text(result),
        "details": ((say("文", "texts"), "\n".join(map(str, texts))),),
    }


def _now(request: Any, result: Any, kind: str) -> dict[str, Any]:
    return {"who": say("時刻", "the time"), "head": str(result or "")}


def _other(request: Any, result: Any, kind: str) -> dict[str, Any]:
    return {
        "who": kind,
        "head": "",
        "details": (
            (say("求めたもの", "asked"), _text(request)),
            (say("結果", "result"), _text(result)),
        ),
    }


_KINDS = {
    "chat": _chat,
    "ask": _ask,
    "act": _act,
    "say": _say,
    "search": _search,
    "remember": _remember,
    "recall": _recall,
    "recent": _recall,
    "embed": _embed,
    "now": _now,
}


def _fields(value: JsonValue) -> str:
    """Format a structured reply, one field per line."""
    if not isinstance(value, dict):
        return _text(value)
    return "\n".join(f"{key}: {_compact(inner)}" for key, inner in value.items())


def _compact(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text):,})"


def _text(value: JsonValue) -> str:
    text = _compact(value)
    if not isinstance(value, str) and len(text) > _ONE_LINE:
        text = json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text):,})"


def _cost(event: Event) -> str:
    parts = []
    if (used := event.usage) is not None and (used.tokens or used.cached):
        parts.append(used.model)
        tokens = f"{used.input_tokens:,} + {used.output_tokens:,}"
        parts.append(say(f"{tokens} トークン", f"{tokens} tokens"))
        if used.cached:
            parts.append(say("キャッシュから", "from the cache"))
        if used.usd:
            parts.append(f"${used.usd:.4f}")
        if used.attempts > 1:
            parts.append(say(f"{used.attempts} 回目", f"{used.attempts} attempts"))
    if event.seconds >= 0.005:
        parts.append(say(f"{event.seconds:.2f} 秒", f"{event.seconds:.2f} s"))
    return " · ".join(parts)
