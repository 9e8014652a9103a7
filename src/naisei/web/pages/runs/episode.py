"""One episode as a timeline: conversation, state and prompts by step.

Every step has its own URL; its page shows only the steps around it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from naisei.core import Event, InputError, ReplayDivergence
from naisei.lang import language, say, speaking
from naisei.runs.annotations import written_on
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line, effect_view, prompt_text
from naisei.runs.overview import Overview
from naisei.web.conversations.kind import WHERE
from naisei.web.html import Refused, page_response
from naisei.web.pages.runs.differing import cut, differing
from naisei.web.pages.runs.forked_runs import fork_form
from naisei.web.pages.runs.forks import forks_of, parent_of
from naisei.web.pages.runs.lists import annotations_of, looking, place_of
from naisei.web.pages.runs.loaded import (
    Loaded,
    beginning,
    brief,
    bytes_of,
    conversation_lines,
    effect_text,
    episode_of,
    request_text,
)
from naisei.web.pages.runs.run import overview_of
from naisei.web.pages.runs.started import why_not
from naisei.web.pages.runs.timeline import lanes
from naisei.web.replay import (
    RecordedEpisode,
    Replay,
)
from naisei.web.state import server_of

#: Maximum bytes on the page for the conversation, one of its lines, the request, the reply, the
#: differences and the state.
_TALK, _LINE, _REQUEST, _REPLY, _CHANGES, _STATE = 9_000, 1_500, 6_000, 3_500, 4_500, 12_000
_SUMMARY = 4_000
#: Number of episode headings and user answers that are always shown; bytes per answer.
_GIST, _ANSWERS, _ANSWER = 4, 6, 240


@dataclass(frozen=True, slots=True)
class Item:
    """A conversation entry from an effect. here: whether it is the current step."""

    step: str
    kind: str
    lines: Sequence[Line]
    draft: bool
    failed: bool
    here: bool


async def show(request: Request) -> Response:
    """`GET /runs/episode/<run>?e=<episode>[&step=<step>|&at=<n>|&at=wrong][&find=<text>]`.

    `at=wrong` selects the point where the episode went wrong."""
    place = place_of(request)
    query = {k: request.query_params.get(k, "") for k in ("e", "step", "at", "find")}
    astray = query["at"] == "wrong"
    spoken, server = language(), server_of(request)

    def look(directory: RunDirectory) -> dict[str, Any] | str:
        with speaking(spoken):
            loaded = episode_of(place, query["e"])
            events = loaded.episode.events
            if astray and (where := _first_wrong(loaded)) is not None:
                return events[where].where.step
            at = number_of(events, query["step"], query["at"])
            hits = _hits(events, query["find"])
            further = [n for n in hits if n > at] or hits
            if further and not query["step"]:
                return events[further[0]].where.step
            kept = overview_of(request, directory)
            with kept.lock:
                beside = _neighbours(directory, loaded.episode.where.episode, kept.overview)
            name = loaded.episode.where.episode
            beside_parent, parent = parent_of(loaded, place)
            return _page(directory, loaded, at, query["find"], len(hits), beside) | {
                "beside_parent": beside_parent,
                "parent": parent,
                "forks": forks_of(server.options.runs, place, name),
                "fork_form": (form := fork_form(server, place, directory.frozen, events[at]))
                if events
                else None,
                "answers": _answers(loaded) if events and form else (),
                "refused": why_not(server),
                "notes": written_on(annotations_of(server, place.path), name, "thumb"),
            }

    found = await looking(place, look)
    if isinstance(found, str):
        e = query["e"]
        return RedirectResponse(place.url("episode", e=e, step=found, find=query["find"]), 303)
    reader = request.state.visitor.name
    around = {"place": place, "reader": reader, "kept": False}
    return page_response(request, "runs/episode.html", **around, **found)


def number_of(events: Sequence[Event], step: str, at: str) -> int:
    """Return the index of the event named in the URL; by default the last."""
    last = max(len(events) - 1, 0)
    if step:
        for number, event in enumerate(events):
            if event.where.step == step:
                return number
        raise Refused(404, "そのステップはありません", "no such step")
    return min(max(int(at[:9]) - 1, 0), last) if at.isdecimal() else last


def _hits(events: Sequence[Event], text: str) -> list[int]:
    if not text:
        return []
    wanted = text.casefold()
    return [n for n, event in enumerate(events) if wanted in _all_text(event).casefold()]


def _all_text(event: Event) -> str:
    return json.dumps([event.request, event.result], ensure_ascii=False)


def _page(
    directory: RunDirectory,
    loaded: Loaded,
    at: int,
    find: str,
    hits: int,
    neighbours: Mapping[str, str],
) -> dict[str, Any]:
    episode, events, marks = loaded.episode, loaded.episode.events, loaded.marks
    name = episode.where.episode
    items, earlier = _talk(loaded, at)
    state, problem = _state(loaded.replay, episode, events[: at + 1])
    turning, drawn = loaded.turning, {**marks}
    if turning is not None and drawn.get(turning.number) != "failure":
        drawn[turning.number] = "wrong"
    event = effect_view(events[at]) if events else None
    bad = sorted(n for n, mark in marks.items() if mark != "rejected")
    return {
        "name": name,
        "line": loaded.line,
        "frozen": directory.frozen,
        "outcome": loaded.outcome,
        "problem": problem,
        "fork": loaded.fork,
        "gist": [replace(x, under=()) for x in loaded.summary if x.tone == "head"][:_GIST],
        "summary": beginning(loaded.summary, _SUMMARY),
        "at": at,
        "effects": len(events),
        "event": event,
        "told": brief(effect_text(loaded, at), 2_500) if events else (),
        "mark": marks.get(at, ""),
        "steps": _steps(events, at),
        "next_bad": next((events[n].where.step for n in bad if n > at), ""),
        "neighbours": neighbours,
        "turning": turning,
        "turned": events[turning.number].where.step if turning else "",
        "lanes": lanes(events, at, drawn) if events else None,
        "items": items,
        "earlier": earlier,
        "state": state,
        "asked": _inspected(directory, name, events, at) if events else None,
        "find": find,
        "hits": hits,
        "cut": cut,
    }


def _answers(loaded: Loaded) -> list[tuple[str, Sequence[Line]]]:
    """Return the first user answers by step; each can be changed in a fork."""
    asked = (n for n, event in enumerate(loaded.episode.events) if event.kind == "ask")
    return [
        (loaded.episode.events[n].where.step, brief(conversation_lines(loaded, n), _ANSWER))
        for n in islice(asked, _ANSWERS)
    ]


def _steps(events: Sequence[Event], at: int) -> dict[str, str]:
    """Return the first, previous, next and last step; empty if there is none."""
    step = [event.where.step for event in events[max(at - 1, 0) : at + 2]]
    here = min(at, 1)
    return {
        "first": events[0].where.step if at > 0 else "",
        "before": step[here - 1] if at > 0 else "",
        "now": step[here] if step else "",
        "after": step[here + 1] if at < len(events) - 1 else "",
        "last": events[-1].where.step if at < len(events) - 1 else "",
    }


def _talk(loaded: Loaded, at: int) -> tuple[list[Item], str]:
    """Return the latest part of the conversation up to a step that fits, and the last omitted
    step."""
    events, marks = loaded.episode.events, loaded.marks
    items: list[Item] = []
    room = _TALK
    for number in range(min(at, len(events) - 1), -1, -1):
        event, mark = events[number], marks.get(number, "")
        if not (lines := brief(conversation_lines(loaded, number), _LINE)):
            continue
        room -= 300 + bytes_of(lines)
        if room < 0 and items:
            return items[::-1], event.where.step
        draft, failed = mark == "rejected", mark == "failure"
        items.append(Item(event.where.step, event.kind, lines, draft, failed, number == at))
    return items[::-1], ""


def _state(replay: Replay, episode: RecordedEpisode, events: Sequence[Event]) -> tuple[str, str]:
    """Return the state as HTML, or the reason for its absence."""
    try:
        drawn = replay.state(episode, events)
    except InputError as error:
        return "", error.message
    except ReplayDivergence:
        return "", say(
            "この版のプログラムでは、この時点の状態を再現できません。",
            "This version of the program cannot rebuild the state of that moment.",
        )
    if len(drawn.encode()) > _STATE:
        return "", say(
            "この時点の図は大きすぎるので省きました。", "The drawing of that moment is too large."
        )
    return drawn, ""


def _first_wrong(loaded: Loaded) -> int | None:
    """Return the point where the episode went wrong, or else its first failure."""
    if loaded.turning is not None:
        return loaded.turning.number
    return min((n for n, mark in loaded.marks.items() if mark == "failure"), default=None)


def _neighbours(directory: RunDirectory, name: str, overview: Overview) -> dict[str, str]:
    """Return the previous and next episode in order of completion, as on the run's page, and the
    next failed one; empty if there is none."""
    overview.update(directory.log)
    names = list(overview.rows)
    at = names.index(name) if name in overview.rows else len(names)
    failed = (n for n in names[at + 1 :] if overview.rows[n].outcome in ("bad", "unscored"))
    return {
        "before": names[at - 1] if 0 < at < len(names) else "",
        "after": names[at + 1] if at + 1 < len(names) else "",
        "failed": next(failed, ""),
    }


def _inspected(
    directory: RunDirectory, name: str, events: Sequence[Event], at: int
) -> dict[str, Any] | None:
    """Return request and reply of a model at a step. changes: differences from the role's previous
    request, at the step `before`."""
    event = events[at]
    if event.kind != "chat":
        return None
    role = _role(event)
    sent: list[Any] = [
        each for _, _, tries in directory.log.sent(name, event.where.step) for each in _list(tries)
    ]
    reply = _raw(sent[-1]) if sent else _pretty(event.result)
    before = next((n for n in range(at - 1, -1, -1) if _role(events[n]) == role), None)
    asked = request_text(event)
    earlier = request_text(events[before]) if before is not None else asked
    return {
        "request": cut(asked, _REQUEST),
        "reply": cut(reply, _REPLY),
        "tries": len(sent),
        "changes": differing(earlier, asked, room=_CHANGES),
        "before": events[before].where.step if before is not None else "",
    }


def _raw(exchange: Any) -> str:
    reply = exchange.get("reply") if isinstance(exchange, dict) else exchange
    text = reply.get("text") if isinstance(reply, dict) else None
    return text if isinstance(text, str) and text else _pretty(reply)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _role(event: Event) -> str:
    return str(event.request["role"]) if event.kind == "chat" else ""  # type: ignore[index, call-overload]


async def prompt(request: Request) -> Response:
    """`GET /runs/prompt/<run>?e=<episode>&step=<step>`: the full prompt."""
    place = place_of(request)
    name, step = (request.query_params.get(k, "") for k in ("e", "step"))
    log = await looking(place, lambda d: d.log.read(name))
    event = next((e for e in log if e.where.step == step and e.kind == "chat"), None)
    if event is None:
        raise Refused(404, "プロンプトはありません", "there is no prompt")
    asked: Any = event.request
    more = {k: v for k, v in asked.items() if k not in ("role", "messages")}
    return page_response(
        request,
        "runs/prompt.html",
        place=place,
        name=name,
        step=step,
        messages=prompt_text(event),
        more=_pretty(more) if more else "",
        result=_pretty(event.result),
    )


async def of_conversation(request: Request) -> Response:
    """`GET /runs/of/<id>`: one of the visitor's own conversations, with all its effects."""
    place = place_of(request, f"@{request.path_params['id']}")
    return RedirectResponse(place.url("episode", e=WHERE.episode), 303)


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
