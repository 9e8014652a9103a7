"""One episode as a transcript: every effect, what it cost, and, unfolded, what was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from naisei.core import Event
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.report import svg_source
from naisei.runs.show import (
    EpisodeLine,
    Wanted,
    episode_page,
    find_episode,
    summary_or_none,
    without_vectors,
)
from naisei.web.conversations.kind import WHERE
from naisei.web.html import page_response
from naisei.web.pages.runs.lists import looking, place_of

__all__ = ["Told", "events", "of_conversation", "prompt", "prompt_text", "show", "told"]


#: Characters of a text that are shown at once.
_LONG = 4_000


@dataclass(frozen=True, slots=True)
class Told:
    """One effect. number: its place in the episode, from 0. kind: its class in the style sheet.
    who, head: what it is. asked, answer: what went out and what came back, either may be empty.
    details: what is folded, title and text. prompt: whether it has one to be fetched."""

    number: int
    step: str
    depth: int
    kind: str
    who: str
    head: str
    asked: str = ""
    answer: str = ""
    details: tuple[tuple[str, str], ...] = ()
    prompt: bool = False
    failure: str = ""
    cost: str = ""


def told(events: Sequence[Event], start: int = 0) -> list[Told]:
    """Events in order. start: the number of the first."""
    return [_told(event, number) for number, event in enumerate(events, start)]


def prompt_text(event: Event) -> list[tuple[str, str]]:
    """Role and text of each message of a `chat` effect."""
    request: Any = event.request
    return [(str(m["role"]), str(m["content"])) for m in request["messages"]]


def _told(event: Event, number: int) -> Told:
    request: Any = without_vectors(event.request)
    result: Any = without_vectors(event.result)
    made = _KINDS.get(event.kind, _other)(request, result, event.kind)
    return Told(
        number=number,
        step=event.where.step,
        depth=min(len(event.where.path) - 1, 4),
        kind=event.kind if event.kind in _KINDS else "other",
        failure=": ".join(event.failure) if event.failure else "",
        cost=_cost(event),
        **made,
    )


def _chat(request: Any, result: Any, kind: str) -> dict[str, Any]:
    return {
        "who": str(request["role"]),
        "head": say("モデルの返答", "a model's reply"),
        "answer": "" if result is None else _fields(result),
        "prompt": True,
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
    ends = [say("終わり", "the end")] if seen.get("done") else []
    reward = [f"{say('報酬', 'reward')} {seen['reward']:g}"] if seen.get("reward") else []
    info = seen.get("info")
    return {
        "who": say("行動", "action"),
        "head": " · ".join([*reward, *ends]),
        "asked": _text(request["action"]),
        "answer": str(seen.get("text", "")),
        "details": (("info", _text(info)),) if info else (),
    }


def _say(request: Any, result: Any, kind: str) -> dict[str, Any]:
    meta = request.get("meta")
    return {
        "who": request["speaker"] or say("発話", "said"),
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
    return {
        "who": say("記憶", "memory"),
        "head": str(request["memory"]),
        "answer": _fields(request["item"]),
    }


def _embed(request: Any, result: Any, kind: str) -> dict[str, Any]:
    texts = request["texts"]
    return {
        "who": say("ベクトル化", "embedding"),
        "head": say(f"{len(texts)} 文", f"{len(texts)} texts"),
        "details": ((_text(result), "\n".join(map(str, texts))),),
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
    "embed": _embed,
    "now": _now,
}


def _fields(value: JsonValue) -> str:
    """A structured reply, a field a line."""
    if not isinstance(value, dict):
        return _text(value)
    return "\n".join(f"{key}: {_compact(inner)}" for key, inner in value.items())


def _compact(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text):,})"


def _text(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
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


_EVENTS_AT_ONCE = 200


async def show(request: Request) -> Response:
    """`GET /runs/episode/<run>?e=<episode>`."""
    place = place_of(request)
    asked = request.query_params.get("e", "")

    def look(directory: RunDirectory) -> dict[str, Any]:
        name = find_episode(directory, asked)
        log = directory.log.read(name)
        line = _line(directory, name)
        kept = summary_or_none(directory)
        figure = kept.figures.get(name, "")
        return {
            "name": name,
            "line": line,
            "result": _pretty(line.result) if line and line.result is not None else "",
            "summary": dict(kept.transcripts).get(name, ""),
            "figure": svg_source(figure) if figure else "",
            "frozen": directory.frozen,
            "told": told(log[:_EVENTS_AT_ONCE]),
            "next": _EVENTS_AT_ONCE if len(log) > _EVENTS_AT_ONCE else None,
            "effects": len(log),
        }

    found = await looking(place, look)
    return page_response(request, "runs/episode.html", place=place, **found)


async def events(request: Request) -> Response:
    """`GET /runs/events/<run>?e=<episode>&from=<number>`: more of a long one."""
    place, name, start = place_of(request), *_which(request, "from")
    log = await looking(place, lambda d: d.log.read(name))
    after = start + _EVENTS_AT_ONCE
    return page_response(
        request,
        "runs/_events.html",
        place=place,
        name=name,
        told=told(log[start:after], start),
        next=after if after < len(log) else None,
    )


async def prompt(request: Request) -> Response:
    """`GET /runs/prompt/<run>?e=<episode>&n=<number>`: what a model was told."""
    place, name, number = place_of(request), *_which(request, "n")
    log = await looking(place, lambda d: d.log.read(name))
    if number >= len(log) or log[number].kind != "chat":
        raise HTTPException(404, say("プロンプトはありません", "there is no prompt"))
    event = log[number]
    asked: Any = event.request
    more = {k: v for k, v in asked.items() if k not in ("role", "messages")}
    return page_response(
        request,
        "runs/_prompt.html",
        messages=prompt_text(event),
        more=_pretty(more) if more else "",
    )


async def of_conversation(request: Request) -> Response:
    """`GET /runs/of/<id>`: a conversation of the visitor's own, with all its effects."""
    place = place_of(request, f"@{request.path_params['id']}")
    return RedirectResponse(place.url("episode", e=WHERE.episode), 303)


def _which(request: Request, number: str) -> tuple[str, int]:
    given = request.query_params.get(number, "0")
    if not given.isdecimal():
        raise HTTPException(400, say("番号ではありません", "no number"))
    return request.query_params.get("e", ""), int(given[:9])


def _line(directory: RunDirectory, name: str) -> EpisodeLine | None:
    found = episode_page(directory.log, Wanted(name=name), limit=1).lines
    return found[0] if found else None


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
