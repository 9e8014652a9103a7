"""A play as a picture (SVG): the rooms it knew, the path through them, and the points by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from naisei.lang import say
from naisei.textgame.atlas import Atlas
from naisei.textgame.schemas import GameResult

__all__ = ["drawing"]

#: Size of a room, and from one room to the next, in pixels.
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
    """A whole SVG document; empty for a play without a command."""
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
    """Each with its name and the steps at which it was entered; the last one is framed."""
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
    """An arrow for each time a way was walked, there on one side of it and back on the other;
    rooms cover the ends."""
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
    """A staircase of the points, under a dashed line at the most that can be had."""
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
