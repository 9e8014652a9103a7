"""Two episodes side by side by turn, with their first difference and the prompts there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naisei.core import Event
from naisei.lang import language, speaking
from naisei.runs.lines import Line
from naisei.web.html import page_response
from naisei.web.pages.runs.differing import cut, differing
from naisei.web.pages.runs.lists import place_of
from naisei.web.pages.runs.loaded import Loaded, brief, effect_text, episode_of, request_text

#: Turns shown before and after the current one; bytes per line and for the differences.
_AROUND, _LINE, _CHANGES = 8, 1_200, 8_000
#: Kinds of events in the conversation.
_KINDS = ("ask", "act", "say")


@dataclass(frozen=True, slots=True)
class Turn:
    """The same turn of two episodes. number: from 1. first, second: `None` if that episode has
    ended. same: whether the two are equal."""

    number: int
    first: Event | None
    second: Event | None
    same: bool


def aligned(first: Sequence[Event], second: Sequence[Event]) -> list[Turn]:
    """Return the turns of both episodes: questions, actions and utterances, in order."""
    left, right = ([e for e in events if e.kind in _KINDS] for events in (first, second))
    pairs = [
        (left[n] if n < len(left) else None, right[n] if n < len(right) else None)
        for n in range(max(len(left), len(right)))
    ]
    return [Turn(n, a, b, _same(a, b)) for n, (a, b) in enumerate(pairs, 1)]


def _same(a: Event | None, b: Event | None) -> bool:
    if a is None or b is None:
        return False
    return (a.kind, a.request, a.result) == (b.kind, b.request, b.result)


def parting(turns: Sequence[Turn]) -> int:
    """Return the number of the first turn that differs, or 0."""
    return next((turn.number for turn in turns if not turn.same), 0)


async def show(request: Request) -> Response:
    """`GET /runs/aligned?run=<name>&run=<name>&e=<episode>[&turn=<n>]`."""
    query, spoken = request.query_params, language()
    names = [*query.getlist("run")[:2], "", ""]
    places = [place_of(request, name) for name in names[:2]]
    wanted = query.get("e", "")
    given = query.get("turn", "")

    def work() -> dict[str, Any]:
        with speaking(spoken):
            both = [episode_of(place, wanted) for place in places]
            turns = aligned(*(each.episode.events for each in both))
            parted = parting(turns)
            at = int(given[:6]) if given.isdecimal() else parted or len(turns)
            at = min(max(at, 1), max(len(turns), 1))
            return _page(both, turns, at) | {"parted": parted, "turn": at}

    found = await asyncio.to_thread(work)
    return page_response(request, "runs/aligned.html", places=places, e=wanted, **found)


def _page(both: Sequence[Loaded], turns: Sequence[Turn], at: int) -> dict[str, Any]:
    first = max(0, at - 1 - _AROUND)
    shown = turns[first : at + _AROUND]
    rows = [
        {
            "number": turn.number,
            "sides": (_side(both[0], turn.first), _side(both[1], turn.second)),
            "same": turn.same,
        }
        for turn in shown
    ]
    return {
        "names": [each.episode.where.episode for each in both],
        "rows": rows,
        "total": len(turns),
        "prompts": _prompts(both, turns[at - 1]) if turns else None,
        "cut": cut,
        "forks": [each.fork for each in both],
        "outcomes": [each.outcome for each in both],
        "lines": [each.line for each in both],
        "last": [_last(each) for each in both],
    }


def _last(loaded: Loaded) -> Sequence[Line]:
    """Return the last action, or else the last utterance, as lines."""
    events = loaded.episode.events
    ends = [n for kind in ("say", "act") for n, event in enumerate(events) if event.kind == kind]
    return brief(effect_text(loaded, ends[-1]), _LINE) if ends else ()


def _side(loaded: Loaded, event: Event | None) -> dict[str, Any] | None:
    """Return one of the two sides of a turn."""
    if event is None:
        return None
    number = loaded.episode.events.index(event)
    return {"step": event.where.step, "lines": brief(effect_text(loaded, number), _LINE)}


def _prompts(both: Sequence[Loaded], turn: Turn) -> dict[str, Any]:
    """Return the prompts of the last model call before a turn, in both episodes, and its role
    (empty without a call)."""
    asked = [
        _before(each.episode.events, event)
        for each, event in zip(both, (turn.first, turn.second), strict=True)
    ]
    texts = [request_text(event) if event else "" for event in asked]
    role = next((str(e.request["role"]) for e in asked if e), "")  # type: ignore[index, call-overload]
    return {"role": role, "changes": differing(*texts, room=_CHANGES)}


def _before(events: Sequence[Event], at: Event | None) -> Event | None:
    """Return the last model call before an event, or in the whole episode if it has ended."""
    end = len(events) if at is None else events.index(at)
    return next((e for e in reversed(events[:end]) if e.kind == "chat"), None)
