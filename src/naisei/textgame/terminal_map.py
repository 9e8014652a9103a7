"""The map of a play in characters, for the terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from naisei.textgame.atlas import Atlas

__all__ = ["terminal_map"]

#: Characters of a room's name, at most, and columns and lines from room to room.
_NAME, _DX, _DY = 14, 19, 2


def terminal_map(atlas: Atlas, *, width: int = 80, height: int = 15) -> Text:
    """Rooms in brackets, the present one with stars (and reversed where there is colour).

    width, height: in characters and lines; of a larger map, what lies around the present room.
    """
    if not atlas.spots:
        return Text()
    atlas = _around(atlas, max(1, (width + _DX - _NAME - 2) // _DX), max(1, (height + 1) // _DY))
    left, top = min(s.x for s in atlas.spots), min(s.y for s in atlas.spots)
    place = [((s.x - left) * _DX, (s.y - top) * _DY) for s in atlas.spots]
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
    """The part of a map that fits, with the present room in it."""
    here = atlas.path[-1]
    shown_x = _window([s.x for s in atlas.spots], atlas.spots[here].x, columns)
    shown_y = _window([s.y for s in atlas.spots], atlas.spots[here].y, lines)
    kept = [n for n, s in enumerate(atlas.spots) if s.x in shown_x and s.y in shown_y]
    number = {old: new for new, old in enumerate(kept)}
    ways = {(number[a], number[b]) for a, b in atlas.ways if a in number and b in number}
    return Atlas([atlas.spots[n] for n in kept], ways, [number[here]])


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


def _draw_way(canvas: list[list[str]], one: tuple[int, int], other: tuple[int, int]) -> None:
    """A straight way; between rooms that do not lie straight, none is drawn."""
    (x1, y1), (x2, y2) = sorted((one, other))
    if y1 == y2:
        for x in range(x1 + _NAME + 2, x2):
            canvas[y1][x] = "-"
    elif x1 == x2:
        for y in range(min(y1, y2) + 1, max(y1, y2)):
            canvas[y][x1 + _NAME // 2 + 1] = "|"
