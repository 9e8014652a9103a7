"""The lanes of an episode: one bar per effect; width shows duration, height shows cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from urllib.parse import quote

from naisei.core import Event
from naisei.lang import say
from naisei.web.replay import StepMark

#: Maximum number of effects drawn at once, and of bytes for their
#: URLs, which repeat the episode's name.
_MOST, _ROOM = 60, 7_500
#: Height of a lane and of its highest bar; widths of the narrowest and the widest bar, before
#: scaling to the drawing's width.
_LANE, _HIGHEST, _NARROWEST, _WIDEST, _WIDTH = 24.0, 20.0, 4.0, 40.0, 1000.0


@dataclass(frozen=True, slots=True)
class Bar:
    """An effect. x, y, width, height: its rectangle. mark: empty if it went well."""

    step: str
    x: float
    y: float
    width: float
    height: float
    mark: str
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane: a model role, or a part of the world. y: position of its base line."""

    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Lanes:
    """bars: effects around the step. now: the bar of the step itself."""

    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    now: Bar
    width: float
    height: float


def lane_of(event: Event) -> str:
    """Return the lane of an effect: the model role, or the part of the world that performs it."""
    if event.kind == "chat" and isinstance(event.request, dict):
        return str(event.request["role"])
    told = {
        "ask": say("ユーザー", "user"),
        "act": say("環境", "world"),
        "say": say("発話", "said"),
        **dict.fromkeys(("remember", "recall", "recent"), say("記憶", "memory")),
        "search": say("検索", "search"),
        "embed": say("ベクトル", "vectors"),
        "now": say("時刻", "clock"),
    }
    return told.get(event.kind, event.kind)


def _many(events: Sequence[Event]) -> int:
    return min(_MOST, _ROOM // (len(quote(events[0].where.episode)) + 30))


def lanes(events: Sequence[Event], at: int, marks: Mapping[int, StepMark]) -> Lanes:
    """Return the lanes with the effects around number `at`."""
    many = _many(events)
    first = max(0, min(at - many // 2, len(events) - many))
    shown = range(first, min(first + many, len(events)))
    names = list(dict.fromkeys(lane_of(events[n]) for n in shown))
    seconds = [events[n].seconds for n in shown]
    tokens = [used.tokens if (used := events[n].usage) else 0 for n in shown]
    slowest, dearest = max(seconds) or 1.0, max(tokens) or 1
    widths = [_NARROWEST + (_WIDEST - _NARROWEST) * sqrt(s / slowest) for s in seconds]
    scale = _WIDTH / sum(widths)
    bars, x = [], 0.0
    for i, number in enumerate(shown):
        event = events[number]
        height = 5 + (_HIGHEST - 5) * sqrt(tokens[i] / dearest)
        ground = _LANE * (names.index(lane_of(event)) + 1) - 2
        told = f"{event.where.step} {lane_of(event)} {event.seconds:.2f} s"
        bars.append(
            Bar(
                event.where.step,
                round(x, 1),
                round(ground - height, 1),
                round(max(widths[i] * scale - 1, 1), 1),
                round(height, 1),
                marks.get(number, ""),
                f"{told} {tokens[i]:,} tok" if tokens[i] else told,
            )
        )
        x += widths[i] * scale
    named = tuple(Lane(name, _LANE * (i + 1) - 2) for i, name in enumerate(names))
    return Lanes(named, tuple(bars), bars[at - first], _WIDTH, _LANE * len(names))
