"""The lines of a PDF page, in the direction of its text."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pypdfium2  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import one_line
from naisei.retrieval.loaders.pdf_letters import Letter, letters_of
from naisei.retrieval.loaders.pdf_tables import Lattice, lattices
from naisei.retrieval.loaders.tables import Cell

#: In letter heights: the gap in a line between two cells, and between two words.
_CELL, _WORD = 1.05, 0.18
_ENDS = re.compile(r"[。．！？!?：:」）)]$")
_BEGINS = re.compile(
    r"^(?:[・●○■□◆◇▪•*※–-]|[(（]?[0-9０-９一二三四五六七八九十]{1,3}[)）.．、\u3000 ]"
    r"|[①-⑳]|[ア-ン][ \u3000]|第[0-9０-９一二三四五六七八九十]+[条章節項]|[(（][^（）()]+[)）]$)"
)
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_KANA = re.compile(r"[\u3041-\u30ff\s]+")
#: Fewest letters in a column for vertical writing.
_DOWNWARDS = 3
#: Fewest aligned lines in all cells to form rows.
_ROWS = 3
#: Few rows with many lines per cell are frames, not tables.
_FRAMES, _FRAMED = 3, 10


@dataclass(frozen=True, slots=True)
class Line:
    """text: cells separated by spaces; spans: left and right of each cell; size: of the
    letters; all in points, origin at the bottom left of the page. edge: at the top or bottom
    of its page. full: ends where the page's longest line ends."""

    text: str
    cells: list[str]
    spans: list[tuple[float, float]]
    size: float
    top: float
    bottom: float
    right: float
    edge: bool = False
    full: bool = False


@dataclass(frozen=True, slots=True)
class Ruled:
    """A table with rules. size: of its letters."""

    rows: list[list[Cell]]
    size: float

    @property
    def length(self) -> int:
        return sum(len(cell.text) for row in self.rows for cell in row)


_Turn = Callable[[float, float], tuple[float, float]]
#: By clockwise quarter turns: maps page points so that text runs to the right.
_TURNS: tuple[_Turn, ...] = (
    lambda x, y: (x, y),
    lambda x, y: (-y, x),
    lambda x, y: (-x, -y),
    lambda x, y: (y, -x),
)


def items_of(page: pypdfium2.PdfPage, most: int) -> list[Line | Ruled]:
    """Lines and tables in file order, usually the reading order; text in a direction other than
    the main one comes last. most: letters read at most."""
    groups: dict[tuple[int, bool], list[Letter]] = {}
    for letter, downwards in _directed(_by_columns(letters_of(page, most))):
        groups.setdefault((letter.angle, downwards), []).append(letter)
    found: list[Line | Ruled] = []
    for (angle, downwards), letters in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        turn = _TURNS[1] if downwards else _TURNS[angle]
        turned = letters if angle == 0 and not downwards else [_turned(x, turn) for x in letters]
        tables = lattices(page, turn) if not found else []
        found += _items(turned, tables, downwards)
    return _marked(found)


def _by_columns(letters: list[Letter]) -> list[Letter]:
    """The letters in file order, or by columns from the right if vertical writing is stored row by
    row: then letters are closer to those below than to those beside them."""
    beside = [
        (b.left - a.left) / a.size
        for a, b in pairwise(letters)
        if a.base == b.base and a.left < b.left and _WIDE.match(a.text) and _WIDE.match(b.text)
    ]
    if len(beside) < _ROW_BY_ROW or statistics.median(beside) < 1.4:
        return letters
    ordered = sorted(letters, key=lambda x: (-round((x.left + x.right) / x.size), -x.top))
    below = [_below(a, b) for a, b in pairwise(ordered)]
    return ordered if sum(below) > len(below) / 2 else letters


#: Fewest letters with a neighbour on such a page.
_ROW_BY_ROW = 12


def _directed(letters: list[Letter]) -> Iterator[tuple[Letter, bool]]:
    """Yield letters and whether each is vertical writing."""
    run: list[Letter] = []

    def ended() -> Iterator[tuple[Letter, bool]]:
        downwards = sum(bool(x.text.strip()) for x in run) >= _DOWNWARDS
        yield from ((letter, downwards) for letter in run)
        run.clear()

    for letter in letters:
        if run and not _below(run[-1], letter):
            yield from ended()
        run.append(letter)
    yield from ended()


def _below(one: Letter, two: Letter) -> bool:
    size = max(one.size, two.size)
    across = abs(one.left + one.right - two.left - two.right) / 2
    down = (one.top + one.bottom - two.top - two.bottom) / 2
    return one.angle == two.angle == 0 and across < 0.3 * size and 0.4 * size < down < 1.6 * size


def _turned(letter: Letter, turn: _Turn) -> Letter:
    (x0, y0), (x1, y1) = turn(letter.left, letter.bottom), turn(letter.right, letter.top)
    low = (y0 + y1) / 2 - letter.size / 2
    return replace(
        letter,
        left=min(x0, x1),
        right=max(x0, x1),
        bottom=min(y0, y1),
        top=max(y0, y1),
        base=low,
    )


def _items(letters: list[Letter], tables: list[Lattice], downwards: bool) -> list[Line | Ruled]:
    """Lines and tables, ordered by first letter."""
    ordered: list[tuple[int, Line | Ruled]] = []
    inside: dict[int, dict[int, list[Letter]]] = {}
    first: dict[int, int] = {}
    rest: list[tuple[int, Letter]] = []
    for at, letter in enumerate(letters):
        middle = (letter.left + letter.right) / 2, (letter.bottom + letter.top) / 2
        for n, table in enumerate(tables):
            if (cell := table.cell_at(*middle)) is not None:
                first.setdefault(n, at)
                inside.setdefault(n, {}).setdefault(cell, []).append(letter)
                break
        else:
            rest.append((at, letter))
    for n, cells in inside.items():
        lines = {number: _cell_lines(found) for number, found in cells.items()}
        if _tabular(tables[n], lines):
            ordered.append((first[n], _ruled(tables[n], lines)))
        else:
            rest += [(first[n], letter) for found in cells.values() for letter in found]
    rest.sort(key=lambda pair: pair[0])
    made = [(at, line) for at, line in _lines(rest) if line.text]
    if downwards:
        made = list(enumerate(_tiers([line for _, line in made])))
    readings = _readings([line for _, line in made])
    ordered += [(at, line) for at, line in made if id(line) not in readings]
    return [item for _, item in sorted(ordered, key=lambda pair: pair[0])]


def _tiers(lines: list[Line]) -> list[Line]:
    """Sort columns of vertical writing in reading order: tier by tier from the top, each from right
    to left, whatever the file order. A column that ends where its tier ends is full."""
    columns: list[Line] = []
    for line in lines:
        for text, span in zip(line.cells, line.spans, strict=True):
            one = replace(line, text=text, cells=[text], spans=[span], right=span[1])
            columns.append(one)
    tiers: list[list[Line]] = []
    for column in sorted(columns, key=lambda c: c.spans[0][0]):
        ends = sorted(c.right for c in tiers[-1]) if tiers else []
        if ends and column.spans[0][0] < ends[len(ends) // 2]:
            tiers[-1].append(column)
        else:
            tiers.append([column])
    found: list[Line] = []
    for tier in tiers:
        end = max(column.right for column in tier)
        ordered = sorted(tier, key=lambda c: (-c.top, c.spans[0][0]))
        found += [replace(c, full=c.right > end - 2.5 * c.size) for c in ordered]
    return found


def _tabular(table: Lattice, lines: dict[int, list[Line]]) -> bool:
    """Whether it is a table with columns, not frames of text."""
    beside = any(len({*row} & {*lines}) > 1 for row in table.cells)
    framed = len(table.cells) <= _FRAMES and max(map(len, lines.values())) > _FRAMED
    return beside and not framed


def _ruled(table: Lattice, lines: dict[int, list[Line]]) -> Ruled:
    sizes = [line.size for inside in lines.values() for line in inside]
    texts: dict[int, Cell] = {}
    for number in {number for row in table.cells for number in row}:
        high = sum(number in row for row in table.cells)
        wide = max(row.count(number) for row in table.cells)
        shown = [replace(line, full=True) for line in lines.get(number, [])]
        texts[number] = Cell(join(shown).replace("\n", " "), False, high, wide)
    rows: list[list[Cell]] = []
    for row in table.cells:
        rows += _several([lines.get(number, []) for number in row], row) or [
            [texts[number] for number in row]
        ]
    return Ruled(rows, statistics.median(sizes or [0.0]))


def _cell_lines(letters: list[Letter]) -> list[Line]:
    lines = [line for _, line in _lines(list(enumerate(letters)))]
    readings = _readings(lines)
    return [line for line in lines if id(line) not in readings]


def _several(lines: list[list[Line]], numbers: list[int]) -> list[list[Cell]]:
    """Rows without rules between them, if all cells have equally many lines (at least three) at the
    same heights; else none."""
    filled = [cell for cell in lines if cell]
    many = {len(cell) for cell in filled}
    if len(filled) < 2 or len(many) != 1 or min(many) < _ROWS or len({*numbers}) < len(numbers):
        return []
    for level in zip(*filled, strict=True):
        if max(line.bottom for line in level) - min(line.bottom for line in level) > 3.0:
            return []
    return [[Cell(cell[n].text if cell else "") for cell in lines] for n in range(len(filled[0]))]


def _lines(letters: list[tuple[int, Letter]]) -> list[tuple[int, Line]]:
    """(position of its first letter, line), from positioned letters."""
    lines: list[tuple[int, list[Letter]]] = []
    for at, letter in letters:
        if lines and _same(lines[-1][1], letter):
            lines[-1][1].append(letter)
        elif letter.text.strip():
            lines.append((at, [letter]))
    return [(at, _line(line)) for at, line in lines]


def _readings(lines: Sequence[Line]) -> set[int]:
    """Lines (by identity) of small kana right above larger letters: furigana."""
    return {
        id(small)
        for small in lines
        if _KANA.fullmatch(small.text)
        and any(
            small.size <= 0.65 * line.size
            and -0.5 * line.size < small.bottom - line.top < line.size
            and small.spans[0][0] < line.spans[-1][1] + line.size
            and line.spans[0][0] < small.spans[-1][1] + line.size
            for line in lines
        )
    }


def _marked(items: list[Line | Ruled]) -> list[Line | Ruled]:
    made = [item for item in items if isinstance(item, Line)]
    high, low = max((x.top for x in made), default=0.0), min((x.bottom for x in made), default=0.0)
    right = max((line.right for line in made), default=0.0)
    return [
        replace(
            x,
            edge=x.top > high - 2 * x.size or x.bottom < low + 2 * x.size,
            full=x.full or x.right > right - 2.5 * x.size,
        )
        if isinstance(x, Line)
        else x
        for x in items
    ]


def _same(line: list[Letter], letter: Letter) -> bool:
    """Whether the letter is on the line's baseline."""
    before = line[-1]
    height = max(before.size, letter.size, 1.0)
    if abs(before.base - letter.base) < 0.35 * height:
        return True
    # Raised: a footnote number.
    small, large = sorted((before, letter), key=lambda x: x.size)
    raised = small.size < 0.75 * large.size and small.bottom < large.top - 0.3 * large.size
    return raised and small.top > large.base and abs(letter.left - before.right) < 0.5 * height


def _line(letters: list[Letter]) -> Line:
    shown = sorted((x for x in letters if x.text.strip()), key=lambda x: x.left)
    if _ordered(letters):
        shown = [x for x in letters if x.text.strip()]
    spaces = _spaces(letters)
    cells: list[str] = []
    spans: list[tuple[float, float]] = []
    for letter in shown:
        gap = letter.left - spans[-1][1] if spans else 0.0
        if not spans or gap > _CELL * letter.size:
            cells.append(letter.text)
            spans.append((letter.left, letter.right))
            continue
        tight = _WIDE.match(letter.text) and _WIDE.match(cells[-1][-1])
        if id(letter) in spaces or gap > (0.4 if tight else _WORD) * letter.size:
            cells[-1] += " "
        cells[-1] += letter.text
        spans[-1] = (spans[-1][0], max(spans[-1][1], letter.right))
    sizes = sorted(x.size for x in shown)
    return Line(
        one_line(" ".join(cells)),
        [one_line(cell) for cell in cells],
        spans,
        sizes[len(sizes) // 2] if sizes else 0.0,
        max((x.top for x in shown), default=0.0),
        min((x.bottom for x in shown), default=0.0),
        max((x.right for x in shown), default=0.0),
    )


def _ordered(letters: Sequence[Letter]) -> bool:
    shown = [x for x in letters if x.text.strip()]
    return all(a.left <= b.left + 0.5 for a, b in pairwise(shown))


def _spaces(letters: Sequence[Letter]) -> set[int]:
    """Letters (by identity) right after a space in the file."""
    return {id(b) for a, b in pairwise(letters) if not a.text.strip()}


def goes_on(before: Line, line: Line) -> bool:
    """Whether a line continues the sentence of the line before."""
    return (
        before.full
        and len(before.cells) < 3
        and not _ENDS.search(before.text)
        and not _BEGINS.match(line.text)
    )


def join(lines: Sequence[Line]) -> str:
    """Join lines into a paragraph: continued lines are joined, without a space between
    Japanese letters."""
    text = ""
    for before, line in zip((None, *lines), lines, strict=False):
        if before is None:
            text = line.text
            continue
        if not goes_on(before, line):
            text += "\n"
        elif not (_WIDE.match(text[-1]) or _WIDE.match(line.text[0])):
            text = text[:-1] if text.endswith("-") else text + " "
        text += line.text
    return text
