"""The map of a play as SVG (with points per step) and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from naisei.lang import say
from naisei.textgame.schemas import GameResult

# Grid positions of rooms along a play, for drawings only.
#
# Rooms get integer positions by the directions walked; y grows southward. The players' own
# map is in `game_state`.

_DELTA = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


@dataclass(frozen=True, slots=True)
class Spot:
    """A room and its grid position."""

    room: str
    x: int
    y: int


@dataclass
class Atlas:
    """A map extended by `move`. ways: pairs of spot numbers. path: the spot at the start and after
    each command."""

    spots: list[Spot] = field(default_factory=list)
    ways: set[tuple[int, int]] = field(default_factory=set)
    path: list[int] = field(default_factory=list)
    _beyond: dict[tuple[int, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, result: GameResult) -> Atlas:
        """The atlas of a finished play."""
        atlas = cls()
        rooms = [step.room for step in result.steps]
        for step, after in zip(result.steps, [*rooms[1:], ""], strict=True):
            if not atlas.path:
                atlas.begin(step.room)
            atlas.move(step.action, after or heading(step.feedback) or step.room, step.feedback)
        return atlas

    def begin(self, room: str) -> None:
        self.path.append(self._new(room, 0, 0))

    def move(self, action: str, room: str, feedback: str) -> None:
        """Record a command. room: the player's room after it."""
        here = self.path[-1]
        if room and (room != self.spots[here].room or heading(feedback)):
            here = self._arrive(here, action.removeprefix("go "), room)
        self.path.append(here)

    def _arrive(self, here: int, direction: str, room: str) -> int:
        if direction not in _DELTA:
            # Moved without a direction: use the nearest room of that name, or a new one.
            known = [n for n, spot in enumerate(self.spots) if spot.room == room]
            return known[-1] if known else self._new(room, *self._free(here, "east"))
        there = self._beyond.get((here, direction))
        if there is None:
            there = self._at_the_place(here, direction, room)
            self._beyond[here, direction] = there
            self._beyond.setdefault((there, _BACK[direction]), here)
            self.ways.add((min(here, there), max(here, there)))
        return there

    def _at_the_place(self, here: int, direction: str, room: str) -> int:
        dx, dy = _DELTA[direction]
        beside = (self.spots[here].x + dx, self.spots[here].y + dy)
        for number, spot in enumerate(self.spots):
            if (spot.x, spot.y) == beside and spot.room == room:
                return number
        return self._new(room, *self._free(here, direction))

    def _free(self, here: int, direction: str) -> tuple[int, int]:
        """The first free position in a direction."""
        dx, dy = _DELTA[direction]
        taken = {(spot.x, spot.y) for spot in self.spots}
        x, y = self.spots[here].x + dx, self.spots[here].y + dy
        while (x, y) in taken:
            x, y = x + dx, y + dy
        return x, y

    def _new(self, room: str, x: int, y: int) -> int:
        self.spots.append(Spot(room, x, y))
        return len(self.spots) - 1


def heading(feedback: str) -> str:
    """The room heading of a text, `-= Kitchen =-`; "" if there is none."""
    _, found, rest = feedback.partition("-= ")
    return rest.partition(" =-")[0] if found else ""


#: Size of a room and distance between rooms, in pixels.
_WIDE, _HIGH, _DX, _DY = 112, 44, 136, 74
_CHART = 90
_STYLE = """
text { font: 12px "Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic", sans-serif; fill: #1c1f24; }
.dim { font-size: 10px; fill: #626a75; }
.room { fill: #f5f7f9; stroke: #9aa4b0; } .here { stroke: #14508c; stroke-width: 2.5; }
.way { stroke: #c3cad2; stroke-width: 6; }
.path { fill: none; stroke: #14508c; stroke-width: 1.5; } .head { fill: #14508c; }
.axis { stroke: #9aa4b0; } .most { stroke: #9aa4b0; stroke-dasharray: 3 3; }
.points { fill: none; stroke: #a8321f; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8eb; } .dim { fill: #99a2ad; } .room { fill: #1c2026; stroke: #56606c; }
  .way { stroke: #39414b; } .path, .here { stroke: #9cc9f5; } .head { fill: #9cc9f5; }
  .points { stroke: #ff9b85; }
}
"""
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>'
)


def drawing(result: GameResult) -> str:
    """The map as an SVG document; "" for a play without commands."""
    if not result.steps:
        return ""
    atlas = Atlas.of(result)
    left, top = min(s.x for s in atlas.spots), min(s.y for s in atlas.spots)
    columns = max(s.x for s in atlas.spots) - left + 1
    lines = max(s.y for s in atlas.spots) - top + 1
    centres = [
        (12 + _WIDE / 2 + (s.x - left) * _DX, 12 + _HIGH / 2 + (s.y - top) * _DY)
        for s in atlas.spots
    ]
    wide = max(24 + (columns - 1) * _DX + _WIDE, 420)
    high = 24 + (lines - 1) * _DY + _HIGH
    label = say(f"{result.game}: 地図、経路、得点", f"{result.game}: map, path and points by step")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high + _CHART + 34}" '
            f'viewBox="0 0 {wide} {high + _CHART + 34}" role="img" aria-label="{escape(label)}">',
            f"<style>{_STYLE}</style>",
            _ARROW,
            *_ways(atlas, centres),
            *_path(atlas, centres),
            *_rooms(atlas, centres),
            f'<g transform="translate(0 {high + 8})">',
            *_points(result, wide),
            "</g>",
            "</svg>",
        ]
    )


def _ways(atlas: Atlas, centres: Sequence[tuple[float, float]]) -> list[str]:
    return [
        '<line class="way" x1="{}" y1="{}" x2="{}" y2="{}"/>'.format(*centres[a], *centres[b])
        for a, b in sorted(atlas.ways)
    ]


def _rooms(atlas: Atlas, centres: Sequence[tuple[float, float]]) -> list[str]:
    """Rooms with their names and the steps when they were entered; the last room has a frame."""
    found = []
    entered: dict[int, list[int]] = {}
    for step, at in enumerate(atlas.path):
        if step == 0 or atlas.path[step - 1] != at:
            entered.setdefault(at, []).append(step)
    for number, ((x, y), spot) in enumerate(zip(centres, atlas.spots, strict=True)):
        here = " here" if number == atlas.path[-1] else ""
        steps = entered.get(number, [])
        when = ", ".join(map(str, steps[:6])) + ("…" if len(steps) > 6 else "")
        found += [
            f'<rect class="room{here}" x="{x - _WIDE / 2}" y="{y - _HIGH / 2}" width="{_WIDE}" '
            f'height="{_HIGH}" rx="6"/>',
            f'<text x="{x}" y="{y - 3}" text-anchor="middle">{escape(spot.room)}</text>',
            f'<text class="dim" x="{x}" y="{y + 13}" text-anchor="middle">{when}</text>',
        ]
    return found


def _path(atlas: Atlas, centres: Sequence[tuple[float, float]]) -> list[str]:
    """One arrow per move; opposite directions use opposite sides of a way. Rooms cover the ends."""
    walked = [n for i, n in enumerate(atlas.path) if i == 0 or atlas.path[i - 1] != n]
    found, times = [], Counter[tuple[int, int]]()
    for one, other in pairwise(walked):
        (x1, y1), (x2, y2) = centres[one], centres[other]
        side = 1 if (x1, y1) < (x2, y2) else -1
        aside = side * (5 + 6 * (times[one, other] % 3))
        times[one, other] += 1
        dx, dy = (aside, 0) if abs(y2 - y1) > abs(x2 - x1) else (0, aside)
        ends = [(x1, y1), ((x1 + x2) / 2, (y1 + y2) / 2), (x2, y2)]
        points = " ".join(f"{x + dx:g},{y + dy:g}" for x, y in ends)
        found.append(f'<polyline class="path" points="{points}" marker-mid="url(#arrow)"/>')
    return found


def _points(result: GameResult, wide: float) -> list[str]:
    """Points per step as a step plot, with a dashed line at the maximum."""
    steps = len(result.steps)
    most = max(result.max_score, max(step.score for step in result.steps), 1)
    left, right = 34.0, wide - 16.0

    def at(step: int, score: int) -> tuple[float, float]:
        return left + (right - left) * step / steps, _CHART - (_CHART - 14) * score / most

    line, score = [at(0, 0)], 0
    for number, step in enumerate(result.steps, 1):
        line += [at(number, score), at(number, step.score)]
        score = step.score
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    return [
        f'<line class="axis" x1="{left}" y1="{_CHART}" x2="{right}" y2="{_CHART}"/>',
        f'<line class="most" x1="{left}" y1="14" x2="{right}" y2="14"/>',
        f'<text class="dim" x="{left - 6}" y="18" text-anchor="end">{most}</text>',
        f'<text class="dim" x="{left - 6}" y="{_CHART + 4}" text-anchor="end">0</text>',
        f'<text class="dim" x="{right}" y="{_CHART + 16}" text-anchor="end">'
        f"{escape(say(f'{steps} 手', f'{steps} steps'))}</text>",
        f'<polyline class="points" points="{joined}"/>',
    ]


#: Most characters of a room's name, and columns and lines between rooms.
_NAME, _DX_terminal_map, _DY_terminal_map = 14, 19, 2


def terminal_map(atlas: Atlas, *, width: int = 80, height: int = 15) -> Text:
    """The map as text, rooms in brackets; the current one has stars (and reversed colours).

    width, height: in characters and lines; a larger map is cropped around the current room.
    """
    if not atlas.spots:
        return Text()
    atlas = _around(
        atlas,
        max(1, (width + _DX_terminal_map - _NAME - 2) // _DX_terminal_map),
        max(1, (height + 1) // _DY_terminal_map),
    )
    left, top = min(s.x for s in atlas.spots), min(s.y for s in atlas.spots)
    place = [((s.x - left) * _DX_terminal_map, (s.y - top) * _DY_terminal_map) for s in atlas.spots]
    high = max(y for _, y in place) + 1
    wide = max(x for x, _ in place) + _NAME + 2
    canvas = [[" "] * wide for _ in range(high)]
    for a, b in atlas.ways:
        _draw_way(canvas, place[a], place[b])
    text = Text()
    for y, line in enumerate(canvas):
        x = 0
        for room, number in sorted((place[n][0], n) for n in range(len(place)) if place[n][1] == y):
            text.append("".join(line[x:room]), style="dim")
            here = number == atlas.path[-1]
            text.append(_box(atlas.spots[number].room, here=here), "reverse" if here else "")
            x = room + _NAME + 2
        text.append("".join(line[x:]).rstrip() + ("\n" if y < high - 1 else ""), style="dim")
    return text


def _around(atlas: Atlas, columns: int, lines: int) -> Atlas:
    """Crop a map to the part around the current room that fits."""
    here = atlas.path[-1]
    shown_x = _window([s.x for s in atlas.spots], atlas.spots[here].x, columns)
    shown_y = _window([s.y for s in atlas.spots], atlas.spots[here].y, lines)
    visible = [n for n, s in enumerate(atlas.spots) if s.x in shown_x and s.y in shown_y]
    number = {old: new for new, old in enumerate(visible)}
    ways = {(number[a], number[b]) for a, b in atlas.ways if a in number and b in number}
    return Atlas([atlas.spots[n] for n in visible], ways, [number[here]])


def _window(values: list[int], here: int, most: int) -> range:
    first, last = min(values), max(values)
    if last - first < most:
        return range(first, last + 1)
    start = min(max(here - most // 2, first), last - most + 1)
    return range(start, start + most)


def _box(room: str, *, here: bool) -> str:
    name = room if cell_len(room) <= _NAME else set_cell_size(room, _NAME - 1) + "…"
    pad = _NAME - cell_len(name)
    name = " " * (pad // 2) + name + " " * (pad - pad // 2)
    return f"*{name}*" if here else f"[{name}]"


def _draw_way(canvas: list[list[str]], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Draw a way if it is horizontal or vertical."""
    (x1, y1), (x2, y2) = sorted((start, end))
    if y1 == y2:
        for x in range(x1 + _NAME + 2, x2):
            canvas[y1][x] = "-"
    elif x1 == x2:
        for y in range(min(y1, y2) + 1, max(y1, y2)):
            canvas[y][x1 + _NAME // 2 + 1] = "|"
