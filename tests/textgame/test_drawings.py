"""Maps, paths and points: where rooms are put, and what the report holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from naisei.system.execute import RunOptions
from naisei.textgame.config import GameConfig
from naisei.textgame.drawing import Atlas, drawing, terminal_map
from naisei.textgame.schemas import GameResult, Step
from naisei.textgame.system import RUN
from textgame.conftest import FakeSet


def walk(*moves: tuple[str, str], start: str = "Hall") -> GameResult:
    """A play: (command, room after it), with a point a step."""
    steps, room = [], start
    for number, (action, after) in enumerate(moves):
        feedback = f"-= {after} =-\nHere." if action.startswith("go ") else "Done."
        steps.append(Step(room=room, action=action, feedback=feedback, score=number))
        room = after
    return GameResult(
        game="g<1>", score=len(moves) - 1, max_score=9, won=False, lost=False, steps=tuple(steps)
    )


def places(atlas: Atlas) -> dict[str, tuple[int, int]]:
    return {s.room: (s.x, s.y) for s in atlas.spots}


def test_rooms_lie_as_the_directions_say_and_a_circle_closes() -> None:
    atlas = Atlas.of(
        walk(
            ("go east", "B"),
            ("go north", "C"),
            ("look", "C"),
            ("go west", "D"),
            ("go south", "Hall"),
        )
    )
    assert places(atlas) == {"Hall": (0, 0), "B": (1, 0), "C": (1, -1), "D": (0, -1)}
    assert atlas.path == [0, 1, 2, 2, 3, 0]
    assert len(atlas.ways) == 4


def test_two_rooms_of_one_name_and_one_place_taken_twice() -> None:
    atlas = Atlas.of(walk(("go east", "Hall"), ("go east", "Hall")))
    assert [(s.x, s.y) for s in atlas.spots] == [(0, 0), (1, 0), (2, 0)]
    bent = Atlas.of(
        walk(("go east", "B"), ("go north", "C"), ("go west", "D"), ("go south", "Cellar"))
    )
    assert len(set(places(bent).values())) == 5, "nothing is drawn on top of another"


def test_a_command_that_is_no_direction_finds_the_room_by_its_name() -> None:
    atlas = Atlas.of(walk(("go east", "B"), ("go west", "Hall"), ("navigate to apple", "B")))
    assert atlas.path == [0, 1, 0, 0], "no heading and no other room was seen"
    steps = walk(("go east", "B"), ("go west", "Hall"), ("navigate to apple", "B"), ("look", "B"))
    assert Atlas.of(steps).path == [0, 1, 0, 1, 1]


def tags(svg: str) -> Sequence[str]:
    return [element.tag.partition("}")[2] for element in ElementTree.fromstring(svg).iter()]


def test_the_picture_is_a_whole_document_with_every_room_and_the_points() -> None:
    svg = drawing(walk(("go east", "B & C"), ("look", "B & C"), ("go west", "Hall")))
    assert tags(svg).count("rect") == 2
    assert "B &amp; C" in svg and "g&lt;1&gt;" in svg
    assert 'class="points"' in svg and tags(svg).count("polyline") == 2 + 1
    assert drawing(walk().model_copy(update={"steps": ()})) == ""


def test_a_large_map_in_the_terminal_is_what_lies_around_the_player() -> None:
    result = walk(*[("go east", f"R{n}") for n in range(30)])
    drawn = terminal_map(Atlas.of(result), width=76).plain
    assert "*     R29      *" in drawn and "R20" not in drawn
    assert max(map(len, drawn.splitlines())) <= 76
    whole = terminal_map(Atlas.of(walk(("go north", "Attic"))), width=76).plain
    assert whole.splitlines()[0].strip("* ") == "Attic"
    assert "|" in whole.splitlines()[1] and "[     Hall     ]" in whole


def test_the_report_draws_the_games(fake: FakeSet) -> None:
    config = GameConfig(agent="random", games=str(fake.folder), limit=2, max_steps=5)
    done = RUN.run(config, RunOptions(concurrency=2, quiet=True), run_dir=Path("run"))
    page = done.report.read_text()
    assert (
        len(re.findall(r'<img class="figure" alt="[^"]+" src="data:image/svg\+xml;base64,', page))
        == 2
    )
    assert "<svg xmlns" not in page, "only as images: nothing in them runs"
